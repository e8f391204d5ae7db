package replay

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/traces"
)

// appneta/tcpreplay#630, #724, #1004 and probelabs/goreplay#680 slept the gaps
// and drifted by minutes.
func TestADayIsReplayedToTheNanosecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20_000
		at := make([]time.Duration, n)
		for i := range at {
			// Uneven gaps, some of none, over 24 hours.
			at[i] = time.Duration(float64(24*time.Hour) * math.Pow(float64(i/3)/(n/3), 1.7))
		}
		s := newServer(0)
		s.service = func(seq uint64) time.Duration { return time.Duration(seq%50) * time.Second }
		b, _ := play(t, s, rows(at...), Options{})
		for seq, rec := range b.bySeq(t) {
			due, sent := rec.Outcome.Due, rec.Outcome.Sent
			if !due.Known || !sent.Known || due.V != at[seq] || sent.V != due.V || s.sent[seq] != at[seq] {
				t.Fatalf("row %d: due %v, sent %v, seen by the server at %v, want %v", seq, due, sent, s.sent[seq], at[seq])
			}
		}
		if len(b.recs) != n || !slices.IsSorted(s.order) {
			t.Errorf("%d rows, sent in order: %v", len(b.recs), slices.IsSorted(s.order))
		}
	})
}

// vllm-project/guidellm#620, #735, #745: rows raced each other.
func TestRowsLeaveInTraceOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(time.Minute)
		play(t, s, rows(0, 0, 0, time.Second, time.Second, time.Second), Options{})
		if want := []uint64{0, 1, 2, 3, 4, 5}; !slices.Equal(s.order, want) {
			t.Errorf("sent %v", s.order)
		}
	})
}

func TestSpeedDividesArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for speed, want := range map[float64][]time.Duration{
			0:   {0, time.Second, 10 * time.Second},
			2:   {0, time.Second / 2, 5 * time.Second},
			0.5: {0, 2 * time.Second, 20 * time.Second},
		} {
			s := newServer(0)
			play(t, s, rows(0, time.Second, 10*time.Second), Options{Speed: speed})
			for i, at := range want {
				if s.sent[uint64(i)] != at {
					t.Errorf("speed %g: row %d was sent at %v, want %v", speed, i, s.sent[uint64(i)], at)
				}
			}
		}
	})
}

func TestConstantRateReplacesGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(0)
		play(t, s, rows(0, 0, 0, time.Hour, 3*time.Hour), Options{Rate: 4})
		for i := range uint64(5) {
			if want := time.Duration(i) * 250 * time.Millisecond; s.sent[i] != want {
				t.Errorf("row %d was sent at %v, want %v", i, s.sent[i], want)
			}
		}
	})
}

// The mean of 20,000 exponential gaps has a relative standard error of 0.7 %, as
// has their standard deviation one of 1.4 %; the bounds are five of them.
func TestPoissonRateHasExponentialGapsOfItsSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20_000
		sent := func(seed uint64, n int) []time.Duration {
			s := newServer(0)
			play(t, s, every(time.Hour, n), Options{Rate: 50, RateKind: Poisson, Seed: seed})
			at := make([]time.Duration, n)
			for i := range at {
				at[i] = s.sent[uint64(i)]
			}
			return at
		}
		at := sent(1, n)
		var sum, squares float64
		for i := 1; i < n; i++ {
			gap := (at[i] - at[i-1]).Seconds()
			sum += gap
			squares += gap * gap
		}
		mean := sum / (n - 1)
		sd := math.Sqrt(squares/(n-1) - mean*mean)
		if math.Abs(mean*50-1) > 0.035 || math.Abs(sd*50-1) > 0.07 {
			t.Errorf("mean %v s, standard deviation %v s, want 0.02 s both", mean, sd)
		}
		if !slices.Equal(at[:100], sent(1, 100)) || slices.Equal(at[:100], sent(2, 100)) {
			t.Error("equal seeds must give equal times, and others other ones")
		}
	})
}

func TestClosedLoopKeepsEverySlotBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(time.Second)
		b, _ := play(t, s, every(time.Hour, 10), Options{Concurrency: 3})
		if s.peak != 3 {
			t.Errorf("%d in flight at the peak, want 3", s.peak)
		}
		for seq, rec := range b.bySeq(t) {
			if want := time.Duration(seq/3) * time.Second; rec.Outcome.Due.V != want || rec.Outcome.Sent.V != want {
				t.Errorf("row %d: due %v, sent %v, want %v", seq, rec.Outcome.Due.V, rec.Outcome.Sent.V, want)
			}
		}
	})
}

// A closed loop that is late because the generator is shows it: a request is due
// when its slot became free, not when the generator came round to it.
func TestClosedLoopShowsItsOwnDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(time.Second)
		s.prepare = 3 * time.Second
		b, _ := play(t, s, every(0, 3), Options{Concurrency: 1})
		for seq, want := range []struct{ due, sent time.Duration }{{0, 0}, {1, 3}, {4, 6}} {
			out := b.bySeq(t)[uint64(seq)].Outcome
			if out.Due.V != want.due*time.Second || out.Sent.V != want.sent*time.Second {
				t.Errorf("row %d: due %v, sent %v, want %d s and %d s", seq, out.Due.V, out.Sent.V, want.due, want.sent)
			}
		}
	})
}

