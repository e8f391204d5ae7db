package traces

import "encoding/binary"

// fbTable reads a flatbuffer table in place. Offsets outside the buffer panic
// with a slice error; whoever walks an untrusted buffer recovers. (The types
// that Arrow generates are internal to it, and it trusts vector lengths.)
type fbTable struct {
	buf []byte
	pos int
}

func fbRoot(buf []byte) fbTable {
	return fbTable{buf, int(binary.LittleEndian.Uint32(buf))}
}

// field returns the position of field i, or 0 if it is absent.
func (t fbTable) field(i int) int {
	vt := t.pos - int(int32(binary.LittleEndian.Uint32(t.buf[t.pos:])))
	size := int(binary.LittleEndian.Uint16(t.buf[vt:]))
	if at := 4 + 2*i; at+2 <= size {
		if off := int(binary.LittleEndian.Uint16(t.buf[vt+at:])); off != 0 {
			return t.pos + off
		}
	}
	return 0
}

func (t fbTable) u8(i int) byte {
	if p := t.field(i); p != 0 {
		return t.buf[p]
	}
	return 0
}

func (t fbTable) i64(i int) int64 {
	if p := t.field(i); p != 0 {
		return int64(binary.LittleEndian.Uint64(t.buf[p:]))
	}
	return 0
}

// table follows field i to a table; false if it is absent.
func (t fbTable) table(i int) (fbTable, bool) {
	p := t.field(i)
	if p == 0 {
		return fbTable{}, false
	}
	return t.follow(p), true
}

func (t fbTable) follow(p int) fbTable {
	return fbTable{t.buf, p + int(binary.LittleEndian.Uint32(t.buf[p:]))}
}

// vector returns the bytes of field i, a vector of elements of the given size,
// and their position.
func (t fbTable) vector(i, size int) (elems []byte, pos int) {
	p := t.field(i)
	if p == 0 {
		return nil, 0
	}
	p = t.follow(p).pos
	n := int(binary.LittleEndian.Uint32(t.buf[p:]))
	return t.buf[p+4 : p+4+n*size], p + 4
}

// tables returns the tables of field i, a vector of tables.
func (t fbTable) tables(i int) []fbTable {
	elems, pos := t.vector(i, 4)
	ts := make([]fbTable, len(elems)/4)
	for j := range ts {
		ts[j] = t.follow(pos + 4*j)
	}
	return ts
}

func (t fbTable) text(i int) string {
	b, _ := t.vector(i, 1)
	return string(b)
}
