package fit

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// searched returns a family that is fitted by a search from start, the values that
// match the mean and the squared coefficient of variation.
func searched(name string, params []string, dist func([]float64) Dist, start func(mean, cv2 float64) []float64) Family {
	f := Family{Name: name, Params: params, Dist: dist}
	f.Fit = func(s Sample) ([]float64, error) {
		mean, variance := s.Moments()
		return f.search(s, start(mean, max(variance/(mean*mean), 1e-4)))
	}
	return f
}

var errNoFit = errors.New("the search found no finite likelihood")

// search returns the family's parameters of greatest likelihood near start. It
// walks in their logarithms, for all of them are positive.
func (f *Family) search(s Sample, start []float64) ([]float64, error) {
	x := make([]float64, len(start))
	for i, p := range start {
		l := limits[f.Params[i]]
		x[i] = math.Log(min(max(p, l[0]), l[1]))
	}
	p := optimize.Problem{Func: func(x []float64) float64 { return -f.logLik(s, x) }}
	set := &optimize.Settings{FuncEvaluations: 500, Converger: &optimize.FunctionConverge{Absolute: 1e-3, Iterations: 15}}
	r, err := optimize.Minimize(p, x, set, &optimize.NelderMead{})
	if r == nil {
		return nil, err
	}
	if math.IsInf(r.F, 0) {
		return nil, errNoFit
	}
	return exps(r.X), nil
}

// logLik recovers because a panic of a special function would end the program:
// optimize calls it in a goroutine of its own.
func (f *Family) logLik(s Sample, logs []float64) (ll float64) {
	defer func() {
		if recover() != nil || math.IsNaN(ll) {
			ll = math.Inf(-1)
		}
	}()
	params := exps(logs)
	if f.Check(params) != nil {
		return math.Inf(-1)
	}
	return s.LogLik(f.Dist(params))
}

func exps(logs []float64) []float64 {
	out := make([]float64, len(logs))
	for i, l := range logs {
		out[i] = math.Exp(l)
	}
	return out
}

// invert finds the zero of a rising f between lo and hi by Newton's method, with a
// bisection wherever that would leave the bracket.
func invert(lo, hi float64, f func(y float64) (value, slope float64)) float64 {
	y := (lo + hi) / 2
	for range 200 {
		value, slope := f(y)
		if value > 0 {
			hi = y
		} else {
			lo = y
		}
		next := y - value/slope
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-y) <= 1e-13*(1+math.Abs(y)) {
			return next
		}
		y = next
	}
	return y
}
