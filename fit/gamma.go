package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

var gamma = searched("gamma", []string{"shape", "scale"},
	func(p []float64) Dist { return gammaDist{p[0], p[1]} },
	func(m moments) [][]float64 {
		a := gammaShape(m)
		return [][]float64{{a, m.mean / a}}
	})

var unitGamma = searched("gamma", []string{"shape"},
	func(p []float64) Dist { return gammaDist{p[0], 1 / p[0]} },
	func(m moments) [][]float64 { return [][]float64{{gammaShape(m)}} })

// gammaShape is near the shape of greatest likelihood of ungrouped data (Minka, 2002).
func gammaShape(m moments) float64 {
	s := max(math.Log(m.mean)-m.mu, 1e-3)
	return (3 - s + math.Sqrt((s-3)*(s-3)+24*s)) / (12 * s)
}

// gammaDist is the gamma distribution, F(x) = P(shape, x/scale) with the
// regularised incomplete gamma function. The arguments are bounded here because
// mathext panics outside its domain.
type gammaDist struct{ shape, scale float64 }

// LogProb implements Dist.
func (d gammaDist) LogProb(x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	lg, _ := math.Lgamma(d.shape)
	return (d.shape-1)*math.Log(x/d.scale) - x/d.scale - lg - math.Log(d.scale)
}

// CDF implements Dist.
func (d gammaDist) CDF(x float64) float64 { return mathext.GammaIncReg(d.shape, max(x, 0)/d.scale) }

// Survival goes through the CDF where x is small: nothing cancels there, and the
// series that mathext would sum is fifty times as slow.
func (d gammaDist) Survival(x float64) float64 {
	if x < d.scale {
		return 1 - d.CDF(x)
	}
	return mathext.GammaIncRegComp(d.shape, x/d.scale)
}

// Quantile starts from the bound P(a, x) <= x^a/Gamma(a+1). mathext.GammaIncRegInv
// gives the same and takes several times as long.
func (d gammaDist) Quantile(p float64) float64 {
	lg, _ := math.Lgamma(d.shape + 1)
	lo := max((math.Log(p)+lg)/d.shape, -700)
	hi := max(lo, math.Log(d.shape)) + 2
	return d.scale * inverseCDF(gammaDist{d.shape, 1}, p, lo, hi)
}
