package lint

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wavetank/traces"
)

// ticked moves every arrival of a Poisson trace to the tick before it, with the
// millisecond of jitter that real ticks have.
func ticked(n int, mean float64, period time.Duration) []traces.Record {
	rng := rand.New(rand.NewPCG(7, 8))
	recs := poisson(n, mean)
	for i := range recs {
		k := recs[i].Arrival / period
		recs[i].Arrival = k*period + time.Duration(int64(k)*7919%3)*time.Millisecond
		recs[i].PromptTokens = traces.Some(1 + rng.Int32N(10_000))
	}
	return recs
}

func with(recs []traces.Record, change func(i int, r *traces.Record)) []traces.Record {
	for i := range recs {
		change(i, &recs[i])
	}
	return recs
}

// Each case is the smallest trace with one fault: that finding comes and no other.
func TestEveryCheckFindsItsFaultAlone(t *testing.T) {
	second := func(i int, r *traces.Record) { r.Arrival = r.Arrival.Truncate(time.Second) }
	cases := []struct {
		want []string
		recs []traces.Record
	}{
		{nil, poisson(5000, 200)},
		{nil, at()},
		{nil, at(0)},
		{nil, at(0, 1000, 2000, 3000, 4000)}, // a constant rate is no tick
		{[]string{"unsorted"}, at(0, 30, 20, 31, 32, 100)},
		{[]string{"unsorted", "wrap"}, at(0, 30, 60, 90, 0, 30, 60, 90)},
		{[]string{"clock"}, at(-5, 30, 60)},
		{[]string{"clock"}, at(0, 30, 1_790_000_000_000)},
		{[]string{"tick"}, ticked(3000, 300, 3*time.Second)},
		{[]string{"tick"}, ticked(3000, 1000, 3*time.Second)}, // many ticks are empty
		{[]string{"tick"}, with(poisson(3000, 300), second)},  // whole seconds, dense
		{[]string{"coarse"}, with(poisson(3000, 9000), second)},
		{[]string{"holes"}, with(poisson(3000, 200), func(i int, r *traces.Record) {
			if i > 1500 {
				r.Arrival += time.Minute
			}
		})},
		{[]string{"prompt_cap"}, with(poisson(3000, 200), func(i int, r *traces.Record) { r.PromptTokens.V = min(r.PromptTokens.V, 8000) })},
		{[]string{"output_cap"}, with(poisson(3000, 200), func(i int, r *traces.Record) { r.OutputTokens.V = min(r.OutputTokens.V, 900) })},
		{nil, with(poisson(3000, 200), func(i int, r *traces.Record) { r.OutputTokens.V = 128 })}, // asked so, not cut
		{[]string{"no_output"}, with(poisson(300, 200), func(i int, r *traces.Record) { r.OutputTokens.V *= int32(min(i, 1)) })},
		{[]string{"no_prompt"}, with(poisson(300, 200), func(i int, r *traces.Record) { r.PromptTokens.Known = i > 0 })},
	}
	seen := map[string]bool{}
	for i, c := range cases {
		got := names(inspect(t, c.recs))
		if !slices.Equal(got, c.want) {
			t.Errorf("case %d: findings %v, want %v", i, got, c.want)
		}
		for _, n := range got {
			seen[n] = true
		}
	}
	for _, c := range Checks {
		if !seen[c.Name] {
			t.Errorf("no case for check %s", c.Name)
		}
	}
}

func TestEveryFindingSaysWhatItMeansAndItsCure(t *testing.T) {
	recs := at(0, 1_000_000, 0, -4_000_000_000_000)
	recs[0].PromptTokens.Known, recs[1].OutputTokens.V = false, 0
	f := inspect(t, recs)
	if len(f.Findings) < 5 {
		t.Errorf("findings %v", names(f))
	}
	for _, x := range f.Findings {
		if x.Detail == "" || x.Means == "" || x.Cure == "" {
			t.Errorf("%+v", x)
		}
		if !slices.ContainsFunc(Checks, func(c Check) bool { return c.Name == x.Check && c.About != "" }) {
			t.Errorf("finding of an unknown check %q", x.Check)
		}
	}
}

// The tick's period is right although its jitter adds up over empty ticks.
func TestTickPeriodIsExactToTheJitter(t *testing.T) {
	s := newScan()
	for _, r := range ticked(3000, 1000, 3*time.Second) {
		s.add(&r)
	}
	s.finish()
	if g, share := s.tick(); g < 2999*time.Millisecond || g > 3001*time.Millisecond || share != 1 {
		t.Errorf("period %v, share %v", g, share)
	}
}
