package traces

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"
)

// A Cell is a value on its way into a column of a Batch: N is a number, a time in
// nanoseconds, or 1 for true; Text is text or bytes.
type Cell struct {
	Known bool
	N     int64
	Text  []byte
}

// A Layout says which columns the cells of a row are for.
type Layout struct {
	columns []int // by cell
	arrival int   // the cell of it
	set     columnSet
}

// LayoutOf returns the Layout of columns by name (see Columns), of which one is
// arrival_ns. It panics where a column is not there, or is of lists.
func LayoutOf(names ...string) *Layout {
	l := &Layout{arrival: -1}
	for cell, name := range names {
		i, ok := columnIndex[name]
		if !ok {
			panic("there is no column " + name)
		}
		if i == arrivalColumn {
			l.arrival = cell
		}
		if _, nested := columns[i].typ.(arrow.NestedType); nested {
			panic("no cell holds a " + columns[i].typ.String())
		}
		l.set |= 1 << i
		l.columns = append(l.columns, i)
	}
	if l.arrival < 0 {
		panic("a layout without arrival_ns")
	}
	return l
}

// Append adds a row of the cells of l, of which no Record is made. Texts are copied.
func (b *Batch) Append(l *Layout, cells []Cell) {
	missing := b.has &^ l.set
	for cell, i := range l.columns {
		c := &cells[cell]
		if !c.Known {
			missing |= 1 << i & b.has
			continue
		}
		if !b.has.has(i) {
			b.begin(1 << i)
		}
		switch v := b.vectors[i]; {
		case v.ends != nil:
			v.data = append(v.data, c.Text...)
			v.end(len(v.data))
		case v.width == 4:
			v.add32(uint32(c.N))
		case v.width == 8:
			v.add64(uint64(c.N))
		default:
			v.addBit(c.N != 0)
		}
	}
	for i := range missing.each() {
		b.vectors[i].addBlanks(i, 1)
	}
	b.rows++
	b.order.add(place{arrival: time.Duration(cells[l.arrival].N)})
}