// vllm-project/vllm#54101: the wait for a place in flight was in no figure.
// vllm#45502: freed places let requests go in lumps; here each goes as one ends.
func TestWaitForAPlaceInFlightIsLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(500 * time.Millisecond)
		b, _ := play(t, s, every(100*time.Millisecond, 8), Options{MaxInFlight: 1})
		for seq, rec := range b.bySeq(t) {
			due, sent := time.Duration(seq)*100*time.Millisecond, time.Duration(seq)*500*time.Millisecond
			if rec.Outcome.Due.V != due || rec.Outcome.Sent.V != sent {
				t.Errorf("row %d: due %v, sent %v, want %v and %v", seq, rec.Outcome.Due.V, rec.Outcome.Sent.V, due, sent)
			}
		}
		if s.peak != 1 {
			t.Errorf("%d in flight", s.peak)
		}
	})
}

// triton-inference-server/server#4711: what was not ready at the start was sent
// in a burst.
func TestTheClockStartsWhenTheFirstRequestsArePrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(time.Second)
		s.prepare = time.Second
		b, _ := play(t, s, rows(0, 0, time.Millisecond, time.Minute), Options{})
		for seq, rec := range b.bySeq(t) {
			if rec.Outcome.Sent.V != rec.Arrival {
				t.Errorf("row %d was sent at %v, want %v", seq, rec.Outcome.Sent.V, rec.Arrival)
			}
		}
		if want := 3*time.Second + time.Minute - 2*time.Second + time.Second; s.prepared[3] != want {
			t.Errorf("row 3 was prepared at %v, want %v: 2 s before it is due", s.prepared[3], want)
		}
	})
}

// probelabs/goreplay#680, #522, #697, #1128: rows out of order made a replay of
// 190 s last 15 minutes.
func TestOutOfOrderTraceIsRefused(t *testing.T) {
	for _, recs := range [][]traces.Record{rows(0, 2, 1), rows(-1)} {
		synctest.Test(t, func(t *testing.T) {
			var b book
			res, err := Run(t.Context(), newServer(0), traces.FromSlice(recs), &b, Options{})
			if err == nil || !strings.Contains(err.Error(), "sort the trace") {
				t.Errorf("error %v", err)
			}
			if res.Written != res.Offered || !res.Partial {
				t.Errorf("%+v", res)
			}
		})
	}
}

func TestRowsThatAskForNothingAreSkippedWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recs := rows(0, 1, 2, 3, 4, 5, 6)
		recs[0].OutputTokens = traces.Some(int32(0))
		recs[1].OutputTokens = traces.Opt[int32]{}
		recs[2].Outcome.GatewayCache = traces.Some(true)
		recs[3].PromptTokens = traces.Opt[int32]{}
		recs[4].PromptTokens = traces.Some(int32(0))
		recs[5].OutputTokens, recs[5].Body = traces.Opt[int32]{}, []byte("{}")
		s := newServer(0)
		b, _ := play(t, s, recs, Options{})
		want := []string{"no_output_wanted", "output_unknown", "gateway_cache", "prompt_unknown", "no_prompt", "", ""}
		for seq, rec := range b.bySeq(t) {
			out := rec.Outcome
			if skipped := out.Status == traces.Skipped; out.Error.V != want[seq] || skipped != (want[seq] != "") || out.Sent.Known == skipped {
				t.Errorf("row %d: %+v, want error %q", seq, out, want[seq])
			}
		}
		if len(s.sent) != 2 {
			t.Errorf("%d rows were sent", len(s.sent))
		}
	})
}

func TestARowKeepsItsRequestAndLosesItsOldOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recs := rows(0, time.Second)
		recs[0].ID, recs[0].Outcome = traces.Some("a"), traces.Outcome{Status: traces.Error, Queue: traces.Some(time.Second)}
		recs[1].Timeout = traces.Some(time.Minute)
		s := newServer(time.Second)
		b, _ := play(t, s, recs, Options{Timeout: time.Hour})
		got := b.bySeq(t)[0]
		if fmt.Sprint(got.Request) != fmt.Sprint(recs[0].Request) || got.Outcome.Queue.Known || got.Outcome.Status != traces.OK {
			t.Errorf("%+v", got)
		}
		if s.requests[0].Timeout.V != time.Hour || s.requests[1].Timeout.V != time.Minute {
			t.Errorf("timeouts %v and %v, want 1 h and 1 min", s.requests[0].Timeout, s.requests[1].Timeout)
		}
	})
}

func (nothing) Prepare(context.Context, *traces.Request) Call { return nothing{} }

func (nothing) Send() {}

func (nothing) Wait() traces.Outcome { return traces.Outcome{Status: traces.OK} }
