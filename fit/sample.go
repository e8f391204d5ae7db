package fit

import "math"

// A Bin is N observations of a quantity that lay in (Lo, Hi].
type Bin struct {
	Lo, Hi float64
	N      float64
}

// mid is where a bin's observations are taken to lie: its centre.
func (b Bin) mid() float64 { return (b.Lo + b.Hi) / 2 }

// A Sample is grouped data: disjoint bins in ascending order, observed through a
// window (Lo, Hi]. A whole number k of tokens is the bin (k-1/2, k+1/2]; Hi is
// +Inf where no limit is known. Lo is never the smallest observation: a
// likelihood truncated there runs off to degenerate shapes.
type Sample struct {
	Bins   []Bin
	Lo, Hi float64
}

// N returns the number of observations.
func (s Sample) N() float64 {
	var n float64
	for _, b := range s.Bins {
		n += b.N
	}
	return n
}

// Moments returns the mean and the variance, every observation at its bin's centre.
func (s Sample) Moments() (mean, variance float64) {
	n := s.N()
	for _, b := range s.Bins {
		mean += b.N * b.mid() / n
	}
	for _, b := range s.Bins {
		variance += b.N * (b.mid() - mean) * (b.mid() - mean) / n
	}
	return mean, variance
}

// Quantile returns the p-quantile by linear interpolation of the order
// statistics (type 7 of Hyndman and Fan, 1996), each at its bin's centre.
func (s Sample) Quantile(p float64) float64 {
	h := (s.N() - 1) * p
	low := math.Floor(h)
	a, b := s.ranked(low).mid(), s.ranked(math.Ceil(h)).mid()
	return a + (h-low)*(b-a)
}

// width is that of the bin with the p-quantile.
func (s Sample) width(p float64) float64 {
	b := s.ranked((s.N() - 1) * p)
	return b.Hi - b.Lo
}

// ranked returns the bin of the order statistic of rank r, counted from 0.
func (s Sample) ranked(r float64) Bin {
	var below float64
	for _, b := range s.Bins {
		if below += b.N; r < below {
			return b
		}
	}
	return s.Bins[len(s.Bins)-1]
}

const (
	minProb = 1e-300 // of a bin: keeps the logarithm finite while a search is far off
	minNorm = 1e-6   // of the window: a fit that lives almost wholly outside it is no fit
)

// LogLik returns the log-likelihood of d given s: that of grouped data, truncated
// to the window of s,
//
//	sum_k n_k ln(F(hi_k) - F(lo_k)) - n ln(F(Hi) - F(Lo)).
//
// It is -Inf where d has less than a millionth of its mass inside the window.
func (s Sample) LogLik(d Dist) float64 {
	norm := between(at(d, s.Lo), at(d, s.Hi))
	if !(norm >= minNorm) {
		return math.Inf(-1)
	}
	var ll, n float64
	right := at(d, s.Lo)
	for _, b := range s.Bins {
		left := right
		if left.x != b.Lo {
			left = at(d, b.Lo)
		}
		right = at(d, b.Hi)
		ll += b.N * math.Log(max(between(left, right), minProb))
		n += b.N
	}
	return ll - n*math.Log(norm)
}

// An edge is a point with the mass on each side of it. The survival is taken only
// above the median, where a difference of cdfs would cancel.
type edge struct{ x, cdf, survival float64 }

func at(d Dist, x float64) edge {
	if math.IsInf(x, 1) {
		return edge{x: x, cdf: 1}
	}
	e := edge{x: x, cdf: d.CDF(x), survival: math.NaN()}
	if e.cdf >= .5 {
		e.survival = d.Survival(x)
	}
	return e
}

// between is the mass between two edges.
func between(a, b edge) float64 {
	if a.cdf >= .5 {
		return a.survival - b.survival
	}
	return b.cdf - a.cdf
}
