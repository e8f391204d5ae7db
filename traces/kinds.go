package traces

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A kind moves values of one Go type into a vector and out of an Arrow array.
type kind[T any] struct {
	typ arrow.DataType
	add func(*vector, *T)
	at  func(arrow.Array) func(*T, int) // sets to the value of a row
}

var (
	int32s = kind[int32]{
		arrow.PrimitiveTypes.Int32,
		func(v *vector, x *int32) { v.add32(uint32(*x)) },
		func(a arrow.Array) func(*int32, int) {
			v := a.(*array.Int32)
			return func(x *int32, i int) { *x = v.Value(i) }
		},
	}
	uint32s = kind[uint32]{
		arrow.PrimitiveTypes.Uint32,
		func(v *vector, x *uint32) { v.add32(*x) },
		func(a arrow.Array) func(*uint32, int) {
			v := a.(*array.Uint32)
			return func(x *uint32, i int) { *x = v.Value(i) }
		},
	}
	uint64s = kind[uint64]{
		arrow.PrimitiveTypes.Uint64,
		func(v *vector, x *uint64) { v.add64(*x) },
		func(a arrow.Array) func(*uint64, int) {
			v := a.(*array.Uint64)
			return func(x *uint64, i int) { *x = v.Value(i) }
		},
	}
	// durations are plain int64 nanoseconds on disk: Parquet has no duration
	// type, and other readers show it as an interval.
	durations = kind[time.Duration]{
		arrow.PrimitiveTypes.Int64,
		func(v *vector, x *time.Duration) { v.add64(uint64(*x)) },
		func(a arrow.Array) func(*time.Duration, int) {
			v := a.(*array.Int64)
			return func(x *time.Duration, i int) { *x = time.Duration(v.Value(i)) }
		},
	}
	bools = kind[bool]{
		arrow.FixedWidthTypes.Boolean,
		func(v *vector, x *bool) { v.addBit(*x) },
		func(a arrow.Array) func(*bool, int) {
			v := a.(*array.Boolean)
			return func(x *bool, i int) { *x = v.Value(i) }
		},
	}
	texts = kind[string]{
		arrow.BinaryTypes.String,
		func(v *vector, x *string) { v.addText(*x) },
		func(a arrow.Array) func(*string, int) {
			at := repeated(a.(array.StringLike).Value)
			return func(x *string, i int) { *x = at(i) }
		},
	}
)

// repeated returns the earlier string where at gives the same one again. Most
// columns of names repeat a few values, and a string that is kept keeps its
// whole batch in memory.
func repeated(at func(int) string) func(int) string {
	var last string
	return func(i int) string {
		if s := at(i); s != last {
			last = string(append([]byte(nil), s...))
		}
		return last
	}
}

// optional is a kind's nullable form, used inside structs.
func optional[T any](k kind[T]) kind[Opt[T]] {
	return kind[Opt[T]]{
		typ: k.typ,
		add: func(v *vector, x *Opt[T]) {
			if !x.Known {
				v.addNulls(1)
				return
			}
			k.add(v, &x.V)
		},
		at: func(a arrow.Array) func(*Opt[T], int) {
			set := k.at(a)
			return func(x *Opt[T], i int) {
				if x.Known = !a.IsNull(i); x.Known {
					set(&x.V, i)
				}
			}
		},
	}
}

// A member is one field of a struct type.
type member[S any] struct {
	field arrow.Field
	add   func(*vector, *S)
	bind  func(arrow.Array) func(*S, int)
}

func memberOf[S, T any](name string, k kind[T], get func(*S) *T) member[S] {
	return member[S]{
		field: arrow.Field{Name: name, Type: k.typ, Nullable: true},
		add:   func(v *vector, s *S) { k.add(v, get(s)) },
		bind: func(a arrow.Array) func(*S, int) {
			set := k.at(a)
			return func(s *S, i int) { set(get(s), i) }
		},
	}
}

