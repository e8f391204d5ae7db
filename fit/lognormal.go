package fit

import "math"

var lognormal = searched("lognormal", []string{"mu", "sigma"},
	func(p []float64) Dist { return lognormalDist{p[0], p[1]} },
	func(m moments) [][]float64 { return [][]float64{{m.mu, m.sd}} })

var unitLognormal = searched("lognormal", []string{"sigma"},
	func(p []float64) Dist { return lognormalDist{-p[0] * p[0] / 2, p[0]} },
	func(m moments) [][]float64 { return [][]float64{{m.sd}} })

// lognormalDist is the distribution of exp(mu + sigma Z), Z standard normal.
type lognormalDist struct{ mu, sigma float64 }

func (d lognormalDist) z(x float64) float64 { return (math.Log(max(x, 0)) - d.mu) / d.sigma }

// LogProb implements Dist.
func (d lognormalDist) LogProb(x float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	z := d.z(x)
	return -z*z/2 - math.Log(x*d.sigma) - math.Log(2*math.Pi)/2
}

// CDF implements Dist.
func (d lognormalDist) CDF(x float64) float64 { return NormalCDF(d.z(x)) }

// Survival implements Dist.
func (d lognormalDist) Survival(x float64) float64 { return NormalCDF(-d.z(x)) }

// Quantile implements Dist.
func (d lognormalDist) Quantile(p float64) float64 { return math.Exp(d.mu + d.sigma*NormalQuantile(p)) }
