package fit

import (
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
	Fit    func(Sample) ([]float64, error) // by maximum likelihood of the grouped, truncated data
	Dist   func(params []float64) Dist     // of parameters that Check accepts

	repeats  bool
	fixed    int                          // parameters that the others determine
	together func(params []float64) error // what they must fulfil beside each one's limits
}

// Families are the candidates for lengths. The histogram comes last: it is what a
// profile holds where no named family is near enough.
var Families = []Family{exponential, gamma, lognormal, weibull, lomax, lognormalMix, histogram}

// GapFamilies are the candidates for the pauses between requests, in units of
// their mean: each has mean 1, so that the rate alone says how many come.
var GapFamilies = []Family{unitExponential, unitGamma, unitLognormal, unitWeibull, unitLomax, unitHistogram}

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
// where the special functions fail.
var limits = map[string][2]float64{
	"mean":  {1e-9, 1e12},
	"scale": {1e-12, 1e15},
	"shape": {.02, 500},
	"alpha": {.3, 50},
	"mu":    {-50, 50},
	"sigma": {.005, 20},
	"w":     {0, 1},
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
