package fit

import "math"

var inverseGaussian = searched("inverse_gaussian", []string{"mean", "shape"},
	func(p []float64) Dist { return inverseGaussianDist{p[0], p[1]} },
	func(m moments) [][]float64 { return [][]float64{{m.mean, 1 / m.cv2}, {m.mean, 1 / (m.sd * m.sd)}} })

// inverseGaussianDist is the time in which a Brownian motion with drift reaches a
// level (Schroedinger, 1915). Its lambda is mean * shape.
type inverseGaussianDist struct{ mean, shape float64 }

// LogProb implements Dist.
func (d inverseGaussianDist) LogProb(x float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	a, _ := d.arguments(x)
	return (math.Log(d.mean*d.shape/(2*math.Pi)) - 3*math.Log(x) - a*a) / 2
}

// arguments are those of F(x) = Phi(a) + exp(2 shape) Phi(-b), where b^2 = a^2 + 4 shape.
func (d inverseGaussianDist) arguments(x float64) (a, b float64) {
	r := x / d.mean
	k := math.Sqrt(d.shape / r)
	return k * (r - 1), k * (r + 1)
}

// reflected is exp(2 shape) Phi(-b), whose factors would overflow and underflow.
func reflected(a, b float64) float64 { return math.Exp(-a*a/2) * erfcx(b/math.Sqrt2) / 2 }

// CDF implements Dist.
func (d inverseGaussianDist) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	a, b := d.arguments(x)
	return NormalCDF(a) + reflected(a, b)
}

// Survival implements Dist.
func (d inverseGaussianDist) Survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	a, b := d.arguments(x)
	if a <= 0 {
		return NormalCDF(-a) - reflected(a, b)
	}
	return math.Exp(-a*a/2) * (erfcx(a/math.Sqrt2) - erfcx(b/math.Sqrt2)) / 2
}

// Quantile implements Dist.
func (d inverseGaussianDist) Quantile(p float64) float64 {
	l := math.Log(d.mean)
	return inverseCDF(d, p, l-2, l+2)
}
