package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// spread puts lengths into both folds at random times.
func spreadOut(n int, d Dist, seed uint64) folded {
	r := rand.New(rand.NewPCG(seed, seed))
	f := newFolded()
	for range n {
		if v := int32(d.Quantile(r.Float64()) + .5); v >= 1 {
			f.add(time.Duration(r.Int64N(int64(time.Hour))), v, false)
		}
	}
	return f
}

// What one family made is told by that family, or by one that ties with it: at every
// size, and however many richer families there are.
func TestChoosesWhatMadeIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n      int
		family string
		params []float64
	}{
		{100_000, "exponential", []float64{300}},
		{5_000, "exponential", []float64{300}},
		{100_000, "lognormal", []float64{6, .9}},
		{5_000, "lognormal", []float64{6, .9}},
		{100_000, "gamma", []float64{4, 50}},
		{100_000, "weibull", []float64{2, 100}},
		{100_000, "log_logistic", []float64{1.8, 300}},
		{100_000, "lomax", []float64{1.8, 400}},
		{100_000, "inverse_gaussian", []float64{400, .5}},
	} {
		f, _ := lookup(Families, c.family)
		l, err := fitLengths(spreadOut(c.n, f.Dist(c.params), 31))
		if err != nil {
			t.Fatal(err)
		}
		if l.Family != c.family {
			t.Errorf("%d of %s%v are %s%v: %+v", c.n, c.family, c.params, l.Family, l.Params, l.Rejected)
		}
	}
}

