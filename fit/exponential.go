package fit

import "math"

var exponential = searched("exponential", []string{"mean"},
	func(p []float64) Dist { return exponentialDist(p[0]) },
	func(m moments) [][]float64 { return [][]float64{{m.mean}} })

var unitExponential = Family{
	Name: "exponential",
	Fit:  func(Sample) ([]float64, error) { return nil, nil },
	Dist: func([]float64) Dist { return exponentialDist(1) },
}

// exponentialDist is the exponential of that mean: F(x) = 1 - exp(-x/mean).
type exponentialDist float64

// LogProb implements Dist.
func (m exponentialDist) LogProb(x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	return -x/float64(m) - math.Log(float64(m))
}

// CDF implements Dist.
func (m exponentialDist) CDF(x float64) float64 { return -math.Expm1(-max(x, 0) / float64(m)) }

// Survival implements Dist.
func (m exponentialDist) Survival(x float64) float64 { return math.Exp(-max(x, 0) / float64(m)) }

// Quantile implements Dist.
func (m exponentialDist) Quantile(p float64) float64 { return -float64(m) * math.Log1p(-p) }
