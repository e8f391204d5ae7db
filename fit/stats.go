package fit

import "math"

// KS returns the greatest distance between the cumulative shares of s and cdf, over
// both edges of every bin (the statistic of Kolmogorov and Smirnov, for grouped data).
// The shares of a sample that was cut are Kaplan and Meier's.
func KS(s Sample, cdf func(float64) float64) float64 {
	s = s.kaplanMeier()
	var d, below float64
	n := s.N()
	for _, b := range s.Bins {
		d = max(d, math.Abs(below/n-cdf(b.Lo)))
		below += b.N
		d = max(d, math.Abs(below/n-cdf(b.Hi)))
	}
	return d
}

// Wasserstein returns the area between the cumulative shares of s and cdf from the
// first bin to the last (the distance W1), in the unit of s.
func Wasserstein(s Sample, cdf func(float64) float64) float64 {
	s = s.kaplanMeier()
	var area, below float64
	n := s.N()
	at, apart := s.Bins[0].Lo, math.Abs(cdf(s.Bins[0].Lo))
	to := func(x float64) {
		d := math.Abs(below/n - cdf(x))
		area += (x - at) * (apart + d) / 2
		at, apart = x, d
	}
	for _, b := range s.Bins {
		if b.Lo != at {
			to(b.Lo)
		}
		below += b.N
		to(b.Hi)
	}
	return area
}

// SmirnovFloor returns the KS distance that two samples of n observations of one
// and the same distribution stay under with 95 % (Smirnov, 1948): nearer than that is noise.
func SmirnovFloor(n float64) float64 { return 1.358 * math.Sqrt(2/n) }

// GapCV returns the coefficient of variation of gaps: standard deviation over mean.
func GapCV(gaps Sample) float64 {
	mean, variance := gaps.Moments()
	return math.Sqrt(variance) / mean
}
