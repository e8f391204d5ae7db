package traces

import (
	"testing"
	"time"
)

// Ids that were equal in one session are equal still; those of two sessions, or of
// rows without one, are not.
func TestBlockRanges(t *testing.T) {
	rows := func(session string, ids ...uint64) Record {
		rec := plainRecord(0)
		if session != "" {
			rec.Session = Some(session)
		}
		for _, id := range ids {
			rec.Blocks = append(rec.Blocks, BlockRun{id, 2})
		}
		return rec
	}
	recs := []Record{rows("a", 0, 7), rows("b", 0), rows("a", 0), rows("", 0), rows("", 0)}
	got, err := Collect(new(BlockRanges).Global(FromSlice(recs)))
	if err != nil {
		t.Fatal(err)
	}
	first := func(i int) uint64 { return got[i].Blocks[0].Start }
	if first(0) != first(2) || got[0].Blocks[1].Start != first(0)+7 || got[0].Blocks[1].Len != 2 {
		t.Errorf("session a: %v, %v", got[0].Blocks, got[2].Blocks)
	}
	seen := make(map[uint64]bool)
	for _, i := range []int{0, 1, 3, 4} {
		if seen[first(i)] {
			t.Errorf("row %d shares id %d", i, first(i))
		}
		seen[first(i)] = true
	}
	var joined BlockRanges
	one, err := Collect(Concat([]Reader{joined.Global(FromSlice(recs[:1])), joined.Global(FromSlice(recs[1:2]))}, func(int) (time.Duration, error) { return 0, nil }))
	if err != nil || one[0].Blocks[0].Start == one[1].Blocks[0].Start {
		t.Errorf("two traces share a range: %v, %v", one, err)
	}
	if recs[0].Blocks[0].Start != 0 {
		t.Error("the source's own runs were changed")
	}
	if _, err := Collect(new(BlockRanges).Global(FromSlice([]Record{rows("a", 1<<40)}))); err == nil {
		t.Error("an id beyond the range was moved into another's")
	}
}
