package openai

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/replay"
	"wavetank/traces"
)

var _ replay.Target = (*Target)(nil)

// play replays n requests, one each 100 ms.
func play(ctx context.Context, t *testing.T, target *Target, n int, o replay.Options) ([]traces.Record, replay.Result) {
	t.Helper()
	recs := make([]traces.Record, n)
	for i := range recs {
		recs[i].Request = *row()
		recs[i].Seq, recs[i].Arrival = uint64(i), time.Duration(i)*100*time.Millisecond
	}
	var out []traces.Record
	res, err := replay.Run(ctx, target, traces.FromSlice(recs), traces.WriterFunc(func(rec *traces.Record) error {
		out = append(out, *rec)
		return nil
	}), o)
	if err != nil {
		t.Fatal(err)
	}
	return out, res
}

func TestARunOverHTTPIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 300
		target := serve(t, stream(
			step{0, role}, step{321*ms + 1, hello}, step{12*ms + 1, hello}, step{14*ms + 1, hello}, step{ms, ending + counts + done},
		), Options{})
		recs, _ := play(t.Context(), t, target, n, replay.Options{})
		for _, rec := range recs {
			out := rec.Outcome
			if out.Status != traces.OK || out.Due != some(rec.Arrival) || out.Sent != out.Due || out.FirstToken != some(321*ms+1) || out.MaxGap != some(14*ms+1) {
				t.Errorf("row %d: %+v", rec.Seq, out)
			}
			tpot := (out.LastToken.V - out.FirstToken.V) / time.Duration(out.OutputTokensSeen.V-1)
			if tpot != 13*ms+1 {
				t.Errorf("row %d: time per token %v", rec.Seq, tpot)
			}
		}
		if len(recs) != n {
			t.Errorf("%d rows", len(recs))
		}
	})
}

// A bubble does not end while a goroutine is left in it.
func TestAnInterruptedRunLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream(step{time.Second, hello}, step{time.Minute, hello + ending + done})
		target := serve(t, func(w http.ResponseWriter, r *http.Request) { h(w, r) }, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 2050*time.Millisecond)
		defer cancel()
		recs, res := play(ctx, t, target, 100, replay.Options{})
		begun := 0
		for _, rec := range recs {
			if rec.Outcome.Status != traces.Cancelled || rec.Outcome.Error.V != "interrupted" {
				t.Errorf("%+v", rec.Outcome)
			}
			if rec.Outcome.FirstToken.Known {
				begun++
			}
		}
		if len(recs) != 21 || begun != 11 || !res.Partial || res.NotOffered != 79 {
			t.Errorf("%d rows, %d begun, %+v", len(recs), begun, res)
		}
	})
}

// kubernetes-sigs/inference-perf#300, #443, #462, #608: after a stage of timeouts
// nothing came any more.
func TestATimeoutFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var served atomic.Int64
		target := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if served.Add(1) <= 10 {
				stream(step{time.Hour, hello})(w, r)
				return
			}
			stream(step{0, hello + ending + done})(w, r)
		}, Options{})
		recs, _ := play(t.Context(), t, target, 20, replay.Options{Concurrency: 2, Timeout: time.Second})
		status := map[traces.Status]int{}
		for _, rec := range recs {
			status[rec.Outcome.Status]++
		}
		if status[traces.Timeout] != 10 || status[traces.OK] != 10 {
			t.Errorf("%v", status)
		}
	})
}
