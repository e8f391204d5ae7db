package fit

import "math"

var lomax = searched("lomax", []string{"alpha", "scale"},
	func(p []float64) Dist { return lomaxDist{p[0], p[1]} },
	func(m moments) [][]float64 {
		var starts [][]float64
		for _, alpha := range []float64{1.5, 6} { // each with the median exp(mu)
			starts = append(starts, []float64{alpha, math.Exp(m.mu) / (math.Exp2(1/alpha) - 1)})
		}
		return starts
	})

// A mean exists only for alpha > 1, so that the unit Lomax is told by alpha-1.
var unitLomax = searched("lomax", []string{"shape"},
	func(p []float64) Dist { return lomaxDist{1 + p[0], p[0]} },
	func(moments) [][]float64 { return [][]float64{{.5}, {5}} })

// lomaxDist is the Pareto of type II: F(x) = 1 - (1 + x/scale)^-alpha.
type lomaxDist struct{ alpha, scale float64 }

func (d lomaxDist) log(x float64) float64 { return math.Log1p(max(x, 0) / d.scale) }

// LogProb implements Dist.
func (d lomaxDist) LogProb(x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	return math.Log(d.alpha/d.scale) - (d.alpha+1)*d.log(x)
}

// CDF implements Dist.
func (d lomaxDist) CDF(x float64) float64 { return -math.Expm1(-d.alpha * d.log(x)) }

// Survival implements Dist.
func (d lomaxDist) Survival(x float64) float64 { return math.Exp(-d.alpha * d.log(x)) }

// Quantile implements Dist.
func (d lomaxDist) Quantile(p float64) float64 {
	return d.scale * math.Expm1(-math.Log1p(-p)/d.alpha)
}
