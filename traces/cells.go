package traces

import (
	"encoding/binary"
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
	columns []target
	arrival int // the cell of it
	set     columnSet
}

type target struct {
	column int
	form   form
}

// A form is how a column takes a Cell.
type form uint8

const (
	number32 form = iota
	number64
	bit1
	textual
)

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
		l.set |= 1 << i
		l.columns = append(l.columns, target{i, formOf(columns[i].typ)})
	}
	if l.arrival < 0 {
		panic("a layout without arrival_ns")
	}
	return l
}

func formOf(t arrow.DataType) form {
	switch t.ID() {
	case arrow.STRING, arrow.BINARY:
		return textual
	case arrow.BOOL:
		return bit1
	case arrow.INT32:
		return number32
	case arrow.INT64, arrow.UINT64:
		return number64
	}
	panic("no cell holds a " + t.String())
}

// Append adds a row of the cells of l, of which no Record is made. Texts are copied.
func (b *Batch) Append(l *Layout, cells []Cell) {
	missing := b.has &^ l.set
	for i, to := range l.columns {
		c := &cells[i]
		if !c.Known {
			missing |= 1 << to.column & b.has
			continue
		}
		if !b.has.has(to.column) {
			b.begin(1 << to.column)
		}
		v := b.vectors[to.column]
		switch to.form {
		case number32:
			v.data = binary.LittleEndian.AppendUint32(v.data, uint32(c.N))
		case number64:
			v.data = binary.LittleEndian.AppendUint64(v.data, uint64(c.N))
		case bit1:
			v.data = appendBit(v.data, v.rows, c.N != 0)
		default:
			v.data = append(v.data, c.Text...)
			v.ends = append(v.ends, int32(len(v.data)))
		}
		v.add()
	}
	for i := range missing.each() {
		b.vectors[i].addBlanks(i, 1)
	}
	b.rows++
	b.order.add(place{arrival: time.Duration(cells[l.arrival].N)})
}
