package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

var gamma = searched("gamma", []string{"shape", "scale"},
	func(p []float64) Dist { return gammaDist{p[0], p[1]} },
	func(mean, cv2 float64) []float64 { return []float64{1 / cv2, mean * cv2} })

var unitGamma = searched("gamma", []string{"shape"},
	func(p []float64) Dist { return gammaDist{p[0], 1 / p[0]} },
	func(_, cv2 float64) []float64 { return []float64{1 / cv2} })

// gammaDist is the gamma distribution, F(x) = P(shape, x/scale) with the
// regularised incomplete gamma function. The arguments are bounded here because
// mathext panics outside its domain.
type gammaDist struct{ shape, scale float64 }

func (d gammaDist) LogProb(x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	lg, _ := math.Lgamma(d.shape)
	return (d.shape-1)*math.Log(x/d.scale) - x/d.scale - lg - math.Log(d.scale)
}
func (d gammaDist) CDF(x float64) float64 { return mathext.GammaIncReg(d.shape, max(x, 0)/d.scale) }

// Survival goes through the CDF where x is small: nothing cancels there, and the
// series that mathext would sum is fifty times as slow.
func (d gammaDist) Survival(x float64) float64 {
	if x < d.scale {
		return 1 - d.CDF(x)
	}
	return mathext.GammaIncRegComp(d.shape, x/d.scale)
}

// Quantile solves for the logarithm of x, starting from the bound P(a, x) <= x^a/Gamma(a+1).
// mathext.GammaIncRegInv gives the same and takes several times as long.
func (d gammaDist) Quantile(p float64) float64 {
	if p <= 0 {
		return 0
	}
	if p >= 1 {
		return math.Inf(1)
	}
	lg, _ := math.Lgamma(d.shape + 1)
	lo := max((math.Log(p)+lg)/d.shape, -700)
	hi := max(lo, math.Log(d.shape)) + 2
	unit := gammaDist{d.shape, 1}
	for unit.Survival(math.Exp(hi)) > 1-p {
		hi++
	}
	return d.scale * math.Exp(invert(lo, hi, func(y float64) (f, slope float64) { return unit.excess(y, p) }))
}

// excess is ln F - ln p at x = exp(y) with its slope in y, and from the survival in the
// upper half: the logarithms are almost straight, so that Newton's method takes few steps.
func (d gammaDist) excess(y, p float64) (f, slope float64) {
	x := math.Exp(y)
	density := x * math.Exp(d.LogProb(x))
	if p < .5 {
		c := d.CDF(x)
		return math.Log(c / p), density / c
	}
	s := d.Survival(x)
	return math.Log((1 - p) / s), density / s
}
