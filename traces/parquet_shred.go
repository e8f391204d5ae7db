package traces

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/klauspost/compress/zstd"
)

// A page is ended once it has as many bytes, or as many levels.
const (
	pageBytes  = 1 << 20
	pageLevels = 1 << 16
)

// A shredder takes a column apart into the leaves that Parquet stores: every
// value with the level down to which it is there, and, in a list, whether it
// begins one.
type shredder struct {
	leaves   []*leafWriter
	children []*shredder // of a list one, its elements; of a struct its members
	list     bool
}

func newShredder(typ arrow.DataType) *shredder { return shredderAt(typ, 0, false) }

// shredderAt makes the shredder of a column inside others, whose definition
// level is def. Every part of a trace may be null.
func shredderAt(typ arrow.DataType, def int, repeats bool) *shredder {
	s := new(shredder)
	switch typ := typ.(type) {
	case *arrow.ListType:
		s.list = true
		s.children = []*shredder{shredderAt(typ.Elem(), def+2, true)}
	case *arrow.StructType:
		for _, f := range typ.Fields() {
			s.children = append(s.children, shredderAt(f.Type, def+1, repeats))
		}
	default:
		s.leaves = []*leafWriter{{most: def + 1, repeats: repeats}}
	}
	for _, c := range s.children {
		s.leaves = append(s.leaves, c.leaves...)
	}
	return s
}

// add takes apart value i of a.
func (s *shredder) add(a arrow.Array, i, rep, def int) {
	if a.IsNull(i) {
		s.stop(rep, def)
		return
	}
	switch a := a.(type) {
	case *array.List:
		from, to := a.ValueOffsets(i)
		if from == to {
			s.stop(rep, def+1)
			return
		}
		for j := from; j < to; j++ {
			s.children[0].add(a.ListValues(), int(j), rep, def+2)
			rep = 1 // the rest goes on with this list
		}
	case *array.Struct:
		for m, child := range s.children {
			child.add(a.Field(m), i, rep, def+1)
		}
	default:
		s.stop(rep, def+1)
		s.leaves[0].value(a, i)
	}
}

// stop notes that nothing is there beyond a level.
func (s *shredder) stop(rep, def int) {
	for _, l := range s.leaves {
		l.reps = append(l.reps, byte(rep))
		l.defs = append(l.defs, byte(def))
	}
}

// cut ends pages that are large enough, between two rows.
func (s *shredder) cut(enc *zstd.Encoder) {
	for _, l := range s.leaves {
		if len(l.plain) >= pageBytes || len(l.defs) >= pageLevels {
			l.flush(enc)
		}
	}
}

func (s *shredder) finish(enc *zstd.Encoder) {
	for _, l := range s.leaves {
		if len(l.defs) > 0 {
			l.flush(enc)
		}
	}
}

// value appends value i of a in Parquet's plain encoding.
func (l *leafWriter) value(a arrow.Array, i int) {
	le := binary.LittleEndian
	switch a := a.(type) {
	case *array.Int32:
		l.plain = le.AppendUint32(l.plain, uint32(a.Value(i)))
	case *array.Uint32:
		l.plain = le.AppendUint32(l.plain, a.Value(i))
	case *array.Int64:
		l.plain = le.AppendUint64(l.plain, uint64(a.Value(i)))
	case *array.Uint64:
		l.plain = le.AppendUint64(l.plain, a.Value(i))
	case *array.Boolean:
		if l.bits%8 == 0 {
			l.plain = append(l.plain, 0)
		}
		if a.Value(i) {
			l.plain[len(l.plain)-1] |= 1 << (l.bits % 8)
		}
		l.bits++
	case *array.String:
		l.plain = append(le.AppendUint32(l.plain, uint32(len(a.Value(i)))), a.Value(i)...)
	case *array.Binary:
		l.plain = append(le.AppendUint32(l.plain, uint32(len(a.Value(i)))), a.Value(i)...)
	}
}

