package fit

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// lognormalCounts draws n lengths.
func lognormalCounts(n int, mu, sigma float64) counts {
	r := rand.New(rand.NewPCG(7, 8))
	c := make(counts)
	for range n {
		c.add(int32(max(lognormalDist{mu, sigma}.Quantile(r.Float64())+.5, 1)))
	}
	return c
}

// atOnce is whole lengths of one block of time.
func atOnce(c counts) folded { return folded{{whole: c}} }

// Smooth data has no spike, and planted ones are found with their mass and cause.
func TestSpikes(t *testing.T) {
	c := lognormalCounts(20_000, 6, .8)
	if _, s := takeSpikes(c.exact()); len(s) != 0 {
		t.Fatalf("smooth data has spikes %v", s)
	}
	for v := range c {
		if v > 4096 {
			delete(c, v)
		}
	}
	c[333] += 1000
	c[4096] += 500
	n := float64(c.n())
	smooth, got := takeSpikes(c.exact())
	want := []Spike{{333, 1000 / n, Template}, {4096, 500 / n, Cap}}
	if len(got) != 2 {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i, w := range want {
		if got[i].Value != w.Value || got[i].Cause != w.Cause || math.Abs(got[i].Mass/w.Mass-1) > .1 {
			t.Errorf("got %v, want %v", got[i], w)
		}
	}
	kept := smooth.N() / n
	if total := kept + got[0].Mass + got[1].Mass; math.Abs(total-1) > 1e-9 {
		t.Errorf("spikes and the rest are %g of the data", total)
	}
}

// A handful of equal lengths is chance or one client, not a spike.
func TestFewRequestsMakeNoSpike(t *testing.T) {
	c := counts{}
	for v := int32(1); v <= 40; v++ {
		c[v*97] = 1
	}
	c[5000] = 10
	if _, s := takeSpikes(c.exact()); len(s) != 0 {
		t.Errorf("got %v", s)
	}
}

// Where the data stop at a limit, the model does too, and by truncation: the limit
// has the mass of its spike and no more.
func TestCapIsNoPile(t *testing.T) {
	c := counts{}
	for v, n := range lognormalCounts(30_000, 7, 1) {
		c[min(v, 2048)] += n
	}
	l, err := fitLengths(atOnce(c))
	if err != nil {
		t.Fatal(err)
	}
	if l.Max != 2048 || len(l.Spikes) != 1 || l.Spikes[0].Cause != Cap {
		t.Fatalf("max %d, spikes %v", l.Max, l.Spikes)
	}
	d := l.Dist()
	at := d.CDF(2048.5) - d.CDF(2047.5) - l.Spikes[0].Mass
	if below := d.CDF(2047.5) - d.CDF(2046.5); at > 2*below {
		t.Errorf("the smooth part has %g at the limit and %g just below", at, below)
	}
	if got := d.CDF(2048.5); math.Abs(got-1) > 1e-9 {
		t.Errorf("a share of %g lies in 1..2048", got)
	}
	if q := d.Quantile(1 - 1e-12); q != 2048 {
		t.Errorf("the last quantile is %g", q)
	}
}

// Quantile is the inverse of CDF, spikes included: the least k with CDF(k) >= p.
func TestLengthQuantileInvertsCDF(t *testing.T) {
	l := &Lengths{Family: "lognormal", Params: []float64{3, 1}, Max: 200,
		Spikes: []Spike{{7, .1, Template}, {8, .05, Template}, {200, .2, Cap}}}
	if err := l.validate(); err != nil {
		t.Fatal(err)
	}
	d := l.Dist()
	for p := .0005; p < 1; p += .001 {
		k := d.Quantile(p)
		if d.CDF(k+.5) < p-1e-9 || d.CDF(k-.5) > p+1e-9 {
			t.Fatalf("Quantile(%g) = %g, where the CDF goes from %g to %g", p, k, d.CDF(k-.5), d.CDF(k+.5))
		}
	}
}

// Answers that are all alike are one spike and no family.
func TestConstantLength(t *testing.T) {
	l, err := fitLengths(atOnce(counts{128: 100}))
	if err != nil {
		t.Fatal(err)
	}
	if l.Family != "" || len(l.Spikes) != 1 || l.Spikes[0].Mass != 1 {
		t.Fatalf("got %+v", l)
	}
	if q := l.Dist().Quantile(.3); q != 128 {
		t.Errorf("a quantile of all 128 is %g", q)
	}
	if err := l.validate(); err != nil {
		t.Error(err)
	}
}

// Masses that rounding has left short of 1, or over it, leave no quantile without a length.
func TestRoundedMasses(t *testing.T) {
	for _, l := range []*Lengths{
		{Spikes: []Spike{{5, .5, Template}, {9, .4995, Cap}}},
		{Spikes: []Spike{{5, .5, Template}, {9, .5005, Cap}}},
		{Family: "lognormal", Params: []float64{6, 1}, Spikes: []Spike{{5, .5, Template}, {9, .5005, Cap}}},
		{Family: "lognormal", Params: []float64{6, 1}, Spikes: []Spike{{5, .5, Template}, {9, .5, Cap}}},
	} {
		if err := l.validate(); err != nil {
			t.Fatal(err)
		}
		for _, p := range []float64{1e-12, .3, .51, 1 - 1e-12} {
			if q := l.Dist().Quantile(p); q != 5 && q != 9 {
				t.Errorf("%v: quantile %g is %g", l, p, q)
			}
		}
	}
}

// Where no named family is near, the profile says so, names the nearest, and keeps a
// histogram that is near.
func TestHistogramWhereNothingFits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	c := counts{}
	for range 40_000 {
		peak := 400 * math.Pow(1.3, float64(r.IntN(20))) // twice as many as a mixture may have
		c.add(int32(peak * (1 + .1*r.Float64())))
	}
	l, err := fitLengths(atOnce(c))
	if err != nil {
		t.Fatal(err)
	}
	if l.Family != "histogram" || !strings.Contains(l.Closest, "ks is") {
		t.Fatalf("family %s, closest %q", l.Family, l.Closest)
	}
	if len(l.Params) > 160 || l.Fit.KS > .01 || len(l.Rejected) != len(Families)-1 {
		t.Errorf("%d numbers, KS %g, %d rejected", len(l.Params), l.Fit.KS, len(l.Rejected))
	}
}

