package traces

import "encoding/binary"

// deltas reads the encoding DELTA_BINARY_PACKED: blocks of differences, each with
// its least one taken off, packed in miniblocks of a width of their own.
type deltas struct {
	b         []byte
	perBlock  int
	perMini   int
	left      uint64 // values still to come
	value     int64
	first     bool
	least     int64
	widths    []byte
	mini      int // which of the block's
	done      int // differences taken from it
	miniStart []byte
}

func newDeltas(b []byte) *deltas {
	d := &deltas{b: b, first: true}
	block, minis := d.uvarint(), d.uvarint()
	d.left = d.uvarint()
	d.value = d.varint()
	if block == 0 || block > 1<<20 || minis == 0 || minis > block || block/minis%8 != 0 {
		panic("a block of differences that does not add up")
	}
	d.perBlock, d.perMini = int(block), int(block/minis)
	return d
}

func (d *deltas) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		panic("differences end too early")
	}
	d.b = d.b[n:]
	return v
}

func (d *deltas) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *deltas) next() int64 {
	if d.left == 0 {
		panic("more values than differences")
	}
	d.left--
	if d.first {
		d.first = false
		return d.value
	}
	if d.widths == nil || d.done == d.perMini {
		d.turn()
	}
	width := int(d.widths[d.mini])
	d.value += d.least + int64(bitsAt(d.miniStart, d.done*width, width))
	d.done++
	return d.value
}

// turn goes on to the next miniblock, and to the next block after the last one.
func (d *deltas) turn() {
	if d.widths != nil {
		d.leaveMini()
		d.mini++
	}
	if d.widths == nil || d.mini == len(d.widths) {
		d.least = d.varint()
		minis := d.perBlock / d.perMini
		d.widths, d.b, d.mini = d.b[:minis], d.b[minis:], 0
	}
	if d.widths[d.mini] > 64 {
		panic("differences of more than 64 bits")
	}
	d.miniStart, d.done = d.b, 0
}

func (d *deltas) leaveMini() { d.b = d.b[d.perMini*int(d.widths[d.mini])/8:] }

// rest returns what follows the last value.
func (d *deltas) rest() []byte {
	if d.widths != nil && d.done > 0 {
		d.leaveMini()
	}
	return d.b
}

// all reads every value, of a list that the page's own count bounds.
func (d *deltas) all() []int {
	if d.left > maxPageValues {
		panic("too many lengths in a page")
	}
	values := make([]int, 0, min(d.left, 1<<16))
	for d.left > 0 {
		values = append(values, int(d.next()))
	}
	return values
}

// deltaLengths reads DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
func deltaLengths(b []byte) func() pqValue {
	d := newDeltas(b)
	lengths := d.all()
	b, i := d.rest(), -1
	return func() pqValue {
		i++
		v := b[:lengths[i]]
		b = b[lengths[i]:]
		return pqValue{b: v}
	}
}

// deltaTexts reads DELTA_BYTE_ARRAY: of each value how much it shares with the
// one before, then the rest.
func deltaTexts(b []byte) func() pqValue {
	d := newDeltas(b)
	shared := d.all()
	suffix := deltaLengths(d.rest())
	var last []byte
	i := -1
	return func() pqValue {
		i++
		last = append(last[:shared[i]:shared[i]], suffix().b...)
		return pqValue{b: last}
	}
}