// appendLevels appends levels up to most, as runs and packed groups of eight.
func appendLevels(dst, levels []byte, most int) []byte {
	start, width := len(dst), bits.Len(uint(most))
	dst = append(dst, 0, 0, 0, 0)
	for len(levels) > 0 {
		n := runOf(levels)
		if n >= 8 || n == len(levels) {
			dst = append(binary.AppendUvarint(dst, uint64(n)<<1), levels[0])
			levels = levels[n:]
			continue
		}
		for n = 8; n < len(levels) && runOf(levels[n:]) < 8; n += 8 {
		}
		dst = binary.AppendUvarint(dst, uint64((n+7)/8)<<1|1)
		dst = appendPacked(dst, levels[:min(n, len(levels))], width)
		levels = levels[min(n, len(levels)):]
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

func runOf(levels []byte) int {
	n := 1
	for n < len(levels) && levels[n] == levels[0] {
		n++
	}
	return n
}

// appendPacked packs levels into groups of eight, the last filled up with zeros.
func appendPacked(dst, levels []byte, width int) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, (len(levels)+7)/8*width)...)
	for i, v := range levels {
		for b := range width {
			at := i*width + b
			dst[start+at/8] |= v >> b & 1 << (at % 8)
		}
	}
	return dst
}

// A pqElement is a SchemaElement.
type pqElement struct {
	name       string
	typ        int // -1: a group
	repetition int
	converted  int // -1: none
	children   int
}

func (e *pqElement) write(t *thriftWriter, root bool) {
	t.begin()
	if e.typ >= 0 {
		t.i32(1, e.typ)
	}
	if !root {
		t.i32(3, e.repetition)
	}
	t.text(4, e.name)
	if e.children > 0 {
		t.i32(5, e.children)
	}
	if e.converted >= 0 {
		t.i32(6, e.converted)
	}
	t.end()
}

// primitives are the types of leaves, with what they stand for.
var primitives = map[arrow.Type][2]int{
	arrow.INT32: {pqInt32, -1}, arrow.UINT32: {pqInt32, pqUint32}, arrow.INT64: {pqInt64, -1}, arrow.UINT64: {pqInt64, pqUint64},
	arrow.BOOL: {pqBoolean, -1}, arrow.STRING: {pqBytes, pqUTF8}, arrow.BINARY: {pqBytes, -1},
}

// appendElements appends the elements of a column, depth first; lists in the
// three levels that the format's LogicalTypes.md asks for.
func appendElements(all []pqElement, name string, typ arrow.DataType) []pqElement {
	switch typ := typ.(type) {
	case *arrow.ListType:
		all = append(all,
			pqElement{name: name, typ: -1, repetition: pqOptional, converted: pqListOf, children: 1},
			pqElement{name: "list", typ: -1, repetition: pqRepeated, converted: -1, children: 1})
		return appendElements(all, "element", typ.Elem())
	case *arrow.StructType:
		all = append(all, pqElement{name: name, typ: -1, repetition: pqOptional, converted: -1, children: typ.NumFields()})
		for _, f := range typ.Fields() {
			all = appendElements(all, f.Name, f.Type)
		}
		return all
	}
	p := primitives[typ.ID()]
	return append(all, pqElement{name: name, typ: p[0], repetition: pqOptional, converted: p[1]})
}

// leafPaths returns the path and the type of each leaf below the root.
func leafPaths(elements []pqElement) (paths [][]string, types []int) {
	var walk func(prefix []string)
	walk = func(prefix []string) {
		e := elements[0]
		elements = elements[1:]
		path := append(prefix[:len(prefix):len(prefix)], e.name)
		if e.children == 0 {
			paths, types = append(paths, path), append(types, e.typ)
		}
		for range e.children {
			walk(path)
		}
	}
	for elements = elements[1:]; len(elements) > 0; {
		walk(nil)
	}
	return paths, types
}
