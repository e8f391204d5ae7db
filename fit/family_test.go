package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// examples are parameters that each family is tried with.
var examples = map[string][][]float64{
	"exponential":   {{200}},
	"gamma":         {{.3, 500}, {4, 50}},
	"lognormal":     {{6, .9}},
	"weibull":       {{.6, 300}, {2, 100}},
	"lomax":         {{1.8, 400}},
	"lognormal_mix": {{.5, 4, .4, .3, 6, .3, .2, 8, .5}},
	"histogram":     {{1, 0, 10, .2, 100, .7, 120, .7, 1000, 1}},
}

var unitExamples = map[string][][]float64{
	"exponential": {nil},
	"gamma":       {{.3}, {4}},
	"lognormal":   {{.8}},
	"weibull":     {{.6}, {2}},
	"lomax":       {{1.4}},
	"histogram":   {{0, 0, 2, .6, 5, .9, 20, 1}},
}

// each runs f on every example of every family in both tables.
func each(t *testing.T, f func(t *testing.T, d Dist)) {
	for table, families := range map[string][]Family{"lengths": Families, "gaps": GapFamilies} {
		for _, fam := range families {
			params := examples[fam.Name]
			if table == "gaps" {
				params = unitExamples[fam.Name]
			}
			if len(params) == 0 {
				t.Errorf("%s %s has no example", table, fam.Name)
			}
			for _, p := range params {
				t.Run(fmt.Sprint(table, fam.Name, p), func(t *testing.T) {
					if err := fam.Check(p); err != nil {
						t.Fatal(err)
					}
					f(t, fam.Dist(p))
				})
			}
		}
	}
}

// CDF rises from 0 to 1, the survival is the rest of it, and Quantile inverts it.
func TestDistContract(t *testing.T) {
	each(t, func(t *testing.T, d Dist) {
		if c := d.CDF(0); c != 0 {
			t.Errorf("CDF(0) = %g", c)
		}
		prev := 0.
		for p := .001; p < 1; p += .0037 {
			x := d.Quantile(p)
			c := d.CDF(x)
			if math.Abs(c-p) > 1e-9 {
				t.Fatalf("CDF(Quantile(%g)) = %g", p, c)
			}
			if c < prev {
				t.Fatalf("the CDF falls at %g", x)
			}
			prev = c
			if s := d.Survival(x); math.Abs(s+c-1) > 1e-12 {
				t.Fatalf("at %g the CDF and the survival add up to %g", x, s+c)
			}
		}
	})
}

// The density is the derivative of the CDF.
func TestDensityIntegratesToCDF(t *testing.T) {
	each(t, func(t *testing.T, d Dist) {
		for p := .05; p < .95; p += .1 {
			a, b := d.Quantile(p), d.Quantile(p+.001)
			const steps = 200
			var sum float64
			for i := range steps {
				sum += math.Exp(d.LogProb(a+(b-a)*(float64(i)+.5)/steps)) * (b - a) / steps
			}
			if want := d.CDF(b) - d.CDF(a); math.Abs(sum-want) > 2e-5 {
				t.Errorf("density over [%g, %g] is %g, the CDF grows by %g", a, b, sum, want)
			}
		}
	})
}

// Far in the tail the survival keeps its digits, where 1-CDF has none.
func TestSurvivalDoesNotCancel(t *testing.T) {
	for _, f := range Families[:len(Families)-1] {
		d := f.Dist(examples[f.Name][0])
		x := d.Quantile(1 - 1e-12)
		for d.Survival(x) > 1e-25 {
			x *= 1.5
		}
		if s := d.Survival(x); !(s > 0) {
			t.Errorf("%s: survival at %g is %g", f.Name, x, s)
		}
	}
}

// Every family of gaps has mean 1, whatever its shape: the rate alone says how many come.
func TestGapFamiliesHaveUnitMean(t *testing.T) {
	for _, f := range GapFamilies {
		for _, p := range unitExamples[f.Name] {
			d := f.Dist(p)
			var mean float64
			x := 0.
			for next := 1e-7; next < 1e9; next *= 1.01 {
				mean += (next - x) * (d.Survival(x) + d.Survival(next)) / 2
				x = next
			}
			if math.Abs(mean-1) > .003 {
				t.Errorf("%s%v has mean %g", f.Name, p, mean)
			}
		}
	}
}

