package synth_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/synth"
	"wavetank/traces"
)

func plainRows(t *testing.T, p synth.Plain) []traces.Record {
	t.Helper()
	r, err := p.Reader()
	if err != nil {
		t.Fatal(err)
	}
	recs, err := traces.Collect(r)
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

func one(n int32) synth.Tokens { return synth.Tokens{Grid: []int32{n}} }

// The i-th request of a constant pace comes at i/rate to the nanosecond, in the
// first hour as in the ninth.
func TestPlainConstantPaceDoesNotDrift(t *testing.T) {
	const n = 100_000
	r, err := synth.Plain{Prompt: one(1), Output: one(1), Pace: synth.Constant, Rate: 3, Count: n}.Reader()
	if err != nil {
		t.Fatal(err)
	}
	i := int64(0)
	for rec, err := range traces.All(r) {
		if err != nil {
			t.Fatal(err)
		}
		third := i % 3
		want := time.Duration(i/3)*time.Second + []time.Duration{0, 333_333_333, 666_666_667}[third]
		if rec.Arrival != want {
			t.Fatalf("request %d arrives at %v, not at %v", i, rec.Arrival, want)
		}
		i++
	}
	if i != n {
		t.Errorf("%d requests, not %d", i, n)
	}
}

func TestPlainPoissonGaps(t *testing.T) {
	const n, rate = 20_000, 20
	recs := plainRows(t, synth.Plain{Prompt: one(1), Output: one(1), Rate: rate, Count: n, Seed: 1})
	var last time.Duration
	var sum, squares float64
	for _, rec := range recs {
		gap := (rec.Arrival - last).Seconds()
		last = rec.Arrival
		sum += gap
		squares += gap * gap
	}
	mean := sum / n
	cv := math.Sqrt(squares/n-mean*mean) / mean
	// The standard errors are 1/sqrt(n) of the mean and of the CV.
	if math.Abs(mean*rate-1) > 4/math.Sqrt(n) || math.Abs(cv-1) > 4/math.Sqrt(n) {
		t.Errorf("gaps of mean %g s and CV %g, not %g s and 1", mean, cv, 1./rate)
	}
}

// Every length of a range comes, its ends as often as the others.
func TestPlainUniformRange(t *testing.T) {
	const n, lo, hi = 22_000, 100, 110
	count := map[int32]float64{}
	for _, rec := range plainRows(t, synth.Plain{Prompt: synth.Tokens{Min: lo, Max: hi}, Output: one(1), Rate: 1, Count: n, Seed: 2}) {
		count[rec.PromptTokens.V]++
	}
	if len(count) != hi-lo+1 {
		t.Fatalf("%d lengths, not %d", len(count), hi-lo+1)
	}
	for length, c := range count {
		if length < lo || length > hi || math.Abs(c-2000) > 5*math.Sqrt(2000) {
			t.Errorf("%v requests of %d tokens, not about 2,000 each from %d to %d", c, length, lo, hi)
		}
	}
}

func TestPlainUniformOverAllLengths(t *testing.T) {
	for _, rec := range plainRows(t, synth.Plain{Prompt: synth.Tokens{Min: 1, Max: math.MaxInt32}, Output: one(1), Rate: 1, Count: 1000}) {
		if rec.PromptTokens.V < 1 {
			t.Fatalf("a prompt of %d tokens", rec.PromptTokens.V)
		}
	}
}

func TestPlainGridOrder(t *testing.T) {
	for _, c := range []struct{ prompt, output, want string }{
		{"1,2", "10,20,30", "1/10 1/20 1/30 2/10 2/20 2/30 1/10 1/20"},
		{"5", "10,20", "5/10 5/20 5/10 5/20 5/10 5/20 5/10 5/20"},
		{"1,2,3", "9", "1/9 2/9 3/9 1/9 2/9 3/9 1/9 2/9"},
		{"1,2", "7-7", "1/7 2/7 1/7 2/7 1/7 2/7 1/7 2/7"},
		{"7-7", "1,2", "7/1 7/2 7/1 7/2 7/1 7/2 7/1 7/2"},
	} {
		prompt, err1 := synth.ParseTokens(c.prompt)
		output, err2 := synth.ParseTokens(c.output)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		var got []string
		for _, rec := range plainRows(t, synth.Plain{Prompt: prompt, Output: output, Pace: synth.AtOnce, Count: 8}) {
			got = append(got, fmt.Sprintf("%d/%d", rec.PromptTokens.V, rec.OutputTokens.V))
			if rec.Arrival != 0 {
				t.Errorf("a request of a workload at once arrives at %v", rec.Arrival)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("prompts %s, answers %s: %s, not %s", c.prompt, c.output, s, c.want)
		}
	}
}

// Equal workloads are equal; the seed changes what is random; and another length of
// the prompts leaves arrivals and answers as they were.
func TestPlainDeterminism(t *testing.T) {
	base := synth.Plain{Prompt: synth.Tokens{Min: 1, Max: 1000}, Output: synth.Tokens{Min: 1, Max: 1000}, Rate: 5, Count: 200, Seed: 3}
	column := func(recs []traces.Record, value func(traces.Record) int64) (out []int64) {
		for _, rec := range recs {
			out = append(out, value(rec))
		}
		return out
	}
	at := func(r traces.Record) int64 { return int64(r.Arrival) }
	in := func(r traces.Record) int64 { return int64(r.PromptTokens.V) }
	out := func(r traces.Record) int64 { return int64(r.OutputTokens.V) }
	first, again := plainRows(t, base), plainRows(t, base)
	reseeded, longer := base, base
	reseeded.Seed, longer.Prompt = 4, synth.Tokens{Min: 2000, Max: 3000}
	other, long := plainRows(t, reseeded), plainRows(t, longer)
	for name, value := range map[string]func(traces.Record) int64{"arrivals": at, "prompts": in, "answers": out} {
		if !slices.Equal(column(first, value), column(again, value)) {
			t.Errorf("%s differ between two equal workloads", name)
		}
		if slices.Equal(column(first, value), column(other, value)) {
			t.Errorf("%s do not depend on the seed", name)
		}
		if same := slices.Equal(column(first, value), column(long, value)); same != (name != "prompts") {
			t.Errorf("longer prompts: are %s the same? %v", name, same)
		}
	}
}

// Whichever of the ends comes first ends it, and no arrival lies on or beyond For.
func TestPlainEnds(t *testing.T) {
	base := synth.Plain{Prompt: one(1), Output: one(1), Pace: synth.Constant, Rate: 10}
	for _, c := range []struct {
		count int64
		last  time.Duration
		want  int
	}{{5, 0, 5}, {0, time.Second, 10}, {5, time.Second, 5}, {50, time.Second, 10}} {
		p := base
		p.Count, p.For = c.count, c.last
		if got := len(plainRows(t, p)); got != c.want {
			t.Errorf("count %d for %v: %d requests, not %d", c.count, c.last, got, c.want)
		}
	}
}

func TestPlainRefuses(t *testing.T) {
	good := synth.Plain{Prompt: one(1), Output: one(1), Rate: 1, Count: 1}
	for want, spoil := range map[string]func(*synth.Plain){
		"prompts of 0 tokens":        func(p *synth.Plain) { p.Prompt = one(0) },
		"answers of 0 to 0 tokens":   func(p *synth.Plain) { p.Output = synth.Tokens{} },
		"prompts of 9 to 8 tokens":   func(p *synth.Plain) { p.Prompt = synth.Tokens{Min: 9, Max: 8} },
		"the rate must be above 0":   func(p *synth.Plain) { p.Rate = 0 },
		"+Inf requests a second":     func(p *synth.Plain) { p.Rate = math.Inf(1) },
		"NaN requests a second":      func(p *synth.Plain) { p.Rate = math.NaN() },
		"all at once have no rate":   func(p *synth.Plain) { p.Pace = synth.AtOnce },
		`the pace "gamma" is none`:   func(p *synth.Plain) { p.Pace = "gamma" },
		"a workload without an end":  func(p *synth.Plain) { p.Count = 0 },
		"cannot have -1 requests":    func(p *synth.Plain) { p.Count = -1 },
		"or last -1s":                func(p *synth.Plain) { p.For = -time.Second },
		"without an end: say how ma": func(p *synth.Plain) { *p = synth.Plain{Prompt: one(1), Output: one(1), Pace: synth.AtOnce, For: 1} },
	} {
		p := good
		spoil(&p)
		if _, err := p.Reader(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, not %q", p, err, want)
		}
	}
	if _, err := good.Reader(); err != nil {
		t.Error(err)
	}
}

func TestParseTokens(t *testing.T) {
	for _, s := range []string{"128", "100-200", "128,512,2048", "1-1"} {
		if got, err := synth.ParseTokens(s); err != nil || got.String() != s {
			t.Errorf("%s is read as %s, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "0", "-5", "5-", "200-100", "0-9", "1,", "1,x", "1-2-3", "1-2,5", "1e3", "9999999999", " 1"} {
		if got, err := synth.ParseTokens(s); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) {
			t.Errorf("%q is read as %v, %v", s, got, err)
		}
	}
}

// However long the workload, a request costs no memory.
func TestPlainAllocatesNothing(t *testing.T) {
	r, err := synth.Plain{Prompt: synth.Tokens{Min: 1, Max: 9}, Output: synth.Tokens{Grid: []int32{1, 2}}, Rate: 1, For: math.MaxInt64}.Reader()
	if err != nil {
		t.Fatal(err)
	}
	var rec traces.Record
	if n := testing.AllocsPerRun(1000, func() { err = r.Read(&rec) }); n != 0 || err != nil {
		t.Errorf("%g allocations a request, %v", n, err)
	}
}
