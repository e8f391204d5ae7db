package fit

import "math"

var weibull = searched("weibull", []string{"shape", "scale"},
	func(p []float64) Dist { return weibullDist{p[0], p[1]} },
	func(m moments) [][]float64 {
		k := weibullShape(m)
		return [][]float64{{k, math.Exp(m.mu + eulerGamma/k)}, {1, m.mean}}
	})

var unitWeibull = searched("weibull", []string{"shape"},
	func(p []float64) Dist { return weibullDist{p[0], 1 / math.Gamma(1+1/p[0])} },
	func(m moments) [][]float64 { return [][]float64{{weibullShape(m)}} })

const eulerGamma = 0.5772156649015329

// weibullShape is the shape of that deviation of the logarithm, pi/(sqrt(6) k).
func weibullShape(m moments) float64 { return min(max(math.Pi/math.Sqrt(6)/m.sd, .1), 50) }

// weibullDist is F(x) = 1 - exp(-(x/scale)^shape).
type weibullDist struct{ shape, scale float64 }

func (d weibullDist) power(x float64) float64 { return math.Pow(max(x, 0)/d.scale, d.shape) }

// LogProb implements Dist.
func (d weibullDist) LogProb(x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	return math.Log(d.shape/d.scale) + (d.shape-1)*math.Log(x/d.scale) - d.power(x)
}

// CDF implements Dist.
func (d weibullDist) CDF(x float64) float64 { return -math.Expm1(-d.power(x)) }

// Survival implements Dist.
func (d weibullDist) Survival(x float64) float64 { return math.Exp(-d.power(x)) }

// Quantile implements Dist.
func (d weibullDist) Quantile(p float64) float64 {
	return d.scale * math.Pow(-math.Log1p(-p), 1/d.shape)
}
