package fidelity

import (
	"errors"
	"slices"
	"testing"
	"time"

	"wavetank/traces"
)

// Load leaves out what is no load of users, takes no length of what failed, and
// spreads what a coarse clock put together.
func TestLoad(t *testing.T) {
	recs := requests(2000, 13)
	recs[1].Phase = traces.Some("warmup")
	recs[2].Outcome.RetryOf = traces.Some[uint64](1)
	recs[3].Outcome.GatewayCache = traces.Some(true)
	recs[4].Outcome.Status = traces.Error
	for i := range recs {
		recs[i].Arrival = recs[i].Arrival.Truncate(3 * time.Second)
	}
	tr := loaded(t, recs)
	if tr.Rows() != 1997 || tr.leftOut != 3 {
		t.Errorf("%d rows and %d left out", tr.Rows(), tr.leftOut)
	}
	unknown, stamps := 0, map[time.Duration]bool{}
	for _, q := range tr.rows {
		if q.prompt == 0 && q.output == 0 {
			unknown++
		}
		stamps[q.at] = true
	}
	if unknown != 1 || len(stamps) < 1900 {
		t.Errorf("%d rows without lengths, %d stamps", unknown, len(stamps))
	}
	if !slices.IsSortedFunc(tr.rows, func(a, b row) int { return int(a.at - b.at) }) || tr.rows[0].at != 0 {
		t.Error("rows are not in order from 0")
	}
}

// What a coarse clock did to one side is done to the other: the same requests by two
// clocks are one load.
func TestTwoClocks(t *testing.T) {
	recs := requests(1500, 14)
	for i := range recs {
		recs[i].Arrival -= recs[i].Arrival % 100_000_000 // regular below a second
	}
	coarse := slices.Clone(recs)
	for i := range coarse {
		coarse[i].Arrival = coarse[i].Arrival.Truncate(3 * time.Second)
	}
	for _, sides := range [][2][]traces.Record{{recs, coarse}, {coarse, recs}} {
		r := compared(t, sides[0], sides[1], quick)
		if far := r.group(Arrivals).beyond(Large); len(far) > 0 || len(r.Notes) != 1 {
			t.Errorf("large are %q, notes %q", far, r.Notes)
		}
	}
	tr := loaded(t, recs)
	spread := tr.stamped(3*time.Second, 1)
	for i, q := range spread.rows {
		if q.at.Truncate(3*time.Second) != tr.rows[i].at.Truncate(3*time.Second) || q.at > tr.span || i > 0 && q.at < spread.rows[i-1].at {
			t.Fatalf("row %d went from %v to %v", i, tr.rows[i].at, q.at)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	n := 0
	endless := traces.ReaderFunc(func(rec *traces.Record) error {
		n++
		*rec = traces.Record{Request: traces.Request{Arrival: time.Duration(n)}}
		return nil
	})
	if _, err := Load(endless, ""); !errors.Is(err, ErrTooLong) || n != MaxRows+1 {
		t.Errorf("%v after %d rows", err, n)
	}
	recs := requests(50, 1)
	slices.Reverse(recs)
	if _, err := Load(traces.FromSlice(recs), ""); !errors.Is(err, traces.ErrUnsorted) {
		t.Errorf("unsorted: %v", err)
	}
	if _, err := Load(traces.FromSlice(recs), "colour"); err == nil {
		t.Error("no error for a key that is none")
	}
}
