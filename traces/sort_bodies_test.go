package traces

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Rows with bodies are held by the bytes of these, and come out in order with them.
func TestSortBodies(t *testing.T) {
	const n = 1000
	recs := make([]Record, n)
	for i := range recs {
		recs[i].Seq, recs[i].Arrival = uint64(i), time.Duration(i*7919%n)
		recs[i].Body = bytes.Repeat(fmt.Appendf(nil, "%d ", i), 1000)
	}
	s := Sort(FromSlice(recs), t.TempDir())
	defer s.Close()
	s.limitBytes = 1 << 20
	got, err := Collect(s)
	if err != nil || len(got) != n || len(s.runs) < 3 || s.batch >= spillRows {
		t.Fatalf("%d rows of %d by %d runs in batches of %d, %v", len(got), n, len(s.runs), s.batch, err)
	}
	if !slices.IsSortedFunc(got, func(a, b Record) int { return int(a.Arrival - b.Arrival) }) {
		t.Error("not in order")
	}
	for _, r := range got {
		if !bytes.Equal(r.Body, recs[r.Seq].Body) {
			t.Fatalf("row %d has another's body", r.Seq)
		}
	}
}
