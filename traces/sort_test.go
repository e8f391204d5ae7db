package traces

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Sorting gives every row once, in order, whatever had to be spilled.
func TestSortSpills(t *testing.T) {
	recs := randomRecords(3, 500)
	for i := range recs {
		recs[i].Arrival = time.Duration(i/2) * time.Millisecond // ties, broken by Seq
	}
	for _, limit := range []int{1, 3, 100, 499, 500, 501} {
		shuffled := append([]Record(nil), recs...)
		rng := rand.New(rand.NewPCG(uint64(limit), 0))
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		dir := t.TempDir()
		s := Sort(FromSlice(shuffled), dir)
		s.limit = limit
		got, err := Collect(s)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, recs)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		leftovers(t, dir)
	}
}

// Merged traces stay sorted, keep their rows and have unique Seqs; what pointed
// at a row points at it still.
func TestMerge(t *testing.T) {
	var rs []Reader
	for range 3 {
		recs := plainRecords(50)
		recs[7].After = []uint64{3, 5}
		recs[9].Outcome.RetryOf = Some(uint64(8))
		rs = append(rs, FromSlice(recs))
	}
	got, err := Collect(InOrder(Merge(rs...)))
	if err != nil {
		t.Fatal(err)
	}
	bySeq := make(map[uint64]Record)
	for _, rec := range got {
		bySeq[rec.Seq] = rec
	}
	if len(got) != 150 || len(bySeq) != 150 {
		t.Fatalf("%d rows, %d Seqs", len(got), len(bySeq))
	}
	for _, rec := range got {
		for i, to := range rec.After {
			if want := []time.Duration{3, 5}[i] * time.Millisecond; bySeq[to].Arrival != want || to%3 != rec.Seq%3 {
				t.Errorf("row %d: after %v", rec.Seq, rec.After)
			}
		}
		if to := rec.Outcome.RetryOf; to.Known && (bySeq[to.V].Arrival != 8*time.Millisecond || to.V%3 != rec.Seq%3) {
			t.Errorf("row %d: retry of %d", rec.Seq, to.V)
		}
	}
}

// Concatenated traces keep their rows and their clocks, with unique Seqs.
func TestConcat(t *testing.T) {
	rs := []Reader{FromSlice(plainRecords(3)), FromSlice(nil), FromSlice(plainRecords(2))}
	got, err := Collect(Concat(rs, func(i int) (time.Duration, error) { return time.Duration(i) * time.Hour, nil }))
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[uint64]bool)
	for i, want := range []time.Duration{0, time.Millisecond, 2 * time.Millisecond, 2 * time.Hour, 2*time.Hour + time.Millisecond} {
		if got[i].Arrival != want || seen[got[i].Seq] {
			t.Errorf("row %d: %v, seq %d", i, got[i].Arrival, got[i].Seq)
		}
		seen[got[i].Seq] = true
	}
}