// simulate draws n values by the quantile function and groups them to 1 %.
func simulate(n int, quantile func(u float64) float64, lengths bool) Sample {
	r := rand.New(rand.NewPCG(1, 2))
	c, gaps := make(counts), make(map[int]int64)
	for range n {
		x := quantile(r.Float64())
		if lengths {
			if x = math.Floor(x + .5); x >= 1 {
				c.add(int32(x))
			}
		} else {
			gaps[gapBin(x)]++
		}
	}
	if lengths {
		return binned(c.exact())
	}
	return gapSample(gaps)
}

// What a family made, its fit finds again, through rounding to tokens and grouping.
// Standard errors at n = 10,000 are .7 to 3 % of these parameters.
func TestFitRecoversParameters(t *testing.T) {
	for table, families := range map[string][]Family{"lengths": Families, "gaps": GapFamilies} {
		for _, f := range families[:len(families)-1] {
			params := examples[f.Name]
			if table == "gaps" {
				params = unitExamples[f.Name]
			}
			for _, want := range params {
				got, err := f.Fit(simulate(10_000, f.Dist(want).Quantile, table == "lengths"))
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(want) {
					t.Fatalf("%s %s: got %v, want %v", table, f.Name, got, want)
				}
				for i := range want {
					if math.Abs(got[i]/want[i]-1) > .06 {
						t.Errorf("%s %s: got %v, want %v", table, f.Name, got, want)
					}
				}
			}
		}
	}
}

// A limit that cuts the data does not bend the parameters, if the likelihood knows it.
func TestFitKnowsItsWindow(t *testing.T) {
	want := []float64{6, .9}
	whole := simulate(200_000, lognormal.Dist(want).Quantile, true)
	cut := Sample{Lo: whole.Lo, Hi: 500.5}
	for _, b := range whole.Bins {
		if b.Hi <= cut.Hi {
			cut.Bins = append(cut.Bins, b)
		}
	}
	cut.Hi = cut.Bins[len(cut.Bins)-1].Hi
	got, err := lognormal.Fit(cut)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(got[i]/want[i]-1) > .05 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// One million values of three lognormals are taken apart again within 3 %.
func TestMixtureOfAMillion(t *testing.T) {
	want := []float64{.5, 4, .4, .3, 6, .3, .2, 8, .5}
	truth := newMixture(want)
	pick := rand.New(rand.NewPCG(3, 4))
	s := simulate(1_000_000, func(u float64) float64 {
		p := pick.Float64()
		for _, c := range truth {
			if p -= c.w; p < 0 {
				return c.Quantile(u)
			}
		}
		return truth[2].Quantile(u)
	}, true)
	got, err := lognormalMix.Fit(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("got %d parameters %v, want %d", len(got), got, len(want))
	}
	for i := range want {
		if math.Abs(got[i]/want[i]-1) > .03 {
			t.Errorf("parameter %d: got %g, want %g", i, got[i], want[i])
		}
	}
}

// A hostile or hand-made set of parameters is an error with its place, never a panic.
func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		family string
		params []float64
		index  int
	}{
		{"gamma", []float64{1}, -1},
		{"gamma", []float64{1, math.NaN()}, 1},
		{"gamma", []float64{0, 1}, 0},
		{"lognormal", []float64{1, -1}, 1},
		{"lognormal_mix", nil, -1},
		{"lognormal_mix", []float64{1, 2}, -1},
		{"lognormal_mix", []float64{.5, 1, 1, .4, 2, 1}, 0},
		{"lognormal_mix", []float64{1.5, 1, 1, -.5, 2, 1}, 0},
		{"histogram", []float64{1, 0, 1, 1}, 2},
		{"histogram", []float64{1, 0, 2, .7, 3, .6, 4, 1}, 4},
		{"histogram", []float64{1, .1, 2, 1}, 1},
		{"histogram", []float64{1, 0}, -1},
	} {
		f, _ := lookup(Families, c.family)
		err, _ := f.Check(c.params).(*ParamError)
		if err == nil || err.Index != c.index {
			t.Errorf("%s%v: %v, want an error at %d", c.family, c.params, err, c.index)
		}
	}
}