// Trying stops where nothing is left to gain, and what was not tried is told too.
func TestTryingStopsEarly(t *testing.T) {
	l, err := fitLengths(spreadOut(20_000, lognormalDist{6, .9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	if l.Family != "lognormal" || len(l.Rejected) != len(Families)-2 {
		t.Fatalf("got %s, %d rejected", l.Family, len(l.Rejected))
	}
	for _, c := range l.Rejected {
		untried := c.Why == "not tried: lognormal leaves nothing to gain"
		if untried == (c.Family == "exponential") {
			t.Errorf("%s: %s", c.Family, c.Why)
		}
		if untried != (c.Bits == 0) {
			t.Errorf("%s has %g bits", c.Family, c.Bits)
		}
	}
}

// Bits are the code length: of an exponential in whole tokens that is its entropy,
// log2(e mean). They are held out: a fold that is unlike the other costs bits.
func TestBits(t *testing.T) {
	l, err := fitLengths(spreadOut(50_000, exponentialDist(300), 33))
	if err != nil {
		t.Fatal(err)
	}
	entropy := math.Log2(math.E * 300)
	if math.Abs(l.Fit.Bits-entropy) > .02 {
		t.Errorf("%g bits, the entropy is %g", l.Fit.Bits, entropy)
	}
	apart := newFolded()
	apart[0] = spreadOut(20_000, lognormalDist{4, .5}, 34)[0]
	apart[1] = spreadOut(20_000, lognormalDist{7, .5}, 35)[1]
	mixed := folded{{whole: make(counts)}}
	for _, f := range apart {
		for v, n := range f.whole {
			mixed[0].whole[v] += n
		}
	}
	told, err := fitLengths(apart)
	if err != nil {
		t.Fatal(err)
	}
	blind, err := fitLengths(mixed)
	if err != nil {
		t.Fatal(err)
	}
	if told.Fit.Bits < blind.Fit.Bits+1 {
		t.Errorf("two unlike folds cost %g bits, mixed %g", told.Fit.Bits, blind.Fit.Bits)
	}
}

// Of two that tie in bits the simpler one is taken, though the other has fewer.
func TestBICBreaksTies(t *testing.T) {
	c := contest{data: Sample{Bins: []Bin{{.5, 1.5, 500}, {1.5, 2.5, 500}}}}
	rich := trial{Candidate: Candidate{Family: "rich", Bits: 1, BIC: 30}, each: []float64{.9, 1.1}}
	simple := trial{Candidate: Candidate{Family: "simple", Bits: 1.0001, BIC: 20}, each: []float64{1.0001, 1.0001}}
	worse := trial{Candidate: Candidate{Family: "worse", Bits: 1.5, BIC: 10}, each: []float64{1.5, 1.5}}
	missed := trial{Candidate: Candidate{Family: "missed", Bits: .5, BIC: 1, Why: "ks"}, each: []float64{.5, .5}}
	if got := c.best([]trial{missed, rich, simple, worse}); got != 2 {
		t.Errorf("took %d, want the simple one", got)
	}
	if got := c.best([]trial{missed}); got != -1 {
		t.Errorf("took %d where none is acceptable", got)
	}
}

// A body that is right but for its last thousandth gets a tail that mends it, and one
// that is right throughout gets none.
func TestTailIsSpliced(t *testing.T) {
	const n = 100_000
	body := &Lengths{Family: "lognormal", Params: []float64{5, .5}}
	for _, tail := range []*Tail{nil, {From: 480.5, Share: .01, Xi: .7, Width: 200}} {
		truth := splice(lognormalDist{5, .5}, tail)
		folds := newFolded()
		for i := range n {
			folds[0].add(int32(truth.Quantile((float64(i)+.5)/n)+.5), false)
		}
		known := folds.exact()
		l := *body
		l.Fit = judge(known, l.Dist())
		before := l.Fit.Q999
		l.addTail(likely(known), known)
		if (l.Tail != nil) != (tail != nil) {
			t.Fatalf("of the tail %+v it makes %+v", tail, l.Tail)
		}
		if math.Abs(l.Fit.Q999) > .02 || math.Abs(l.Fit.Q99) > acceptQ99 || l.Fit.KS > .01 {
			t.Errorf("with the tail %+v: %+v", l.Tail, *l.Fit)
		}
		if tail != nil && math.Abs(before) < .3 {
			t.Errorf("without a tail the 99.9 %% quantile is off by %g, which shows nothing", before)
		}
		if err := l.validate(); err != nil {
			t.Error(err)
		}
	}
}

// The tail of a power law has its exponent, and the spliced distribution keeps the contract.
func TestTailOfAPareto(t *testing.T) {
	folds := newFolded()
	const n = 200_000
	for i := range n {
		folds[0].add(int32(lomaxDist{2, 300}.Quantile((float64(i)+.5)/n)+.5)+1, false)
	}
	tail := fitTail(likely(folds.exact()))
	if tail == nil || math.Abs(tail.Xi-.5) > .02 || math.Abs(tail.Share-.01) > .001 {
		t.Fatalf("tail is %+v, want xi .5 above 1 %%", tail)
	}
	d := splice(lognormalDist{6, 1}, tail)
	for p := .0005; p < 1; p += .0005 {
		x := d.Quantile(p)
		if c, s := d.CDF(x), d.Survival(x); math.Abs(c-p) > 1e-9 || math.Abs(s+c-1) > 1e-12 {
			t.Fatalf("CDF(Quantile(%g)) = %g, the survival is %g", p, c, s)
		}
	}
	for x := 10.; x < 1e6; x *= 1.7 {
		h := x * 1e-5
		if slope := (d.CDF(x+h) - d.CDF(x-h)) / (2 * h); math.Abs(slope/math.Exp(d.LogProb(x))-1) > 1e-4 {
			t.Errorf("at %g the density is %g, the cdf rises by %g", x, math.Exp(d.LogProb(x)), slope)
		}
	}
	few := newFolded()
	for i := range 15_000 {
		few[0].add(int32(lomaxDist{2, 300}.Quantile((float64(i)+.5)/15_000)+.5)+1, false)
	}
	if tail := fitTail(likely(few.exact())); tail != nil {
		t.Errorf("150 exceedances made the tail %+v", tail)
	}
}

func TestTailRefuses(t *testing.T) {
	good := Tail{From: 2000, Share: .01, Xi: .3, Width: 500}
	l := &Lengths{Family: "lognormal", Params: []float64{6, 1}, Tail: &good}
	if err := l.validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Lengths){
		"from":   func(l *Lengths) { l.Tail.From = 0 },
		"below":  func(l *Lengths) { l.Params = []float64{40, 1} },
		"share":  func(l *Lengths) { l.Tail.Share = 1 },
		"xi":     func(l *Lengths) { l.Tail.Xi = 3 },
		"width":  func(l *Lengths) { l.Tail.Width = 0 },
		"family": func(l *Lengths) { l.Family, l.Spikes = "", []Spike{{5, 1, Template}} },
	} {
		tail := good
		bad := &Lengths{Family: l.Family, Params: slices.Clone(l.Params), Tail: &tail}
		spoil(bad)
		if err := bad.validate(); err == nil {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
}

// The guards of a search: no Pareto begins below the median or above the 99 % quantile,
// no component is thinner or rarer than can be seen, and nothing lives outside the window.
func TestGuards(t *testing.T) {
	r := rand.New(rand.NewPCG(38, 39))
	c := make(counts)
	for range 9000 { // what sent an unguarded fit to infinity: far more below a median of two peaks
		c.add(int32(lognormalDist{[]float64{3, 8.9}[r.IntN(2)], .05}.Quantile(r.Float64()) + .5))
	}
	s := likely(c.exact())
	p, err := lognormalPareto.Fit(s)
	if err != nil {
		t.Fatal(err)
	}
	if p[3] < s.Quantile(.5) || p[3] > s.Quantile(.99) {
		t.Errorf("the Pareto begins at %g, outside %g..%g", p[3], s.Quantile(.5), s.Quantile(.99))
	}
	if err := lognormalPareto.Check(p); err != nil {
		t.Error(err)
	}
	m, err := lognormalMix.Fit(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := lognormalMix.Check(m); err != nil {
		t.Error(err)
	}
	outside := Sample{Bins: []Bin{{.5, 1.5, 100}}, Lo: .5, Hi: 1.5}
	if ll := outside.LogLik(lognormalDist{40, 1}); !math.IsInf(ll, -1) {
		t.Errorf("what lives outside the window has the likelihood %g", ll)
	}
}

// traceLengths are the lengths of one of testdata/traces.
func traceLengths(t testing.TB, name string) (prompt, output folded) {
	r, err := traces.Open("../testdata/traces/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	prompt, output = newFolded(), newFolded()
	for rec, err := range traces.All(r) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.PromptTokens.V > 0 {
			prompt.add(rec.Arrival, rec.PromptTokens.V, false)
		}
		if rec.OutputTokens.V > 0 {
			output.add(rec.Arrival, rec.OutputTokens.V, cutAt(rec) > 0)
		}
	}
	return prompt, output
}

// The gates on real traffic (see testdata/traces), with folds.
func TestRealLengths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file       string
		prompt, ks float64
	}{
		{"azure-conv", .02, .015},
		{"azure-code", .015, .01},
		{"ragpulse", .01, .01},
		{"mooncake-conversation", .01, .01},
	} {
		prompt, output := traceLengths(t, c.file+".arrow")
		for what, f := range map[string]folded{"prompt": prompt, "output": output} {
			l, err := fitLengths(f)
			if err != nil {
				t.Fatal(err)
			}
			bound := c.ks
			if what == "prompt" {
				bound = c.prompt
			}
			if l.Fit.KS > bound {
				t.Errorf("%s %s: KS is %g, more than %g", c.file, what, l.Fit.KS, bound)
			}
			if why, _ := l.Fit.misses(); why != "" {
				t.Errorf("%s %s: %s", c.file, what, why)
			}
			if err := l.validate(); err != nil {
				t.Errorf("%s %s: %v", c.file, what, err)
			}
			again, _ := fitLengths(f)
			if !slices.Equal(again.Params, l.Params) {
				t.Errorf("%s %s: two fits differ", c.file, what)
			}
			for _, r := range l.Rejected {
				if r.Why == "" || strings.Contains(r.Why, "NaN") {
					t.Errorf("%s %s: %s lost for %q", c.file, what, r.Family, r.Why)
				}
			}
			if l.Family != "histogram" && l.Fit.Bits == 0 {
				t.Errorf("%s %s has no bits", c.file, what)
			}
		}
	}
}
