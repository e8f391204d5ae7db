package fit

import (
	"math"
	"sort"
)

// A LengthDist is the distribution of a whole number of tokens.
type LengthDist struct {
	smooth      Dist
	below, norm float64 // smooth mass under 1 token; inside 1..max
	share       float64 // of the smooth part
	max         float64
	spikes      []Spike
	ends        []float64 // cdf at each spike
	limits      []Limit   // that cut all this
}

// dist is the uncut distribution with d as the body of the smooth part.
func (l *Lengths) dist(body Dist) *LengthDist {
	d := &LengthDist{max: math.MaxInt32, share: 1, spikes: l.Spikes}
	if l.Max > 0 {
		d.max = float64(l.Max)
	}
	for _, s := range l.Spikes {
		d.share -= s.Mass
	}
	if body != nil && d.share > 0 { // rounded masses may add up to a little more than all
		d.smooth = splice(body, l.Tail)
		lo, hi := at(d.smooth, .5), at(d.smooth, d.max+.5)
		d.below, d.norm = lo.cdf, max(between(lo, hi), minNorm)
	}
	var mass float64
	for _, s := range l.Spikes {
		mass += s.Mass
		d.ends = append(d.ends, d.smoothCDF(float64(s.Value)+.5)+mass)
	}
	return d
}

// smoothCDF is the smooth part's contribution to the cdf.
func (l *LengthDist) smoothCDF(x float64) float64 {
	if l.smooth == nil || x <= .5 {
		return 0
	}
	return l.share * min((l.smooth.CDF(min(x, l.max+.5))-l.below)/l.norm, 1)
}

// CDF returns the probability of a length of at most x tokens, where x is read in
// the continuous coordinate in which the length k covers (k-1/2, k+1/2].
func (l *LengthDist) CDF(x float64) float64 {
	kept := 1. // share of the requests without a limit below x
	for _, c := range l.limits {
		if float64(c.Value) < x {
			kept -= c.Share
		}
	}
	return 1 - max(kept, 0)*(1-l.uncutCDF(x))
}

func (l *LengthDist) uncutCDF(x float64) float64 {
	p := l.smoothCDF(x)
	for _, s := range l.spikes {
		if float64(s.Value) < x {
			p += s.Mass
		}
	}
	return p
}

// Quantile returns the length, a whole number, of the cdf p in (0, 1). It cuts by the
// inverse cdf and never clamps, but where a server would: at the limits, where what
// would have been longer piles up.
func (l *LengthDist) Quantile(p float64) float64 {
	kept := 1.
	for _, c := range l.limits {
		v := float64(c.Value)
		if p <= 1-kept*(1-l.uncutCDF(v-.5)) {
			break
		}
		kept = max(kept-c.Share, 0)
		if p <= 1-kept*(1-l.uncutCDF(v+.5)) {
			return v
		}
	}
	return l.uncutQuantile(1 - (1-p)/kept)
}

func (l *LengthDist) uncutQuantile(p float64) float64 {
	i := sort.SearchFloat64s(l.ends, p)
	if l.smooth == nil {
		return float64(l.spikes[min(i, len(l.spikes)-1)].Value)
	}
	if i < len(l.spikes) && p >= l.ends[i]-l.spikes[i].Mass {
		return float64(l.spikes[i].Value)
	}
	for _, s := range l.spikes[:i] {
		p -= s.Mass
	}
	q := l.smooth.Quantile(l.below + min(max(p/l.share, 0), 1)*l.norm)
	// The inverse may leave the window by a rounding error, and only by that.
	return min(max(math.Floor(q+.5), 1), l.max)
}