// All that was tried is told: each with what it missed by.
func TestRejectedSayWhy(t *testing.T) {
	l, err := fitLengths(atOnce(lognormalCounts(20_000, 5, 1.2)))
	if err != nil {
		t.Fatal(err)
	}
	if l.Family != "lognormal" {
		t.Errorf("lognormal data are %s", l.Family)
	}
	if len(l.Rejected) != len(Families)-2 {
		t.Errorf("%d rejected, want every named family but one", len(l.Rejected))
	}
	for _, c := range l.Rejected {
		if c.Why == "" {
			t.Errorf("%s lost for no reason", c.Family)
		}
	}
}

// Lengths that no profile was meant for are an error or a valid profile that is written
// with finite numbers.
func TestOddLengths(t *testing.T) {
	short, wide := make(counts), make(counts)
	for v := int32(1); v <= 30; v++ {
		short[v%3+1]++
		wide[v*v*v*1000+v]++
	}
	for name, f := range map[string]folded{
		"nothing":       newFolded(),
		"one":           {{whole: counts{5: 1}}},
		"30 of 1 token": {{whole: counts{1: 30}}},
		"two values":    {{whole: counts{1: 15, 1 << 30: 15}}},
		"short":         {{whole: short}},
		"wide":          {{whole: wide}},
		"largest":       {{whole: counts{math.MaxInt32: 40, math.MaxInt32 - 1: 1}}},
		"unlike folds":  {{whole: counts{5: 40}}, {whole: counts{500: 1, 501: 39}}},
		"cut first":     {{whole: wide, cut: counts{1: 50}}},
		"cut last":      {{whole: wide, cut: counts{math.MaxInt32: 30}}},
		"all cut":       {{cut: counts{7: 30, 9: 3}}},
	} {
		l, err := fitLengths(f)
		if err != nil {
			continue
		}
		if err := l.validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := finite(reflect.ValueOf(l), ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, p := range []float64{1e-9, .3, .7, 1 - 1e-9} {
			if q := l.Dist().Quantile(p); !(q >= 1 && q <= math.MaxInt32) {
				t.Errorf("%s: quantile %g is %g", name, p, q)
			}
		}
	}
}
