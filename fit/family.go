package fit

import (
	"errors"
	"fmt"
	"math"
)

// A Dist is a continuous distribution of a positive quantity. Survival is 1-CDF
// without its cancellation. Quantile inverts the CDF and is all that sampling
// uses, so that one uniform gives one value on every version of Go.
type Dist interface {
	LogProb(x float64) float64
	CDF(x float64) float64
	Survival(x float64) float64
	Quantile(p float64) float64
}

// A Family is a set of distributions with the names of its parameters. A family of
// variable size repeats the names: a mixture of two is w, mu, sigma, w, mu, sigma.
type Family struct {
	Name   string
	Params []string
	Fit    func(Sample) ([]float64, error) // by maximum likelihood of the grouped, truncated, censored data
	Dist   func(params []float64) Dist     // of parameters that Check accepts

	// refit climbs to the nearest maximum from parameters that are near one already;
	// without it Fit is as quick.
	refit    func(s Sample, near []float64) ([]float64, error)
	sizes    func(Sample) ([][]float64, error) // what Fit chooses from, best first, where it fits several sizes
	repeats  bool
	fixed    int                          // parameters that the others determine
	together func(params []float64) error // what they must fulfil beside each one's limits
}

// Families are the candidates for lengths, in the order in which they are tried: the
// simple ones first. The histogram comes last: it is what a profile holds where no
// named family is near enough.
var Families = []Family{
	exponential, lognormal, gamma, weibull, logLogistic, lomax, burr, inverseGaussian,
	doubleParetoLognormal, hyperexponential, lognormalPareto, lognormalMix, histogram,
}

// GapFamilies are the candidates for the pauses between requests, in units of
// their mean: each has mean 1, so that the rate alone says how many come.
var GapFamilies = []Family{
	unitConstant, unitExponential, unitGamma, unitLognormal, unitWeibull, unitLomax, unitHyperexponential, unitHistogram,
}

func lookup(families []Family, name string) (Family, bool) {
	for _, f := range families {
		if f.Name == name {
			return f, true
		}
	}
	return Family{}, false
}

// limits are the bounds of each parameter by its name. They are wide for anything
// that was measured and keep a search, or a hand-written profile, from the corners
// where the special functions fail, and where a likelihood has no maximum: a
// component that shrinks to one length, or to no weight, or a Pareto of any exponent.
var limits = map[string][2]float64{
	"mean":  {1e-9, 1e12},
	"scale": {1e-12, 1e15},
	"shape": {.02, 500},
	"tail":  {.05, 100},
	"alpha": {.3, 20},
	"beta":  {.3, 20},
	"mu":    {-50, 50},
	"sigma": {minSigma, 20},
	"w":     {minWeight, 1},
	"ratio": {1e-6, 1},
	"xm":    {1e-9, 1e12},
	"xi":    {-.5, 2},
	"width": {1e-9, 1e12},
	"edge":  {0, 1e12},
	"cum":   {0, 1},
}

// A ParamError says which parameter of a distribution is wrong. Index is -1 where
// it is their number.
type ParamError struct {
	Index int
	Msg   string
}

// Error names the place as the YAML does.
func (e *ParamError) Error() string {
	if e.Index < 0 {
		return "params: " + e.Msg
	}
	return fmt.Sprintf("params[%d]: %s", e.Index, e.Msg)
}

// Check says whether params make a distribution of the family, by a *ParamError.
func (f Family) Check(params []float64) error {
	k := len(f.Params)
	if n := len(params); n != k && (!f.repeats || n == 0 || n%k != 0) {
		return &ParamError{-1, fmt.Sprintf("%s takes %v, not %d numbers", f.Name, f.Params, n)}
	}
	for i, p := range params {
		name := f.Params[i%k]
		if l := limits[name]; !(p >= l[0] && p <= l[1]) {
			return &ParamError{i, fmt.Sprintf("%s is %g and must lie in %g..%g", name, p, l[0], l[1])}
		}
	}
	if f.together == nil {
		return nil
	}
	return f.together(params)
}

// free is the number of parameters that BIC charges for.
func (f Family) free(params []float64) float64 { return float64(len(params) - f.fixed) }

// BIC returns -2 ln L + k ln n (Schwarz, 1978): smaller is better.
func (f Family) BIC(s Sample, params []float64) float64 {
	return -2*s.LogLik(f.Dist(params)) + f.free(params)*math.Log(s.N())
}

var (
	errNoData = errors.New("there is nothing to fit")
	errNoFit  = errors.New("no likelihood is finite")
)

// searched returns a family that is fitted by climbing from every one of its starts.
func searched(name string, params []string, dist func([]float64) Dist, starts func(moments) [][]float64) Family {
	f := Family{Name: name, Params: params, Dist: dist}
	f.Fit = func(s Sample) ([]float64, error) {
		if len(s.Bins) == 0 {
			return nil, errNoData
		}
		return f.climbs(s, starts(s.shape()))
	}
	f.refit = func(s Sample, near []float64) ([]float64, error) { return newClimber(&f, s).to(near, nil, nearClimb) }
	return f
}

// climbs goes a few steps from every start, and to the top from the best of them.
func (f *Family) climbs(s Sample, starts [][]float64) ([]float64, error) {
	c := newClimber(f, s)
	best, top := starts[0], math.Inf(-1)
	for _, start := range starts {
		if len(starts) == 1 {
			break
		}
		if x, ll := c.climb(start, nil, shortClimb); ll > top {
			best, top = x, ll
		}
	}
	return c.to(best, nil, longClimb)
}

// withTogether adds a condition that ties parameters to each other.
func (f Family) withTogether(check func([]float64) error) Family {
	f.together = check
	return f
}

// moments are what the starts of a search are taken from.
type moments struct {
	mean, cv2 float64 // squared coefficient of variation
	mu, sd    float64 // of the logarithm
}

// shape returns the moments, those that lie beyond a limit at the limit.
func (s Sample) shape() (m moments) {
	var n, m2, l2 float64
	add := func(x, k float64) {
		l := math.Log(x)
		n, m.mean, m2, m.mu, l2 = n+k, m.mean+k*x, m2+k*x*x, m.mu+k*l, l2+k*l*l
	}
	for _, b := range s.Bins {
		add(b.mid(), b.N)
	}
	for _, o := range s.Over {
		add(o.Above, o.N)
	}
	m.mean, m.mu = m.mean/n, m.mu/n
	m.cv2 = max(m2/n/(m.mean*m.mean)-1, 1e-4)
	m.sd = math.Sqrt(max(l2/n-m.mu*m.mu, minSigma*minSigma))
	return m
}
