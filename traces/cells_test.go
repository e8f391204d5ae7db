package traces

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Rows of cells are what Records of the same values are, whichever columns come late,
// are unknown in some rows, or are of no cell at all.
func TestAppend(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	layout := LayoutOf("source_row", "user", "arrival_ns", "status", "prompt_tokens", "stream", "params", "end_ns")
	var cells, records Batch
	for row := range 3000 {
		var rec Record
		rec.Arrival, rec.SourceRow = time.Duration(rnd.IntN(1e9)), Some(uint64(row))
		c := make([]Cell, 8)
		c[0] = Cell{Known: true, N: int64(row)}
		c[2] = Cell{Known: true, N: int64(rec.Arrival)}
		late := func(from int) bool { return row >= from && rnd.IntN(3) > 0 }
		if late(0) {
			rec.User = Some(fmt.Sprint("user ", rnd.IntN(9)))
			c[1] = Cell{Known: true, Text: []byte(rec.User.V)}
		}
		if late(100) {
			rec.Outcome.Status = OK
			c[3] = Cell{Known: true, Text: []byte(OK)}
		}
		if late(9) {
			rec.PromptTokens = Some(rnd.Int32())
			c[4] = Cell{Known: true, N: int64(rec.PromptTokens.V)}
		}
		if late(17) {
			rec.Stream = Some(rnd.IntN(2) == 0)
			c[5] = Cell{Known: true}
			if rec.Stream.V {
				c[5].N = 1
			}
		}
		if late(1000) {
			rec.Outcome.End = Some(time.Duration(rnd.Int64()))
			c[7] = Cell{Known: true, N: int64(rec.Outcome.End.V)}
		}
		records.Add(&rec)
		cells.Append(layout, c)
	}
	records.Place(7, time.Hour, 0)
	cells.Place(7, time.Hour, 0)
	if cells.Rows() != 3000 || cells.order != records.order {
		t.Errorf("%d rows in the order %+v, want %+v", cells.Rows(), cells.order, records.order)
	}
	if a, b := fileOf(t, &cells), fileOf(t, &records); !bytes.Equal(a, b) {
		t.Errorf("%d bytes of cells, %d of Records", len(a), len(b))
	}
	var some Batch // a part goes on in another batch, too
	some.append(&records, 10, 2000)
	var same Batch
	same.append(&cells, 10, 2000)
	if !bytes.Equal(fileOf(t, &some), fileOf(t, &same)) {
		t.Error("parts differ")
	}
}

// A column that no cell can be for is refused when a layout is made.
func TestLayoutOf(t *testing.T) {
	for _, names := range [][]string{{"seq"}, {"arrival_ns", "nothing"}, {"arrival_ns", "blocks"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: taken", names)
				}
			}()
			LayoutOf(names...)
		}()
	}
}

// fileOf is the rows of b as a trace file.
func fileOf(t *testing.T, b *Batch) []byte {
	var out bytes.Buffer
	e, err := newEncoder(&out, allColumns, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	e.held = *b
	if err := e.writeHeld(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
