package fit

import (
	"fmt"
	"math"
)

// Goodness says how far a model is from its data. The errors of quantiles are
// relative and signed: model over data, less 1. Where lengths were cut, the data are
// the estimate of Kaplan and Meier (1958) of what they would have been, as far
// as it goes; a quantile beyond that is compared as its end.
type Goodness struct {
	Count int64   `yaml:"count"`          // observations
	Bits  float64 `yaml:"bits,omitempty"` // a request of the smooth part costs, held out: fewer is better
	BIC   float64 `yaml:"bic,omitempty"`  // of the smooth part: smaller is better
	KS    float64 `yaml:"ks"`             // greatest distance of the cdfs
	W1    float64 `yaml:"w1"`             // area between the cdfs over the mean
	Q50   float64 `yaml:"q50"`            // error of the median
	Q90   float64 `yaml:"q90"`            // error of the 90 % quantile
	Q99   float64 `yaml:"q99"`            // error of the 99 % quantile
	Q999  float64 `yaml:"q99_9"`          // error of the 99.9 % quantile
	Noise Noise   `yaml:"noise"`          // what chance alone does at this count
}

// Noise is how far two samples of that size of one distribution lie apart: 95 % of
// the time no further.
type Noise struct {
	KS   float64 `yaml:"ks"`
	Q50  float64 `yaml:"q50"`
	Q90  float64 `yaml:"q90"`
	Q99  float64 `yaml:"q99"`
	Q999 float64 `yaml:"q99_9"`
}

// quantiler is what judge needs of a model, in the coordinate of the sample.
type quantiler interface {
	CDF(x float64) float64
	Quantile(p float64) float64
}

// Effects that are too small to matter: a family within them, or
// within the noise, is a good description whatever a test says at large n.
const (
	acceptKS   = .02
	acceptQ50  = .02
	acceptQ99  = .05
	acceptQ999 = .05 // beyond it the tail is spliced
)

func judge(s Sample, m quantiler) *Goodness {
	n := s.N()
	s = s.kaplanMeier()
	end := math.Inf(1)
	if len(s.Over) > 0 {
		end = s.Quantile(1)
	}
	mean, _ := s.Moments()
	off := func(p float64) float64 { return round(min(m.Quantile(p), end)/s.Quantile(p) - 1) }
	return &Goodness{
		Count: int64(n), KS: round(KS(s, m.CDF)), W1: round(Wasserstein(s, m.CDF) / mean),
		Q50: off(.5), Q90: off(.9), Q99: off(.99), Q999: off(.999),
		Noise: Noise{round(SmirnovFloor(n)), round(spread(s, .5)), round(spread(s, .9)), round(spread(s, .99)), round(spread(s, .999))},
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
