package fit

import "math"

var doubleParetoLognormal = searched("double_pareto_lognormal", []string{"alpha", "beta", "mu", "sigma"},
	func(p []float64) Dist { return dplnDist{p[0], p[1], p[2], p[3]} },
	func(m moments) [][]float64 {
		v := m.sd
		return [][]float64{
			{2 / v, 2 / v, m.mu, .7 * v}, // half of the variance is the lognormal's
			{1.2 / v, 6 / v, m.mu - .8*v, .5 * v},
			{6 / v, 1.2 / v, m.mu + .8*v, .5 * v},
		}
	})

// dplnDist is the double Pareto-lognormal distribution (Reed and Jorgensen, 2004):
// ln X = mu + sigma Z + E/alpha - E'/beta with Z standard normal and E, E' standard
// exponential. Its tails are powers: x^-alpha above and x^beta below.
type dplnDist struct{ alpha, beta, mu, sigma float64 }

// parts returns z, and phi(z) R(alpha sigma - z) and phi(z) R(beta sigma + z) with the
// ratio R of Mills.
func (d dplnDist) parts(x float64) (z, up, down float64) {
	z = (math.Log(x) - d.mu) / d.sigma
	return z, mills(d.alpha*d.sigma, z), mills(d.beta*d.sigma, -z)
}

// mills is phi(z) R(a-z), where R(t) = Phi(-t)/phi(t).
func mills(a, z float64) float64 {
	if t := a - z; t > 0 {
		return math.Exp(-z*z/2) * erfcx(t/math.Sqrt2) / 2
	}
	return math.Exp(a*(a-2*z)/2) * NormalCDF(z-a)
}

// LogProb implements Dist.
func (d dplnDist) LogProb(x float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	_, up, down := d.parts(x)
	return math.Log(d.alpha*d.beta/(d.alpha+d.beta)*(up+down)) - math.Log(x)
}

// CDF implements Dist.
func (d dplnDist) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	z, up, down := d.parts(x)
	return max(NormalCDF(z)-(d.beta*up-d.alpha*down)/(d.alpha+d.beta), 0)
}

// Survival implements Dist.
func (d dplnDist) Survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	z, up, down := d.parts(x)
	return max(NormalCDF(-z)+(d.beta*up-d.alpha*down)/(d.alpha+d.beta), 0)
}

// Quantile implements Dist.
func (d dplnDist) Quantile(p float64) float64 { return inverseCDF(d, p, d.mu-1, d.mu+1) }
