package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// NormalCDF is the distribution function of the standard normal.
func NormalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// NormalQuantile inverts NormalCDF. math.Erfcinv would not do: it goes through 1-x and
// loses the lower tail.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(min(max(p, 0), 1)) }

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// erfcx is exp(x^2) erfc(x), which does not underflow for large x: there it is the
// asymptotic series of Abramowitz and Stegun 7.1.23.
func erfcx(x float64) float64 {
	if x < 20 {
		return math.Exp(x*x) * math.Erfc(x)
	}
	t := 1 / (2 * x * x)
	return (1 - t*(1-3*t*(1-5*t*(1-7*t)))) / (x * math.SqrtPi)
}
