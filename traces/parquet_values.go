package traces

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A pqValue is a value of a column: a whole number, or the bits of a float64,
// or bytes.
type pqValue struct {
	n int64
	b []byte
}

// Decoders panic where the bytes end too early; whoever reads a page recovers.
// They yield values one by one: a page of four bytes may claim to hold 2^31.

// A hybrid reads the mix of runs and packed groups in which Parquet stores
// levels, dictionary indexes and booleans.
type hybrid struct {
	b      []byte
	width  int
	left   uint64 // of the current run or groups
	value  uint64 // of a run
	packed bool
	bit    int
}

func (h *hybrid) next() uint64 {
	for h.left == 0 {
		h.begin()
	}
	h.left--
	if !h.packed {
		return h.value
	}
	v := bitsAt(h.b, h.bit, h.width)
	if h.bit += h.width; h.left == 0 {
		h.b = h.b[(h.bit+7)/8:]
	}
	return v
}

func (h *hybrid) begin() {
	head, n := binary.Uvarint(h.b)
	if n <= 0 {
		panic("a run without a length")
	}
	h.b, h.packed = h.b[n:], head&1 == 1
	if h.packed {
		h.left, h.bit = head>>1*8, 0
		return
	}
	h.left = head >> 1
	h.value = bitsAt(h.b, 0, (h.width+7)/8*8)
	h.b = h.b[(h.width+7)/8:]
}

// bitsAt reads width bits, the least significant first.
func bitsAt(b []byte, bit, width int) (v uint64) {
	for got := 0; got < width; {
		at := (bit + got) % 8
		v |= uint64(b[(bit+got)/8]) >> at << got
		got += 8 - at
	}
	if width == 64 {
		return v
	}
	return v & (1<<width - 1)
}

// decoder returns the decoder of a page's values.
func (n *pqNode) decoder(encoding int64, b []byte, dict []pqValue) (func() pqValue, error) {
	switch encoding {
	case pqPlain:
		return n.plain(b), nil
	case pqPlainDict, pqDict:
		return indexed(b, dict), nil
	case pqRLE:
		if n.typ == pqBoolean {
			bits := hybrid{b: b[4:], width: 1}
			return func() pqValue { return pqValue{n: int64(bits.next())} }, nil
		}
	case pqDelta:
		d := newDeltas(b)
		return func() pqValue { return pqValue{n: n.whole(d.next())} }, nil
	case pqDeltaLen:
		return deltaLengths(b), nil
	case pqDeltaText:
		return deltaTexts(b), nil
	case pqSplit:
		return n.split(b), nil
	}
	return nil, fmt.Errorf("column %q: encoding %d of Parquet is not read", n.name, encoding)
}

// whole gives a stored number its sign.
func (n *pqNode) whole(v int64) int64 {
	if n.typ == pqInt32 && n.unsigned {
		return int64(uint32(v))
	}
	if n.typ == pqInt32 {
		return int64(int32(v))
	}
	return v
}

func (n *pqNode) width() int {
	return map[int64]int{pqInt32: 4, pqFloat: 4, pqInt64: 8, pqDouble: 8, pqInt96: 12, pqFixed: n.length}[n.typ]
}

func (n *pqNode) plain(b []byte) func() pqValue {
	switch n.typ {
	case pqBoolean:
		i := -1
		return func() pqValue { i++; return pqValue{n: int64(b[i/8] >> (i % 8) & 1)} }
	case pqBytes:
		return func() pqValue {
			size := int(binary.LittleEndian.Uint32(b))
			v := b[4 : 4+size]
			b = b[4+size:]
			return pqValue{b: v}
		}
	}
	width := n.width()
	return func() pqValue {
		v := n.fixed(b[:width])
		b = b[width:]
		return v
	}
}

// fixed reads a value of a fixed width.
func (n *pqNode) fixed(b []byte) pqValue {
	switch n.typ {
	case pqInt32:
		return pqValue{n: n.whole(int64(binary.LittleEndian.Uint32(b)))}
	case pqInt64, pqDouble:
		return pqValue{n: int64(binary.LittleEndian.Uint64(b))}
	case pqFloat:
		f := math.Float32frombits(binary.LittleEndian.Uint32(b))
		return pqValue{n: int64(math.Float64bits(float64(f)))}
	case pqInt96: // nanoseconds of the day, and the Julian day
		const epoch, day = 2440588, 86400e9
		days := int64(binary.LittleEndian.Uint32(b[8:])) - epoch
		return pqValue{n: days*day + int64(binary.LittleEndian.Uint64(b))}
	}
	return pqValue{b: b}
}

// split reads values of which all first bytes are stored together, then all
// second ones, and so on.
func (n *pqNode) split(b []byte) func() pqValue {
	width, i := n.width(), 0
	count := len(b) / width
	return func() pqValue {
		v := make([]byte, width)
		for k := range v {
			v[k] = b[k*count : (k+1)*count][i]
		}
		i++
		return n.fixed(v)
	}
}

func indexed(b []byte, dict []pqValue) func() pqValue {
	width := int(b[0])
	if width > 32 {
		panic("dictionary indexes of more than 32 bits")
	}
	indexes := hybrid{b: b[1:], width: width}
	return func() pqValue { return dict[indexes.next()] }
}
