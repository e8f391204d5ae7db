package pace

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// run has p fire until all else in the bubble has waited for end.
func run(p *Pacer, end time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), end)
	defer cancel()
	p.Run(ctx)
}

// appneta/tcpreplay#630, #724, #674, #1004: sleeping the gaps drifts.
func TestEveryDeadlineIsMetAndNoneDrifts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		var p Pacer
		start, fired := time.Now(), 0
		for i := range n {
			due := start.Add(time.Duration(i) * 999_999)
			p.At(due, func(now time.Time) {
				if now != due || time.Now() != due {
					t.Errorf("call %d fired %v after its deadline", i, now.Sub(due))
				}
				fired++
			})
		}
		run(&p, 20*time.Second)
		if fired != n {
			t.Errorf("%d of %d fired", fired, n)
		}
	})
}

func TestEarliestFirstAndEqualOnesAsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pacer
		var got []int
		start := time.Now()
		for i, at := range []time.Duration{3, 1, 2, 1, 3, 2, 1} {
			p.At(start.Add(at*time.Second), func(time.Time) { got = append(got, i) })
		}
		run(&p, time.Minute)
		if want := []int{1, 3, 6, 2, 5, 0, 4}; !slices.Equal(got, want) {
			t.Errorf("fired %v, want %v", got, want)
		}
	})
}

func TestAnEarlierCallGivenLaterIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pacer
		start := time.Now()
		fired := map[string]time.Duration{}
		note := func(name string) func(time.Time) {
			return func(now time.Time) { fired[name] = now.Sub(start) }
		}
		p.At(start.Add(10*time.Hour), note("late"))
		p.At(start.Add(time.Second), func(time.Time) { p.At(start, note("past, given by a call")) })
		time.AfterFunc(2*time.Second, func() { p.At(start.Add(3*time.Second), note("early")) })
		run(&p, 11*time.Hour)
		want := map[string]time.Duration{"late": 10 * time.Hour, "past, given by a call": time.Second, "early": 3 * time.Second}
		for name, at := range want {
			if fired[name] != at {
				t.Errorf("%s: fired at %v, want %v", name, fired[name], at)
			}
		}
	})
}

func TestNothingFiresAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pacer
		p.At(time.Now().Add(2*time.Second), func(time.Time) { t.Error("fired") })
		run(&p, time.Second)
	})
}

func TestRealClock(t *testing.T) {
	var p Pacer
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	for i := range 100 {
		due := time.Now().Add(time.Duration(100-i) * 100 * time.Microsecond)
		wg.Add(1)
		p.At(due, func(now time.Time) {
			if now.Before(due) {
				t.Errorf("fired %v early", due.Sub(now))
			}
			wg.Done()
		})
	}
	wg.Wait()
	cancel()
	<-done
}

func BenchmarkAt(b *testing.B) {
	var p Pacer
	start := time.Now()
	for i := 0; b.Loop(); i++ {
		p.At(start, func(time.Time) {})
		if i%1024 == 1023 {
			p.fireDue()
		}
	}
}