func structs[S any](members ...member[S]) kind[S] {
	fields := make([]arrow.Field, len(members))
	for i, m := range members {
		fields[i] = m.field
	}
	return kind[S]{
		typ: arrow.StructOf(fields...),
		add: func(v *vector, s *S) {
			for i, m := range members {
				m.add(v.parts[i], s)
			}
			v.add()
		},
		at: func(a arrow.Array) func(*S, int) {
			sa := a.(*array.Struct)
			set := make([]func(*S, int), len(members))
			for i, m := range members {
				set[i] = m.bind(sa.Field(i))
			}
			return func(s *S, i int) {
				for _, f := range set {
					f(s, i)
				}
			}
		},
	}
}

var (
	blockRuns = structs(
		memberOf("start", uint64s, func(b *BlockRun) *uint64 { return &b.Start }),
		memberOf("len", uint32s, func(b *BlockRun) *uint32 { return &b.Len }))
	media = structs(
		memberOf("kind", texts, func(m *Media) *string { return &m.Kind }),
		memberOf("count", optional(int32s), func(m *Media) *Opt[int32] { return &m.Count }),
		memberOf("tokens", optional(int32s), func(m *Media) *Opt[int32] { return &m.Tokens }))
	components = structs(
		memberOf("kind", texts, func(c *Component) *string { return &c.Kind }),
		memberOf("tokens", int32s, func(c *Component) *int32 { return &c.Tokens }))
)

func scalar[T any](name string, k kind[T], field func(*Record) *Opt[T]) column {
	return column{
		name:  name,
		typ:   k.typ,
		value: func(r *Record) any { return field(r).V },
		add:   func(v *vector, r *Record) { k.add(v, &field(r).V) },
		bind: func(a arrow.Array) func(*Record, int) {
			set := k.at(a)
			return func(r *Record, i int) {
				o := field(r)
				set(&o.V, i)
				o.Known = true
			}
		},
	}
}

func text(name string, field func(*Record) *Opt[string]) column {
	return scalar(name, texts, field)
}

// list columns tell nil (unknown) from empty (known to be none).
func list[T any](name string, k kind[T], field func(*Record) *[]T) column {
	return column{
		name:  name,
		typ:   arrow.ListOf(k.typ),
		value: func(r *Record) any { return *field(r) },
		add: func(v *vector, r *Record) {
			elements, xs := v.parts[0], *field(r)
			for i := range xs {
				k.add(elements, &xs[i])
			}
			v.end(elements.rows)
		},
		bind: func(a arrow.Array) func(*Record, int) {
			la := a.(*array.List)
			set, n := k.at(la.ListValues()), int64(la.ListValues().Len())
			return func(r *Record, i int) {
				from, to := la.ValueOffsets(i)
				if from < 0 || to < from || to > n {
					panic("list offsets outside the column") // of a damaged file; Read recovers
				}
				vs := make([]T, to-from)
				for j := range vs {
					set(&vs[j], int(from)+j)
				}
				*field(r) = vs
			}
		},
	}
}

func bytesColumn(name string, field func(*Record) *[]byte) column {
	return column{
		name:  name,
		typ:   arrow.BinaryTypes.Binary,
		value: func(r *Record) any { return *field(r) },
		add: func(v *vector, r *Record) {
			v.data = append(v.data, *field(r)...)
			v.end(len(v.data))
		},
		bind: func(a arrow.Array) func(*Record, int) {
			v := a.(*array.Binary)
			return func(r *Record, i int) { *field(r) = append([]byte{}, v.Value(i)...) }
		},
	}
}

func required(name string, typ arrow.DataType, value func(*Record) any, add func(*vector, *Record), bind func(arrow.Array) func(*Record, int)) column {
	return column{name: name, typ: typ, value: value, add: add, bind: bind}
}

var statusColumn = required("status", arrow.BinaryTypes.String,
	func(r *Record) any { return r.Outcome.Status },
	func(v *vector, r *Record) {
		s := r.Outcome.Status
		if s == "" {
			s = Unknown
		}
		v.addText(string(s))
	},
	func(a arrow.Array) func(*Record, int) {
		at := repeated(a.(array.StringLike).Value)
		return func(r *Record, i int) { r.Outcome.Status = Status(at(i)) }
	})
