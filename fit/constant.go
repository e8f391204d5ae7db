package fit

import "math"

// unitConstant is a steady beat: every pause is the mean.
var unitConstant = Family{
	Name: "constant",
	Fit:  func(Sample) ([]float64, error) { return nil, nil },
	Dist: func([]float64) Dist { return constantDist(1) },
}

// constantDist is all at one value.
type constantDist float64

// LogProb implements Dist.
func (v constantDist) LogProb(x float64) float64 {
	if x != float64(v) {
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// CDF implements Dist.
func (v constantDist) CDF(x float64) float64 {
	if x < float64(v) {
		return 0
	}
	return 1
}

// Survival implements Dist.
func (v constantDist) Survival(x float64) float64 { return 1 - v.CDF(x) }

// Quantile implements Dist.
func (v constantDist) Quantile(float64) float64 { return float64(v) }
