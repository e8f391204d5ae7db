package fit

import (
	"math"
	"slices"
)

var lognormalPareto = newLognormalPareto()

// An initialiser of its own, for the fit climbs with the family that it is part of.
func newLognormalPareto() Family {
	f := Family{
		Name: "lognormal_pareto", Params: []string{"w", "mu", "sigma", "xm", "alpha"},
		Dist:     func(p []float64) Dist { return lognormalParetoDist{p[0], lognormalDist{p[1], p[2]}, p[3], p[4]} },
		together: twoComponents,
	}
	f.Fit = func(s Sample) ([]float64, error) { return fitLognormalPareto(&f, s) }
	f.refit = func(s Sample, near []float64) ([]float64, error) {
		return newClimber(&f, s).to(near, []string{"xm"}, nearClimb)
	}
	return f
}

// The density jumps where the Pareto begins, so that the likelihood has a kink at every
// edge of a bin and is not to be climbed in xm: quantiles are tried, and
// then ever smaller steps from the best of them. Beyond the median and the 99 %
// quantile it does not go: a Pareto of everything, or of three requests, is no tail.
func fitLognormalPareto(f *Family, s Sample) ([]float64, error) {
	if len(s.Bins) == 0 {
		return nil, errNoData
	}
	m := s.shape()
	c := newClimber(f, s)
	var best []float64
	top := math.Inf(-1)
	try := func(start []float64, xm float64, steps int) bool {
		start[3] = xm
		x, ll := c.climb(start, []string{"xm"}, steps)
		if !(ll > top) {
			return false
		}
		best, top = x, ll
		return true
	}
	known := s.kaplanMeier()
	least, most := known.Quantile(.5), known.Quantile(.99)
	for p := .5; p < .995; p += .07 {
		xm := known.Quantile(p)
		try([]float64{max(p, .6), m.mu, m.sd, 0, 1.5}, min(max(xm, least), most), shortClimb)
	}
	if best == nil {
		return nil, errNoFit
	}
	for by := 1.2; by > 1.001; by = 1 + (by-1)/2 {
		for _, factor := range []float64{by, 1 / by} {
			xm := best[3] * factor
			for xm >= least && xm <= most && try(slices.Clone(best), xm, shortClimb) {
				xm *= factor
			}
		}
	}
	return c.to(best, []string{"xm"}, longClimb)
}

// lognormalParetoDist is lognormal with probability w, else a Pareto from xm on.
type lognormalParetoDist struct {
	w         float64
	body      lognormalDist
	xm, alpha float64
}

func (d lognormalParetoDist) pareto(x float64) float64 {
	return math.Exp(-d.alpha * math.Log(max(x/d.xm, 1)))
}

// LogProb implements Dist.
func (d lognormalParetoDist) LogProb(x float64) float64 {
	p := d.w * math.Exp(d.body.LogProb(x))
	if x >= d.xm {
		p += (1 - d.w) * d.alpha / x * d.pareto(x)
	}
	return math.Log(p)
}

// CDF implements Dist.
func (d lognormalParetoDist) CDF(x float64) float64 {
	return d.w*d.body.CDF(x) - (1-d.w)*math.Expm1(-d.alpha*math.Log(max(x/d.xm, 1)))
}

// Survival implements Dist.
func (d lognormalParetoDist) Survival(x float64) float64 {
	return d.w*d.body.Survival(x) + (1-d.w)*d.pareto(x)
}

// Quantile implements Dist.
func (d lognormalParetoDist) Quantile(p float64) float64 {
	l := math.Log(d.xm)
	return inverseCDF(d, p, min(d.body.mu, l)-1, max(d.body.mu, l)+1)
}
