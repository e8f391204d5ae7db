package fit

import "math"

var hyperexponential = searched("hyperexponential", []string{"w", "mean", "ratio"},
	func(p []float64) Dist { return hyperexponentialDist{p[0], p[1] * p[2], p[1]} },
	func(m moments) [][]float64 {
		return [][]float64{{.5, 1.6 * m.mean, .25}, {.9, 6 * m.mean, .07}, {.1, 1.1 * m.mean, .02}}
	}).withTogether(twoComponents)

// unitHyperexponential has mean 1 whatever the share and the ratio of the two means.
var unitHyperexponential = searched("hyperexponential", []string{"w", "ratio"},
	func(p []float64) Dist {
		long := 1 / (p[0]*p[1] + 1 - p[0])
		return hyperexponentialDist{p[0], long * p[1], long}
	},
	func(moments) [][]float64 { return [][]float64{{.5, .25}, {.9, .07}, {.1, .02}} }).withTogether(twoComponents)

// twoComponents wants the first share to leave something to the other.
func twoComponents(params []float64) error {
	if params[0] > 1-minWeight {
		return &ParamError{0, "w leaves less than a hundredth to the other component"}
	}
	return nil
}

// hyperexponentialDist is an exponential of the mean short with probability w, else
// one of the mean long.
type hyperexponentialDist struct{ w, short, long float64 }

// LogProb implements Dist.
func (d hyperexponentialDist) LogProb(x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	return math.Log(d.w/d.short*math.Exp(-x/d.short) + (1-d.w)/d.long*math.Exp(-x/d.long))
}

// CDF implements Dist.
func (d hyperexponentialDist) CDF(x float64) float64 {
	x = max(x, 0)
	return -d.w*math.Expm1(-x/d.short) - (1-d.w)*math.Expm1(-x/d.long)
}

// Survival implements Dist.
func (d hyperexponentialDist) Survival(x float64) float64 {
	x = max(x, 0)
	return d.w*math.Exp(-x/d.short) + (1-d.w)*math.Exp(-x/d.long)
}

// Quantile lies between those of the two.
func (d hyperexponentialDist) Quantile(p float64) float64 {
	unit := math.Log(exponentialDist(1).Quantile(min(max(p, 1e-300), 1-1e-16)))
	return inverseCDF(d, p, unit+math.Log(d.short), unit+math.Log(d.long))
}
