package lint

import (
	"cmp"
	"fmt"
	"math"
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

func sorted(recs []traces.Record) []traces.Record {
	slices.SortStableFunc(recs, func(a, b traces.Record) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return recs
}

// twice has a changed copy behind every tenth row.
func twice(recs []traces.Record, change func(*traces.Record)) (out []traces.Record) {
	for i, r := range recs {
		r.Seq, r.SourceRow = uint64(len(out)), traces.Some(uint64(len(out)))
		out = append(out, r)
		if i%10 == 0 {
			r.Seq, r.SourceRow = uint64(len(out)), traces.Some(uint64(len(out)))
			change(&r)
			out = append(out, r)
		}
	}
	return out
}

// inSessions makes ten sessions of some turns, of which the last repeats the first
// but for more tokens in its last prompt.
func inSessions(turns int, more int32) []traces.Record {
	var recs []traces.Record
	for k := range 10 {
		for i, r := range poisson(10*turns, 200)[k%9*turns:][:turns] {
			r.Session = traces.Some(fmt.Sprint("s", k))
			r.Arrival += time.Duration(k/9) * time.Second
			if k == 9 && i == turns-1 {
				r.PromptTokens.V += more
			}
			recs = append(recs, r)
		}
	}
	return sorted(recs)
}

// cutAt leaves one in twenty of the rows for which cut is true.
func cutAt(recs []traces.Record, cut func(i int) bool) (out []traces.Record) {
	for i, r := range recs {
		if !cut(i) || i%20 == 0 {
			out = append(out, r)
		}
	}
	return out
}

var ofSources = []struct {
	want   []string
	source traces.Source
}{
	{[]string{"sampling"}, traces.Source{Name: "vertex.jsonl", SamplingRate: .1}},
	{[]string{}, traces.Source{Name: "vertex.jsonl", SamplingRate: 1}},
	{[]string{"impostor"}, traces.Source{Name: "AzureLLMInferenceTrace_conv.csv.gz", SHA256: "77"}},
	{[]string{"impostor"}, traces.Source{Name: "traces/conversation_trace.jsonl", SHA256: "77"}},
	{[]string{}, traces.Source{Name: "conversation_trace.jsonl", SHA256: "77", Attribution: "Mooncake"}},
	{[]string{}, traces.Source{Name: "conversation_trace.jsonl"}}, // of a log that was not read to its end nothing is known
	{[]string{}, traces.Source{Name: "mine.jsonl", SHA256: "77"}},
}

// A fault is the smallest trace that has it, and what must be found there.
type fault struct {
	want []string
	recs []traces.Record
}

func faults() []fault {
	second := func(i int, r *traces.Record) { r.Arrival = r.Arrival.Truncate(time.Second) }
	return []fault{
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
		{[]string{"constant"}, with(poisson(3000, 200), func(i int, r *traces.Record) { r.OutputTokens.V = 128 })}, // asked so, not cut
		{[]string{"constant"}, with(poisson(3000, 200), func(i int, r *traces.Record) { r.Arrival = time.Duration(i) * time.Millisecond })},
		{[]string{"wrap"}, sorted(with(poisson(3000, 200), func(i int, r *traces.Record) {
			r.SourceRow = traces.Some(uint64(i + 2))
			if i >= 1400 {
				r.Arrival -= 260 * time.Second
			}
		}))},
		{nil, sorted(with(poisson(3000, 200), func(i int, r *traces.Record) { // written at the ends of long requests
			r.SourceRow = traces.Some(uint64(i + 2))
			r.Arrival += time.Duration(i%7) * 40 * time.Second
		}))},
		{[]string{"ends"}, cutAt(poisson(30_000, 20), func(i int) bool { return i < 500 })},
		{[]string{"ends"}, cutAt(poisson(30_000, 20), func(i int) bool { return i > 29_500 })},
		{[]string{"repeats"}, twice(poisson(300, 200), func(r *traces.Record) {})},
		{nil, twice(poisson(300, 200), func(r *traces.Record) { r.PromptTokens.V++ })},
		{[]string{"coarse", "repeats"}, twice(with(poisson(300, 9000), func(i int, r *traces.Record) {
			second(i, r)
			r.ID = traces.Some(fmt.Sprint(i))
		}), func(r *traces.Record) {})},
		{[]string{"coarse"}, twice(with(poisson(300, 9000), second), func(r *traces.Record) {})}, // may be chance
		{[]string{"same_id"}, twice(with(poisson(300, 200), func(i int, r *traces.Record) { r.ID = traces.Some(fmt.Sprint(i)) }),
			func(r *traces.Record) { r.Arrival += time.Microsecond })},
		{nil, twice(with(poisson(300, 200), func(i int, r *traces.Record) { r.ID = traces.Some(fmt.Sprint(i)) }), func(r *traces.Record) {
			r.Arrival, r.Outcome.Attempt = r.Arrival+time.Microsecond, traces.Some[int32](2)
		})},
		{[]string{"twins"}, inSessions(5, 0)},
		{nil, inSessions(5, 1)},
		{nil, inSessions(4, 0)},
		{[]string{"sentinels"}, with(poisson(300, 200), func(i int, r *traces.Record) { r.OutputTokens.V -= int32(1-min(i, 1)) * 2000 })},
		{[]string{"sentinels"}, with(poisson(300, 200), func(i int, r *traces.Record) {
			if i%10 == 0 {
				r.PromptTokens.V = math.MaxInt32
			}
		})},
		{[]string{"sentinels"}, with(poisson(300, 200), func(i int, r *traces.Record) { r.Outcome.End = traces.Some(time.Duration(i)) })},
		{[]string{"unchained"}, with(poisson(300, 200), func(i int, r *traces.Record) {
			r.Blocks = []traces.BlockRun{{Start: uint64(i), Len: 1}, {Start: 7000, Len: 2}}
		})},
		{[]string{"no_output"}, with(poisson(300, 200), func(i int, r *traces.Record) { r.OutputTokens.V *= int32(min(i, 1)) })},
		{[]string{"no_prompt"}, with(poisson(300, 200), func(i int, r *traces.Record) { r.PromptTokens.Known = i > 0 })},
	}
}

// Of each fault that finding comes and no other.
func TestEveryCheckFindsItsFaultAlone(t *testing.T) {
	seen := map[string]bool{}
	for i, c := range faults() {
		got := names(inspect(t, c.recs))
		if !slices.Equal(got, c.want) {
			t.Errorf("case %d: findings %v, want %v", i, got, c.want)
		}
		for _, n := range got {
			seen[n] = true
		}
	}
	for _, c := range ofSources {
		f, err := Inspect(traces.FromSlice(poisson(100, 200)), func() traces.Meta { return traces.Meta{Sources: []traces.Source{c.source}} })
		if err != nil {
			t.Fatal(err)
		}
		if got := names(f); !slices.Equal(got, c.want) {
			t.Errorf("source %+v: findings %v, want %v", c.source, got, c.want)
		}
		for _, n := range c.want {
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
	s := newScan(noMeta)
	for _, r := range ticked(3000, 1000, 3*time.Second) {
		s.add(&r)
	}
	s.finish()
	if g, share := traces.Tick(s.gaps, s.facts.Rows); g < 2999*time.Millisecond || g > 3001*time.Millisecond || share != 1 {
		t.Errorf("period %v, share %v", g, share)
	}
}
