package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Goodness says how far a model is from its data. The errors of quantiles are
// relative and signed: model over data, less 1.
type Goodness struct {
	Count int64   `yaml:"count"`         // observations
	BIC   float64 `yaml:"bic,omitempty"` // of the smooth part: smaller is better
	KS    float64 `yaml:"ks"`            // greatest distance of the cdfs
	W1    float64 `yaml:"w1"`            // area between the cdfs over the mean
	Q50   float64 `yaml:"q50"`           // error of the median
	Q90   float64 `yaml:"q90"`           // error of the 90 % quantile
	Q99   float64 `yaml:"q99"`           // error of the 99 % quantile
	Noise Noise   `yaml:"noise"`         // what chance alone does at this count
}

// Noise is how far two samples of that size of one distribution lie apart: 95 % of
// the time no further.
type Noise struct {
	KS  float64 `yaml:"ks"`
	Q50 float64 `yaml:"q50"`
	Q90 float64 `yaml:"q90"`
	Q99 float64 `yaml:"q99"`
}

// A Candidate is a family that was tried, and why it was not taken.
type Candidate struct {
	Family string  `yaml:"family"`
	BIC    float64 `yaml:"bic,omitempty"`
	KS     float64 `yaml:"ks,omitempty"`
	Q50    float64 `yaml:"q50,omitempty"` // relative error
	Q99    float64 `yaml:"q99,omitempty"` // relative error
	Why    string  `yaml:"why"`
}

// quantiler is what judge needs of a model, in the coordinate of the sample.
type quantiler interface {
	CDF(x float64) float64
	Quantile(p float64) float64
}

// Effects that are too small to matter: a family within them, or
// within the noise, is a good description whatever a test says at large n.
const (
	acceptKS  = .02
	acceptQ50 = .02
	acceptQ99 = .05
)

func judge(s Sample, m quantiler) *Goodness {
	n := s.N()
	mean, _ := s.Moments()
	off := func(p float64) float64 { return round(m.Quantile(p)/s.Quantile(p) - 1) }
	return &Goodness{
		Count: int64(n), KS: round(KS(s, m.CDF)), W1: round(Wasserstein(s, m.CDF) / mean),
		Q50: off(.5), Q90: off(.9), Q99: off(.99),
		Noise: Noise{round(SmirnovFloor(n)), round(spread(s, .5)), round(spread(s, .9)), round(spread(s, .99))},
	}
}

// spread is the noise of a quantile, relative: half the distance between the
// quantiles of p -+ 1.96 sqrt(2p(1-p)/n), the interval of order statistics; and no
// less than a bin, for nothing finer can be read off (a median of 13 tokens may be 14).
func spread(s Sample, p float64) float64 {
	d := 1.96 * math.Sqrt(2*p*(1-p)/s.N())
	half := (s.Quantile(min(p+d, 1)) - s.Quantile(max(p-d, 0))) / 2
	return max(half, s.width(p)) / s.Quantile(p)
}

// misses says by what g is not acceptable, and by how many times the bound.
func (g *Goodness) misses() (why string, times float64) {
	for _, c := range []struct {
		name       string
		got, bound float64
	}{
		{"ks", g.KS, max(acceptKS, g.Noise.KS)},
		{"q50", g.Q50, max(acceptQ50, g.Noise.Q50)},
		{"q99", g.Q99, max(acceptQ99, g.Noise.Q99)},
	} {
		if r := math.Abs(c.got) / c.bound; !(r <= max(times, 1)) {
			why, times = fmt.Sprintf("%s is %.3g, more than %.3g", c.name, c.got, c.bound), r
		}
	}
	return why, times
}

// A choice is the family taken and what is known of the others.
type choice struct {
	family   string
	params   []float64
	fit      *Goodness
	closest  string
	rejected []Candidate
}

type trial struct {
	Candidate
	params []float64
	fit    *Goodness
	times  float64 // of the bound, if it misses
}

// choose fits every family to s and takes the one of least BIC among those that are
// acceptable. If none is, it takes the histogram, the last of the families, of the
// same data ungrouped.
func choose(families []Family, s, ungrouped Sample, judge func(Family, []float64) *Goodness) (choice, error) {
	last := len(families) - 1
	var trials []trial
	for _, f := range families[:last] {
		trials = append(trials, try(f, s, judge))
	}
	slices.SortStableFunc(trials, func(a, b trial) int { return cmp.Compare(a.BIC, b.BIC) })
	taken := slices.IndexFunc(trials, func(t trial) bool { return t.Why == "" })
	if taken < 0 {
		c, err := fallBack(families[last], ungrouped, judge)
		c.closest = closest(trials)
		c.rejected = rejected(trials)
		return c, err
	}
	t := trials[taken]
	for i := taken + 1; i < len(trials); i++ {
		if trials[i].Why == "" {
			trials[i].Why = "bic is greater"
		}
	}
	return choice{t.Family, t.params, t.fit, "", rejected(slices.Delete(trials, taken, taken+1))}, nil
}

// try fits one family and judges it as it would be written, rounded.
func try(f Family, s Sample, judge func(Family, []float64) *Goodness) trial {
	t := trial{Candidate: Candidate{Family: f.Name}, times: math.Inf(1)}
	params, err := f.Fit(s)
	if err == nil {
		params = roundAll(params)
		err = f.Check(params)
	}
	if err != nil {
		t.BIC = math.MaxFloat64
		t.Why = err.Error()
		return t
	}
	t.params, t.BIC, t.fit = params, round(f.BIC(s, params)), judge(f, params)
	t.fit.BIC = t.BIC
	t.KS, t.Q50, t.Q99 = t.fit.KS, t.fit.Q50, t.fit.Q99
	t.Why, t.times = t.fit.misses()
	return t
}

func fallBack(f Family, s Sample, judge func(Family, []float64) *Goodness) (choice, error) {
	params, err := f.Fit(s)
	if err != nil {
		return choice{}, err
	}
	params = roundAll(params)
	return choice{family: f.Name, params: params, fit: judge(f, params)}, f.Check(params)
}

func closest(trials []trial) string {
	best := slices.MinFunc(trials, func(a, b trial) int { return cmp.Compare(a.times, b.times) })
	return best.Family + ": " + best.Why
}

func rejected(trials []trial) []Candidate {
	var out []Candidate
	for _, t := range trials {
		if t.BIC == math.MaxFloat64 {
			t.BIC = 0
		}
		out = append(out, t.Candidate)
	}
	return out
}
