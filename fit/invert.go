package fit

import "math"

// invert finds the zero of a rising f between lo and hi by Newton's method, with a
// bisection wherever that would leave the bracket.
func invert(lo, hi float64, f func(y float64) (value, slope float64)) float64 {
	y := (lo + hi) / 2
	for range 200 {
		value, slope := f(y)
		if value > 0 {
			hi = y
		} else {
			lo = y
		}
		near := 1e-13 * (1 + math.Abs(y))
		next := y - value/slope
		if math.Abs(next-y) <= near {
			return next
		}
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if hi-lo <= near {
			return next
		}
		y = next
	}
	return y
}

// inverseCDF inverts the CDF of d where that has no closed form. It solves for the
// logarithm of x in a bracket that it widens from lo and hi as far as needed, and in the
// logarithm of the probability: both are almost straight there, so that Newton's
// method takes few steps.
func inverseCDF(d Dist, p, lo, hi float64) float64 {
	if p <= 0 {
		return 0
	}
	if p >= 1 {
		return math.Inf(1)
	}
	for by := 1.; d.CDF(math.Exp(lo)) > p && lo > -700; by *= 2 {
		lo -= by
	}
	for by := 1.; d.Survival(math.Exp(hi)) > 1-p && hi < 700; by *= 2 {
		hi += by
	}
	return math.Exp(invert(lo, hi, func(y float64) (f, slope float64) {
		x := math.Exp(y)
		density := x * math.Exp(d.LogProb(x))
		if p < .5 {
			c := d.CDF(x)
			return math.Log(c / p), density / c
		}
		s := d.Survival(x)
		return math.Log((1 - p) / s), density / s
	}))
}
