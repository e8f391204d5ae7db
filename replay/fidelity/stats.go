package fidelity

import (
	"math"
	"slices"
)

// apart returns three distances of two sorted samples: the greatest of their cdfs F
// and G (Kolmogorov and Smirnov); the mean over the pooled sample, with cdf H, of
// (F-G)^2/(H(1-H)), which is the two-sample statistic of Anderson and Darling
// (Scholz and Stephens, 1987) times (n+m)/(nm) and so does not grow with the
// samples; and the area between them (Wasserstein) over the mean of a.
func apart(a, b []float64) (ks, ad, w1 float64) {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	n, m := float64(len(a)), float64(len(b))
	last := min(a[0], b[0])
	var f, g float64
	for i, j := 0, 0; i < len(a) || j < len(b); {
		v := math.Inf(1)
		if i < len(a) {
			v = a[i]
		}
		if j < len(b) {
			v = min(v, b[j])
		}
		w1 += (v - last) * math.Abs(f-g)
		from := i + j
		for i < len(a) && a[i] == v {
			i++
		}
		for j < len(b) && b[j] == v {
			j++
		}
		f, g, last = float64(i)/n, float64(j)/m, v
		h := float64(i+j) / (n + m)
		if h < 1 {
			ad += float64(i+j-from) / (n + m) * (f - g) * (f - g) / (h * (1 - h))
		}
		ks = max(ks, math.Abs(f-g))
	}
	return ks, ad, w1 / mean(a)
}

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// quantile is Hyndman and Fan's type 7 of sorted values; NaN of none.
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	h := float64(len(sorted)-1) * p
	low := int(h)
	v := sorted[low]
	if low+1 < len(sorted) {
		v += (h - float64(low)) * (sorted[low+1] - v)
	}
	return v
}

func median(v []float64) float64 {
	return quantile(slices.Sorted(slices.Values(v)), .5)
}

// autocorrelation of v at a lag; NaN of constants and of too few.
func autocorrelation(v []float64, lag int) float64 {
	if len(v) < 4*lag {
		return math.NaN()
	}
	m := mean(v)
	var cov, variance float64
	for i, x := range v {
		variance += (x - m) * (x - m)
		if i >= lag {
			cov += (x - m) * (v[i-lag] - m)
		}
	}
	if variance <= 1e-9*float64(len(v)) {
		return math.NaN()
	}
	return cov / variance
}
