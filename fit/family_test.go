package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// examples are parameters that each family is tried with.
var examples = map[string][][]float64{
	"exponential":             {{200}},
	"lognormal":               {{6, .9}},
	"gamma":                   {{.3, 500}, {4, 50}},
	"weibull":                 {{.6, 300}, {2, 100}},
	"log_logistic":            {{1.8, 300}},
	"lomax":                   {{1.8, 400}},
	"burr":                    {{2, .6, 300}, {1.2, 2.5, 900}},
	"inverse_gaussian":        {{400, .5}, {200, 3}},
	"double_pareto_lognormal": {{1.5, 2.5, 6, .5}, {3, .8, 7, .3}},
	"hyperexponential":        {{.7, 2000, .05}},
	"lognormal_pareto":        {{.85, 6.5, .9, 1500, 1.4}},
	"lognormal_mix":           {{.5, 4, .4, .3, 6, .3, .2, 8, .5}},
	"histogram":               {{1, 0, 10, .2, 100, .7, 120, .7, 1000, 1}},
}

var unitExamples = map[string][][]float64{
	"constant":         {nil},
	"exponential":      {nil},
	"gamma":            {{.3}, {4}},
	"lognormal":        {{.8}},
	"weibull":          {{.6}, {2}},
	"lomax":            {{1.4}},
	"hyperexponential": {{.8, .05}},
	"histogram":        {{0, 0, 2, .6, 5, .9, 20, 1}},
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

// CDF rises from 0 to 1, the survival is the rest of it, and Quantile inverts both to
// 1e-9, in the tails too, as far as x itself has digits.
func TestDistContract(t *testing.T) {
	var ps []float64
	for _, tail := range []float64{1e-12, 1e-9, 1e-6, 1e-4} {
		ps = append(ps, tail, 1-tail)
	}
	for p := .001; p < 1; p += .0037 {
		ps = append(ps, p)
	}
	slices.Sort(ps)
	each(t, func(t *testing.T, d Dist) {
		if _, ok := d.(constantDist); ok {
			t.Skip("has no inverse")
		}
		if c, s := d.CDF(0), d.Survival(0); c != 0 || s != 1 {
			t.Errorf("CDF(0) = %g, Survival(0) = %g", c, s)
		}
		prev := 0.
		for _, p := range ps {
			x := d.Quantile(p)
			c, s := d.CDF(x), d.Survival(x)
			digits := 8 * 2.2e-16 * x * math.Exp(d.LogProb(x))
			if math.Abs(c-p) > 1e-9*p+digits || math.Abs(s-(1-p)) > 1e-9*(1-p)+digits {
				t.Fatalf("CDF(Quantile(%g)) = %g, Survival is %g", p, c, s)
			}
			if c < prev {
				t.Fatalf("the CDF falls at %g", x)
			}
			prev = c
			if math.Abs(s+c-1) > 1e-12 {
				t.Fatalf("at %g the CDF and the survival add up to %g", x, s+c)
			}
			if back := d.Quantile(c); math.Abs(back/x-1) > 1e-9+1e-15/(x*math.Exp(d.LogProb(x))) {
				t.Fatalf("Quantile(CDF(%g)) = %g", x, back)
			}
		}
		for _, p := range []float64{0, 1} {
			if x := d.Quantile(p); math.IsNaN(x) || x < 0 {
				t.Errorf("Quantile(%g) = %g", p, x)
			}
		}
	})
}

// The density is the derivative of the CDF.
func TestDensityIntegratesToCDF(t *testing.T) {
	each(t, func(t *testing.T, d Dist) {
		if _, ok := d.(constantDist); ok {
			t.Skip("has no density")
		}
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
			for next := 1e-7; next < 1e9; next *= 1.004 {
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

// A large sample of a family gives its parameters back within 3 %, through rounding to
// tokens and grouping, and Check accepts them. The sample is stratified, so
// that what is left is the error of the fit.
func TestFitRecoversParameters(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for table, families := range map[string][]Family{"lengths": Families, "gaps": GapFamilies} {
		for _, f := range families[:len(families)-1] {
			params := examples[f.Name]
			if table == "gaps" {
				params = unitExamples[f.Name]
			}
			for _, want := range params {
				i := -.5
				got, err := f.Fit(simulate(n, func(u float64) float64 { i++; return f.Dist(want).Quantile(i / n) }, table == "lengths"))
				if err != nil {
					t.Fatal(err)
				}
				if err := f.Check(roundAll(got)); err != nil {
					t.Errorf("%s %s: %v", table, f.Name, err)
				}
				if len(got) != len(want) {
					t.Fatalf("%s %s: got %v, want %v", table, f.Name, got, want)
				}
				for i := range want {
					if math.Abs(got[i]/want[i]-1) > .03 {
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

// One million values of three lognormals, and of a lognormal with a Pareto's tail, are
// taken apart again within 3 %.
func TestMixturesOfAMillion(t *testing.T) {
	for _, f := range []Family{lognormalMix, lognormalPareto} {
		want := examples[f.Name][0]
		got, err := f.Fit(simulate(1_000_000, parts(f, want), true))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: got %d parameters %v, want %d", f.Name, len(got), got, len(want))
		}
		for i := range want {
			if math.Abs(got[i]/want[i]-1) > .03 {
				t.Errorf("%s, parameter %d: got %g, want %g", f.Name, i, got[i], want[i])
			}
		}
	}
}

// parts draws a component and then from it, which is quicker than to invert the whole.
func parts(f Family, params []float64) func(u float64) float64 {
	pick := rand.New(rand.NewPCG(3, 4))
	var m mixture
	switch d := f.Dist(params).(type) {
	case mixture:
		m = d
	case lognormalParetoDist:
		return func(u float64) float64 {
			if pick.Float64() < d.w {
				return d.body.Quantile(u)
			}
			return d.xm * math.Pow(1-u, -1/d.alpha)
		}
	}
	return func(u float64) float64 {
		p := pick.Float64()
		for _, c := range m {
			if p -= c.w; p < 0 {
				return c.Quantile(u)
			}
		}
		return m[len(m)-1].Quantile(u)
	}
}

// Data that no family was made for give an error or a valid fit, never a panic or NaN.
func TestFitOfOddSamples(t *testing.T) {
	inf := math.Inf(1)
	for name, s := range map[string]Sample{
		"nothing":         {Lo: .5, Hi: inf},
		"one":             {Bins: []Bin{{6.5, 7.5, 1}}, Lo: .5, Hi: inf},
		"one token":       {Bins: []Bin{{.5, 1.5, 1e6}}, Lo: .5, Hi: inf},
		"constant":        {Bins: []Bin{{127.5, 128.5, 30}}, Lo: .5, Hi: inf},
		"huge":            {Bins: []Bin{{2.14e9, 2.147483647e9, 30}}, Lo: .5, Hi: inf},
		"two":             {Bins: []Bin{{.5, 1.5, 15}, {99999.5, 100000.5, 15}}, Lo: .5, Hi: inf},
		"an outlier":      {Bins: []Bin{{9.5, 10.5, 1e6}, {1e6, 1.01e6, 1}}, Lo: .5, Hi: inf},
		"cut by a window": {Bins: []Bin{{.5, 1.5, 10}, {1.5, 2.5, 20}, {2.5, 3.5, 40}}, Lo: .5, Hi: 3.5},
		"full window":     {Bins: []Bin{{.5, 3.5, 40}}, Lo: .5, Hi: 3.5},
		"all cut":         {Over: []Over{{99.5, 30}}, Lo: .5, Hi: inf},
		"most cut":        {Bins: []Bin{{3.5, 4.5, 1}}, Over: []Over{{99.5, 1e6}}, Lo: .5, Hi: inf},
		"cut early":       {Bins: []Bin{{99.5, 100.5, 50}}, Over: []Over{{.5, 50}}, Lo: .5, Hi: inf},
		"no pause":        {Bins: []Bin{{0, 1e-6, 30}}, Hi: inf},
		"rare pauses":     {Bins: []Bin{{0, 1e-6, 30}, {900, 909, 1}}, Hi: inf},
		"equal pauses":    {Bins: []Bin{{.995, 1.005, 1e4}}, Hi: inf},
	} {
		for _, f := range slices.Concat(Families, GapFamilies) {
			params, err := f.Fit(s)
			if err != nil {
				continue
			}
			params = roundAll(params)
			if err := f.Check(params); err != nil {
				t.Errorf("%s of %s: %v", f.Name, name, err)
				continue
			}
			d := f.Dist(params)
			for _, x := range []float64{s.LogLik(d), d.CDF(10), d.Survival(10), d.Quantile(.5), d.Quantile(1 - 1e-9)} {
				if math.IsNaN(x) || math.IsInf(x, 1) {
					t.Errorf("%s%v of %s is %g", f.Name, params, name, x)
				}
			}
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
		{"lognormal", []float64{1, .019}, 1},
		{"lognormal_mix", []float64{.009, 1, 1, .991, 2, 1}, 0},
		{"lognormal_mix", []float64{.5, 1, 1, .5, 2, .01}, 5},
		{"lognormal_pareto", []float64{.995, 1, 1, 50, 2}, 0},
		{"lognormal_pareto", []float64{.005, 1, 1, 50, 2}, 0},
		{"lognormal_pareto", []float64{.5, 1, .01, 50, 2}, 2},
		{"lognormal_pareto", []float64{.5, 1, 1, 50, .29}, 4},
		{"lognormal_pareto", []float64{.5, 1, 1, 50, 21}, 4},
		{"hyperexponential", []float64{.995, 10, .5}, 0},
		{"hyperexponential", []float64{.5, 10, 1.5}, 2},
		{"double_pareto_lognormal", []float64{1, .2, 3, 1}, 1},
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
