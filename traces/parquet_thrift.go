package traces

import (
	"encoding/binary"
	"errors"
	"math"
)

// Parquet writes its metadata in Thrift's compact protocol
// (apache/thrift, doc/specs/thrift-compact-protocol.md). A struct is read as a
// map by field id, so that what a later version adds is skipped, and nothing is
// allocated that the bytes do not pay for.
type thriftStruct map[int16]any // of bool, int64, float64, []byte, []any and thriftStruct

// The types of the protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftNested = 12
)

const (
	maxThriftDepth  = 24
	maxThriftValues = 4 << 20 // some 2,500 row groups of 60 columns
)

var (
	errThriftShort = errors.New("the metadata ends too early")
	errThriftType  = errors.New("the metadata has a value of no known type")
	errThriftLimit = errors.New("the metadata is nested too deep, or has too many values")
)

func (s thriftStruct) int(id int16) int64           { v, _ := s[id].(int64); return v }
func (s thriftStruct) text(id int16) string         { v, _ := s[id].([]byte); return string(v) }
func (s thriftStruct) list(id int16) []any          { v, _ := s[id].([]any); return v }
func (s thriftStruct) nested(id int16) thriftStruct { v, _ := s[id].(thriftStruct); return v }

// structs returns the structs of a list, an empty one for what is none.
func (s thriftStruct) structs(id int16) []thriftStruct {
	list := s.list(id)
	all := make([]thriftStruct, len(list))
	for i, v := range list {
		all[i], _ = v.(thriftStruct)
	}
	return all
}

// thriftReader panics with an error on what it cannot read.
type thriftReader struct {
	b      []byte
	pos    int
	depth  int
	values int
}

// parseThrift reads the struct that b begins with and returns its length.
func parseThrift(b []byte) (s thriftStruct, n int, err error) {
	defer func() {
		if e, ok := recover().(error); ok {
			err = e
		}
	}()
	r := thriftReader{b: b}
	s = r.fields()
	return s, r.pos, nil
}

func (r *thriftReader) byte() byte {
	if r.pos >= len(r.b) {
		panic(errThriftShort)
	}
	r.pos++
	return r.b[r.pos-1]
}

func (r *thriftReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b[r.pos:])
	if n <= 0 {
		panic(errThriftShort)
	}
	r.pos += n
	return v
}

func (r *thriftReader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *thriftReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)-r.pos) {
		panic(errThriftShort)
	}
	r.pos += int(n)
	return r.b[r.pos-int(n) : r.pos]
}

func (r *thriftReader) fields() thriftStruct {
	s := make(thriftStruct)
	var id int16
	for {
		head := r.byte()
		if head == 0 {
			return s
		}
		if delta := int16(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int16(r.varint())
		}
		switch typ := head & 15; typ {
		case thriftTrue, thriftFalse:
			s[id] = typ == thriftTrue
		default:
			s[id] = r.value(typ)
		}
	}
}

func (r *thriftReader) value(typ byte) any {
	if r.values++; r.values > maxThriftValues || r.depth > maxThriftDepth {
		panic(errThriftLimit)
	}
	r.depth++
	defer func() { r.depth-- }()
	switch typ {
	case thriftTrue, thriftFalse: // in a list
		return r.byte() == thriftTrue
	case thriftByte:
		return int64(int8(r.byte()))
	case thriftI16, thriftI32, thriftI64:
		return r.varint()
	case thriftDouble:
		r.pos += 8
		if r.pos > len(r.b) {
			panic(errThriftShort)
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(r.b[r.pos-8:]))
	case thriftBinary:
		return r.bytes()
	case thriftList, thriftSet:
		return r.elements()
	case thriftMap:
		return r.skipMap()
	case thriftNested:
		return r.fields()
	}
	panic(errThriftType)
}

func (r *thriftReader) elements() []any {
	head := r.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = r.uvarint()
	}
	if n > uint64(len(r.b)-r.pos) { // every element has a byte at least
		panic(errThriftShort)
	}
	list := make([]any, 0, min(n, 1024))
	for range n {
		list = append(list, r.value(head&15))
	}
	return list
}

// skipMap passes over a map: Parquet has none that matters here.
func (r *thriftReader) skipMap() any {
	n := r.uvarint()
	if n == 0 {
		return nil
	}
	types := r.byte()
	for range n {
		r.value(types >> 4)
		r.value(types & 15)
	}
	return nil
}

// thriftWriter appends structs of the protocol.
type thriftWriter struct {
	b    []byte
	last []int16 // the last field id of each struct that is open
}

// begin opens a struct: the outermost, or an element of a list.
func (w *thriftWriter) begin() { w.last = append(w.last, 0) }

func (w *thriftWriter) end() {
	w.b = append(w.b, 0)
	w.last = w.last[:len(w.last)-1]
}

// field begins a field. Ids rise by less than 16.
func (w *thriftWriter) field(id int16, typ byte) {
	last := &w.last[len(w.last)-1]
	w.b = append(w.b, byte(id-*last)<<4|typ)
	*last = id
}

func (w *thriftWriter) varint(v int64) { w.b = binary.AppendVarint(w.b, v) }

func (w *thriftWriter) i32(id int16, v int) {
	w.field(id, thriftI32)
	w.varint(int64(v))
}

func (w *thriftWriter) i64(id int16, v int64) {
	w.field(id, thriftI64)
	w.varint(v)
}

func (w *thriftWriter) text(id int16, s string) {
	w.field(id, thriftBinary)
	w.bytes(s)
}

func (w *thriftWriter) bytes(s string) {
	w.b = append(binary.AppendUvarint(w.b, uint64(len(s))), s...)
}

func (w *thriftWriter) list(id int16, typ byte, n int) {
	w.field(id, thriftList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|typ)
		return
	}
	w.b = binary.AppendUvarint(append(w.b, 15<<4|typ), uint64(n))
}

func (w *thriftWriter) nested(id int16) {
	w.field(id, thriftNested)
	w.begin()
}
