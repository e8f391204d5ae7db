package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

var lognormalMix = Family{
	Name: "lognormal_mix", Params: []string{"w", "mu", "sigma"},
	Fit: fitMixture, refit: refitMixture, sizes: fitMixtures,
	Dist:    func(p []float64) Dist { return newMixture(p) },
	repeats: true, fixed: 1, together: checkWeights,
}

type component struct {
	w float64
	lognormalDist
}

// A mixture is a weighted sum of lognormals.
type mixture []component

func newMixture(p []float64) mixture {
	var m mixture
	var sum float64
	for ; len(p) >= 3; p = p[3:] {
		m = append(m, component{p[0], lognormalDist{p[1], p[2]}})
		sum += p[0]
	}
	for i := range m {
		m[i].w /= sum // the last digit was rounded
	}
	return m
}

func checkWeights(params []float64) error {
	var sum float64
	for i := 0; i < len(params); i += 3 {
		sum += params[i]
	}
	if math.Abs(sum-1) > 1e-4 {
		return &ParamError{0, fmt.Sprintf("the weights add up to %g, not 1", sum)}
	}
	return nil
}

// params are in the order of mu, so that equal mixtures are equal.
func (m mixture) params() []float64 {
	var p []float64
	for _, c := range slices.SortedStableFunc(slices.Values(m), func(a, b component) int { return cmp.Compare(a.mu, b.mu) }) {
		p = append(p, c.w, c.mu, c.sigma)
	}
	return p
}

// LogProb implements Dist.
func (m mixture) LogProb(x float64) float64 {
	var sum float64
	for _, c := range m {
		sum += c.w * math.Exp(c.LogProb(x))
	}
	return math.Log(sum)
}

// CDF implements Dist.
func (m mixture) CDF(x float64) (sum float64) {
	for _, c := range m {
		sum += c.w * c.CDF(x)
	}
	return sum
}

// Survival implements Dist.
func (m mixture) Survival(x float64) (sum float64) {
	for _, c := range m {
		sum += c.w * c.Survival(x)
	}
	return sum
}

// Quantile searches between the least and the greatest quantile of the components,
// for that of the mixture lies between them.
func (m mixture) Quantile(p float64) float64 {
	if p <= 0 || p >= 1 {
		return m[0].Quantile(p)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	z := NormalQuantile(p)
	for _, c := range m {
		lo, hi = min(lo, c.mu+c.sigma*z), max(hi, c.mu+c.sigma*z)
	}
	return math.Exp(invert(lo, hi, func(y float64) (f, slope float64) { return m.excess(y, p) }))
}

// excess returns F - p at x = exp(y), from the survival in the upper half, and dF/dy.
func (m mixture) excess(y, p float64) (f, slope float64) {
	for _, c := range m {
		z := (y - c.mu) / c.sigma
		slope += c.w * math.Exp(-z*z/2) / (c.sigma * math.Sqrt(2*math.Pi))
		if p < .5 {
			f += c.w * NormalCDF(z)
		} else {
			f -= c.w * NormalCDF(-z)
		}
	}
	if p < .5 {
		return f - p, slope
	}
	return f + (1 - p), slope
}
