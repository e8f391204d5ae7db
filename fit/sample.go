package fit

import "math"

// A Bin is N observations of a quantity that lay in (Lo, Hi].
type Bin struct {
	Lo, Hi float64
	N      float64
}

// mid is where a bin's observations are taken to lie: its centre.
func (b Bin) mid() float64 { return (b.Lo + b.Hi) / 2 }

// An Over is N observations of which it is only known that they exceed Above: answers
// that a limit cut.
type Over struct{ Above, N float64 }

// A Sample is grouped data: disjoint bins in ascending order, observed through a
// window (Lo, Hi], and what was cut (censored), in ascending order too. A whole number
// k of tokens is the bin (k-1/2, k+1/2]; Hi is +Inf where no limit is known. Lo is never
// the smallest observation: a likelihood truncated there runs off to degenerate shapes.
type Sample struct {
	Bins   []Bin
	Over   []Over
	Lo, Hi float64
}

// N returns the number of observations, cut ones too.
func (s Sample) N() float64 { return s.whole() + s.cut() }

func (s Sample) whole() (n float64) {
	for _, b := range s.Bins {
		n += b.N
	}
	return n
}

func (s Sample) cut() (n float64) {
	for _, o := range s.Over {
		n += o.N
	}
	return n
}

// kaplanMeier returns the sample that those of its observations that were cut are
// shared out in: to every bin the probability that the estimator of Kaplan and Meier
// (1958) gives it. What was cut beyond the last bin stays, as one Over. A limit at a
// length cuts before that length is counted.
func (s Sample) kaplanMeier() Sample {
	if len(s.Over) == 0 {
		return s
	}
	n := s.N()
	out := Sample{Lo: s.Lo, Hi: s.Hi}
	survival, risk, j := 1., n, 0
	for _, b := range s.Bins {
		for ; j < len(s.Over) && s.Over[j].Above < b.Hi; j++ {
			risk -= s.Over[j].N
		}
		died := survival * b.N / risk
		out.Bins = append(out.Bins, Bin{b.Lo, b.Hi, n * died})
		survival -= died
		risk -= b.N
	}
	if j < len(s.Over) {
		out.Over = []Over{{out.end(), n * max(survival, 0)}}
	}
	return out
}

// end is how far s is known.
func (s Sample) end() float64 {
	if len(s.Bins) == 0 {
		return s.Lo
	}
	return s.Bins[len(s.Bins)-1].Hi
}

// Moments returns the mean and the variance of what was not cut, every observation at its bin's centre.
func (s Sample) Moments() (mean, variance float64) {
	n := s.whole()
	for _, b := range s.Bins {
		mean += b.N * b.mid() / n
	}
	for _, b := range s.Bins {
		variance += b.N * (b.mid() - mean) * (b.mid() - mean) / n
	}
	return mean, variance
}

// Quantile returns the p-quantile by linear interpolation of the order statistics
// (type 7 of Hyndman and Fan, 1996), each at its bin's centre. What was cut counts as
// beyond the last bin, and a quantile that lies there is the last bin's centre.
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
// to the window of s and censored by the limits c that cut m_c observations,
//
//	sum_k n_k ln(F(hi_k) - F(lo_k)) + sum_c m_c ln(F(Hi) - F(c)) - n ln(F(Hi) - F(Lo)).
//
// It is -Inf where d has less than a millionth of its mass inside the window.
func (s Sample) LogLik(d Dist) (ll float64) {
	logs := s.logProbs(d)
	if logs == nil {
		return math.Inf(-1)
	}
	for i, b := range s.Bins {
		ll += b.N * logs[i]
	}
	for i, o := range s.Over {
		ll += o.N * logs[len(s.Bins)+i]
	}
	return ll
}

// logProbs returns the logarithms of the probabilities that d gives, inside the
// window, to every bin and then to every Over. It is nil where d lives outside.
func (s Sample) logProbs(d Dist) []float64 {
	first, last := at(d, s.Lo), at(d, s.Hi)
	norm := between(first, last)
	if !(norm >= minNorm) {
		return nil
	}
	out := make([]float64, 0, len(s.Bins)+len(s.Over))
	minus := math.Log(norm)
	right := first
	for _, b := range s.Bins {
		left := right
		if left.x != b.Lo {
			left = right.next(d, b.Lo)
		}
		right = left.next(d, b.Hi)
		out = append(out, math.Log(max(between(left, right), minProb))-minus)
	}
	for _, o := range s.Over {
		out = append(out, math.Log(max(between(at(d, o.Above), last), minProb))-minus)
	}
	return out
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

// next is an edge further up, where above the median the survival is enough.
func (e edge) next(d Dist, x float64) edge {
	if e.cdf < .5 || math.IsInf(x, 1) {
		return at(d, x)
	}
	s := d.Survival(x)
	return edge{x, max(1-s, e.cdf), s}
}

// between is the mass between two edges.
func between(a, b edge) float64 {
	if a.cdf >= .5 {
		return a.survival - b.survival
	}
	return b.cdf - a.cdf
}
