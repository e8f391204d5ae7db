package sim

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/traces"
)

// The Target in process gives the same outcomes as the run in virtual time.
func TestTargetGivesTheAnswerOfVirtualTime(t *testing.T) {
	recs := randomTrace(8, 300)
	recs[5].PromptTokens.V, recs[6].OutputTokens.Known = 20_000, false
	want, _ := collect(t, crowded(), recs, 64)
	synctest.Test(t, func(t *testing.T) {
		target, err := NewTarget(crowded(), 64)
		if err != nil {
			t.Fatal(err)
		}
		defer target.Close()
		var all sync.WaitGroup
		for i := range recs {
			all.Go(func() {
				call := target.Prepare(t.Context(), &recs[i].Request)
				time.Sleep(recs[i].Arrival)
				call.Send()
				got, want := call.Wait(), want[i].Outcome
				want.Due, want.Sent = traces.Opt[time.Duration]{}, traces.Opt[time.Duration]{}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("row %d: %+v\nwant %+v", i, got, want)
				}
			})
		}
		all.Wait()
	})
}

// A client that hangs up is cancelled, and a closed engine answers nobody.
func TestTargetEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, err := NewTarget(testConfig, 0)
		if err != nil {
			t.Fatal(err)
		}
		rec := request(0, 100, 1000)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		call := target.Prepare(ctx, &rec.Request)
		call.Send()
		if o := call.Wait(); o.Status != traces.Cancelled || o.End.V != 50*time.Millisecond {
			t.Errorf("%+v", o)
		}
		if n := target.Counters(); n.Running != 0 || n.UsedBlocks != 0 {
			t.Errorf("after hanging up: %+v", n)
		}
		under, late := target.Prepare(t.Context(), &rec.Request), target.Prepare(t.Context(), &rec.Request)
		under.Send()
		time.AfterFunc(time.Millisecond, target.Close)
		if o := under.Wait(); o.Status != traces.Error || o.Error.V != "closed" {
			t.Errorf("under way: %+v", o)
		}
		late.Send()
		if o := late.Wait(); o.Status != traces.Error || o.Error.V != "closed" {
			t.Errorf("after Close: %+v", o)
		}
	})
}

// A loop that comes late to a step shows it only what had come by its beginning.
func TestLateStepSeesWhatWasThere(t *testing.T) {
	l := &live{engine: newTestEngine(t, testConfig), speed: 1}
	for _, at := range []time.Duration{0, 1, 2} {
		c := &call{Request: Request{Prompt: 1, Output: 5}, at: at * time.Millisecond}
		c.Data = c
		l.pending = append(l.pending, c)
	}
	for i, want := range []int{1, 2, 3} { // steps end at 1.01, 2.12 and 3.33 ms
		l.step()
		if n := l.engine.Counters(); n.Running != want {
			t.Errorf("step %d: %d requests run, want %d", i, n.Running, want)
		}
	}
}
