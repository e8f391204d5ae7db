package traces

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A kind moves values of one Go type into an Arrow builder and out of an array.
type kind[T any] struct {
	typ arrow.DataType
	add func(array.Builder) func(*T)
	at  func(arrow.Array) func(int) T
}

var (
	int32s = kind[int32]{
		arrow.PrimitiveTypes.Int32,
		func(b array.Builder) func(*int32) {
			to := b.(*array.Int32Builder)
			return func(v *int32) { to.Append(*v) }
		},
		func(a arrow.Array) func(int) int32 { return a.(*array.Int32).Value },
	}
	uint32s = kind[uint32]{
		arrow.PrimitiveTypes.Uint32,
		func(b array.Builder) func(*uint32) {
			to := b.(*array.Uint32Builder)
			return func(v *uint32) { to.Append(*v) }
		},
		func(a arrow.Array) func(int) uint32 { return a.(*array.Uint32).Value },
	}
	uint64s = kind[uint64]{
		arrow.PrimitiveTypes.Uint64,
		func(b array.Builder) func(*uint64) {
			to := b.(*array.Uint64Builder)
			return func(v *uint64) { to.Append(*v) }
		},
		func(a arrow.Array) func(int) uint64 { return a.(*array.Uint64).Value },
	}
	// durations are plain int64 nanoseconds on disk: Parquet has no duration
	// type, and other readers show it as an interval.
	durations = kind[time.Duration]{
		arrow.PrimitiveTypes.Int64,
		func(b array.Builder) func(*time.Duration) {
			to := b.(*array.Int64Builder)
			return func(v *time.Duration) { to.Append(int64(*v)) }
		},
		func(a arrow.Array) func(int) time.Duration {
			v := a.(*array.Int64)
			return func(i int) time.Duration { return time.Duration(v.Value(i)) }
		},
	}
	bools = kind[bool]{
		arrow.FixedWidthTypes.Boolean,
		func(b array.Builder) func(*bool) {
			to := b.(*array.BooleanBuilder)
			return func(v *bool) { to.Append(*v) }
		},
		func(a arrow.Array) func(int) bool { return a.(*array.Boolean).Value },
	}
	texts = kind[string]{
		arrow.BinaryTypes.String,
		func(b array.Builder) func(*string) {
			to := b.(*array.StringBuilder)
			return func(v *string) { to.Append(*v) }
		},
		func(a arrow.Array) func(int) string { return repeated(a.(array.StringLike).Value) },
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
		add: func(b array.Builder) func(*Opt[T]) {
			add := k.add(b)
			return func(v *Opt[T]) {
				if !v.Known {
					b.AppendNull()
					return
				}
				add(&v.V)
			}
		},
		at: func(a arrow.Array) func(int) Opt[T] {
			at := k.at(a)
			return func(i int) Opt[T] {
				if a.IsNull(i) {
					return Opt[T]{}
				}
				return Some(at(i))
			}
		},
	}
}

// A member is one field of a struct type.
type member[S any] struct {
	field arrow.Field
	add   func(array.Builder) func(*S)
	bind  func(arrow.Array) func(*S, int)
}

func memberOf[S, T any](name string, k kind[T], get func(*S) *T) member[S] {
	return member[S]{
		field: arrow.Field{Name: name, Type: k.typ, Nullable: true},
		add: func(b array.Builder) func(*S) {
			add := k.add(b)
			return func(s *S) { add(get(s)) }
		},
		bind: func(a arrow.Array) func(*S, int) {
			at := k.at(a)
			return func(s *S, i int) { *get(s) = at(i) }
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
		add: func(b array.Builder) func(*S) {
			sb := b.(*array.StructBuilder)
			add := make([]func(*S), len(members))
			for i, m := range members {
				add[i] = m.add(sb.FieldBuilder(i))
			}
			return func(s *S) {
				sb.Append(true)
				for _, f := range add {
					f(s)
				}
			}
		},
		at: func(a arrow.Array) func(int) S {
			sa := a.(*array.Struct)
			set := make([]func(*S, int), len(members))
			for i, m := range members {
				set[i] = m.bind(sa.Field(i))
			}
			return func(i int) (s S) {
				for _, f := range set {
					f(&s, i)
				}
				return s
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
		add: func(b array.Builder) func(*Record) {
			add := k.add(b)
			return func(r *Record) { add(&field(r).V) }
		},
		bind: func(a arrow.Array) func(*Record, int) {
			at := k.at(a)
			return func(r *Record, i int) { *field(r) = Opt[T]{at(i), true} }
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
		add: func(b array.Builder) func(*Record) {
			lb := b.(*array.ListBuilder)
			add := k.add(lb.ValueBuilder())
			return func(r *Record) {
				lb.Append(true)
				vs := *field(r)
				for i := range vs {
					add(&vs[i])
				}
			}
		},
		bind: func(a arrow.Array) func(*Record, int) {
			la := a.(*array.List)
			at, n := k.at(la.ListValues()), int64(la.ListValues().Len())
			return func(r *Record, i int) {
				from, to := la.ValueOffsets(i)
				if from < 0 || to < from || to > n {
					panic("list offsets outside the column") // of a damaged file; Read recovers
				}
				vs := make([]T, 0, to-from)
				for j := from; j < to; j++ {
					vs = append(vs, at(int(j)))
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
		add: func(b array.Builder) func(*Record) {
			to := b.(*array.BinaryBuilder)
			return func(r *Record) { to.Append(*field(r)) }
		},
		bind: func(a arrow.Array) func(*Record, int) {
			v := a.(*array.Binary)
			return func(r *Record, i int) { *field(r) = append([]byte{}, v.Value(i)...) }
		},
	}
}

func required(name string, typ arrow.DataType, value func(*Record) any, add func(array.Builder) func(*Record), bind func(arrow.Array) func(*Record, int)) column {
	return column{name: name, typ: typ, value: value, add: add, bind: bind}
}

var statusColumn = required("status", arrow.BinaryTypes.String,
	func(r *Record) any { return r.Outcome.Status },
	func(b array.Builder) func(*Record) {
		to := b.(*array.StringBuilder)
		return func(r *Record) {
			s := r.Outcome.Status
			if s == "" {
				s = Unknown
			}
			to.Append(string(s))
		}
	},
	func(a arrow.Array) func(*Record, int) {
		at := repeated(a.(array.StringLike).Value)
		return func(r *Record, i int) { r.Outcome.Status = Status(at(i)) }
	})
