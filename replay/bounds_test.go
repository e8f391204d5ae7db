package replay

import (
	"io"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/traces"
)

func TestAnEmptyTraceIsAnEmptyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, res := play(t, newServer(0), nil, Options{}); res != (Result{}) {
			t.Errorf("%+v", res)
		}
	})
}

// What waits for its deadline is a few bytes, not a goroutine, and what is
// further off than Ahead has not been read: a trace of any length is replayed in
// constant memory.
func TestNothingIsHeldForWhatIsFarOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(10 * time.Millisecond)
		read := 0
		src := traces.ReaderFunc(func(rec *traces.Record) error {
			if read == 30_000 {
				return io.EOF
			}
			due := time.Duration(read) * 10 * time.Millisecond
			if ahead := due - time.Since(s.start); ahead > 2*time.Second+10*time.Millisecond {
				t.Fatalf("row %d was read %v ahead of its time", read, ahead)
			}
			*rec = rows(due)[0]
			rec.Seq = uint64(read)
			read++
			return nil
		})
		s.sent, s.order = map[uint64]time.Duration{}, nil
		n := traces.WriterFunc(func(*traces.Record) error { return nil })
		if res, err := Run(t.Context(), s, src, n, Options{}); err != nil || res.Written != 30_000 {
			t.Errorf("%v, %+v", err, res)
		}
	})
}

func TestPreparedRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(time.Hour)
		recs := every(0, 100)
		for i := range recs {
			recs[i].PromptTokens = traces.Some(int32(1 << 20)) // 8 MiB of text each
		}
		play(t, s, recs, Options{})
		if s.peakSet > 8 {
			t.Errorf("%d requests of 8 MiB were prepared at once", s.peakSet)
		}
	})
}

func TestContradictoryOptionsAreRefused(t *testing.T) {
	for _, o := range []Options{
		{Speed: -1}, {Speed: math.NaN()}, {Rate: math.Inf(1)}, {Speed: 2, Rate: 1}, {Rate: 1, Concurrency: 1},
		{Speed: 2, Concurrency: 1}, {Concurrency: 1, MaxInFlight: 2}, {Concurrency: -1}, {Grace: -1}, {RateKind: "gamma", Rate: 1},
	} {
		if _, err := Run(t.Context(), nil, traces.FromSlice(nil), &book{}, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// With the real clock nothing can be said of when, only of what.
func TestRealClock(t *testing.T) {
	s := newServer(time.Millisecond)
	b, _ := play(t, s, every(100*time.Microsecond, 1000), Options{})
	for _, rec := range b.recs {
		if rec.Outcome.Sent.V < rec.Outcome.Due.V {
			t.Errorf("row %d left before it was due", rec.Seq)
		}
	}
	if c := counts(b.recs); c[traces.OK] != 1000 {
		t.Errorf("%v", c)
	}
}

// BenchmarkRun is the cost of a request in the generator itself.
func BenchmarkRun(b *testing.B) {
	n := 0
	src := traces.ReaderFunc(func(rec *traces.Record) error {
		if !b.Loop() {
			return io.EOF
		}
		*rec = traces.Record{Request: traces.Request{Seq: uint64(n), PromptTokens: traces.Some(int32(1)), OutputTokens: traces.Some(int32(1))}}
		n++
		return nil
	})
	if _, err := Run(b.Context(), nothing{}, src, traces.WriterFunc(func(*traces.Record) error { return nil }), Options{}); err != nil {
		b.Fatal(err)
	}
}

type nothing struct{}
