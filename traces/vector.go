package traces

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A vector holds values as Arrow lays them out: those of a column, or of a part of
// one. (Arrow's own builders cannot be emptied and filled again, nor take the rows
// of another.)
type vector struct {
	typ   arrow.DataType
	width int // bytes of a number; 0: other things
	rows  int
	nulls int
	known []byte    // a bit a row, as long as there are nulls
	ends  []int32   // of texts and lists: 0, and where each ends
	data  []byte    // numbers, text, or bits
	parts []*vector // of a list its elements, of a struct its members
}

func newVector(typ arrow.DataType) *vector {
	v := &vector{typ: typ}
	switch typ := typ.(type) {
	case *arrow.ListType:
		v.ends, v.parts = make([]int32, 1), []*vector{newVector(typ.Elem())}
	case *arrow.StructType:
		for _, f := range typ.Fields() {
			v.parts = append(v.parts, newVector(f.Type))
		}
	case *arrow.StringType, *arrow.BinaryType:
		v.ends = make([]int32, 1)
	case arrow.FixedWidthDataType:
		v.width = typ.BitWidth() / 8 // 0: bits
	}
	return v
}

// reset empties v and keeps its memory.
func (v *vector) reset() {
	v.rows, v.nulls, v.known, v.data = 0, 0, v.known[:0], v.data[:0]
	if v.ends != nil {
		v.ends = v.ends[:1]
	}
	for _, p := range v.parts {
		p.reset()
	}
}

// add counts a row whose value is there.
func (v *vector) add() {
	if v.nulls > 0 {
		v.known = appendBit(v.known, v.rows, true)
	}
	v.rows++
}

func (v *vector) add32(x uint32) {
	v.data = binary.LittleEndian.AppendUint32(v.data, x)
	v.add()
}

func (v *vector) add64(x uint64) {
	v.data = binary.LittleEndian.AppendUint64(v.data, x)
	v.add()
}

func (v *vector) addBit(on bool) {
	v.data = appendBit(v.data, v.rows, on)
	v.add()
}

func (v *vector) addText(s string) {
	v.data = append(v.data, s...)
	v.end(len(v.data))
}

// end ends a text or a list whose last byte or element was added.
func (v *vector) end(at int) {
	v.ends = append(v.ends, int32(at))
	v.add()
}

func (v *vector) addNulls(n int) {
	if n == 0 {
		return
	}
	v.mark(v.rows)
	v.nulls += n
	for range n {
		v.known = appendBit(v.known, v.rows, false)
		switch {
		case v.ends != nil:
			v.ends = append(v.ends, v.ends[len(v.ends)-1])
		case v.width > 0:
			v.data = append(v.data, make([]byte, v.width)...)
		case v.parts != nil:
			for _, p := range v.parts {
				p.addNulls(1)
			}
		default:
			v.data = appendBit(v.data, v.rows, false)
		}
		v.rows++
	}
}

// mark notes that n rows are there, where there was no null to note it for.
func (v *vector) mark(n int) {
	for i := 0; v.nulls == 0 && i < n; i++ {
		v.known = appendBit(v.known, i, true)
	}
}

// append adds the rows from..to of another vector of the type.
func (v *vector) append(o *vector, from, to int) {
	if v.nulls > 0 || o.nulls > 0 {
		v.appendKnown(o, from, to)
	}
	switch {
	case v.ends != nil:
		first, last := o.ends[from], o.ends[to]
		moved := v.ends[len(v.ends)-1] - first
		v.ends = withRoom(v.ends, to-from)
		for _, end := range o.ends[from+1 : to+1] {
			v.ends = append(v.ends, end+moved)
		}
		if v.parts == nil {
			v.data = append(withRoom(v.data, int(last-first)), o.data[first:last]...)
		} else {
			v.parts[0].append(o.parts[0], int(first), int(last))
		}
	case v.width > 0:
		v.data = append(withRoom(v.data, (to-from)*v.width), o.data[from*v.width:to*v.width]...)
	case v.parts != nil:
		for i, p := range v.parts {
			p.append(o.parts[i], from, to)
		}
	default:
		for i := from; i < to; i++ {
			v.data = appendBit(v.data, v.rows+i-from, bitAt(o.data, i))
		}
	}
	v.rows += to - from
}

// withRoom returns s with room for n more. Whoever gathers a batch from parts grows it to
// twice its size: append's quarter more at a time copies it over and over.
func withRoom[T any](s []T, n int) []T {
	if cap(s)-len(s) < n {
		s = slices.Grow(s, max(n, cap(s)))
	}
	return s
}

// anyKnown tells whether any of the rows from..to is not null.
func (v *vector) anyKnown(from, to int) bool {
	for i := from; i < to; i++ {
		if v.nulls == 0 || bitAt(v.known, i) {
			return true
		}
	}
	return false
}

func (v *vector) appendKnown(o *vector, from, to int) {
	nulls := 0
	for i := from; i < to; i++ {
		if o.nulls > 0 && !bitAt(o.known, i) {
			nulls++
		}
	}
	if nulls > 0 {
		v.mark(v.rows)
	}
	if v.nulls += nulls; v.nulls == 0 {
		return
	}
	for i := from; i < to; i++ {
		v.known = appendBit(v.known, v.rows+i-from, o.nulls == 0 || bitAt(o.known, i))
	}
}

// appendBit adds bit i, the first that bits does not have.
func appendBit(bits []byte, i int, on bool) []byte {
	if i%8 == 0 {
		bits = append(bits, 0)
	}
	if on {
		bits[i/8] |= 1 << (i % 8)
	}
	return bits
}

func bitAt(bits []byte, i int) bool { return bits[i/8]>>(i%8)&1 == 1 }

// bytes returns how much memory the values take.
func (v *vector) bytes() int {
	n := len(v.data)
	for _, p := range v.parts {
		n += p.bytes()
	}
	return n
}

// buffers returns what Arrow stores of v itself, without its parts.
func (v *vector) buffers() [][]byte {
	known := v.known
	if v.nulls == 0 {
		known = nil
	}
	switch {
	case v.ends != nil && v.parts != nil:
		return [][]byte{known, bytesOf(v.ends)}
	case v.ends != nil:
		return [][]byte{known, bytesOf(v.ends), v.data}
	case v.parts != nil:
		return [][]byte{known}
	}
	return [][]byte{known, v.data}
}

func bytesOf(ends []int32) []byte { return arrow.Int32Traits.CastToBytes(ends) }

// array is v for those who read Arrow's arrays. It shares v's memory.
func (v *vector) array() arrow.Array {
	return array.MakeFromData(v.arrowData())
}

func (v *vector) arrowData() arrow.ArrayData {
	var buffers []*memory.Buffer
	for _, b := range v.buffers() {
		buffers = append(buffers, memory.NewBufferBytes(b))
	}
	if v.nulls == 0 {
		buffers[0] = nil
	}
	var parts []arrow.ArrayData
	for _, p := range v.parts {
		parts = append(parts, p.arrowData())
	}
	return array.NewData(v.typ, v.rows, buffers, parts, v.nulls, 0)
}
