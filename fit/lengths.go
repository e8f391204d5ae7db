package fit

import (
	"math"
	"sort"
)

// Lengths models the tokens of prompts or answers: point masses, and a smooth part
// that fills the rest. A length k of the smooth part has the probability
// F(k+1/2)-F(k-1/2), on 1..Max.
type Lengths struct {
	Family   string      `yaml:"family,omitempty"` // of the smooth part; none where the spikes are all
	Params   []float64   `yaml:"params,omitempty,flow"`
	Max      int32       `yaml:"max,omitempty"` // tokens, the limit that cut the data; 0: none was seen
	Spikes   []Spike     `yaml:"spikes,omitempty"`
	Fit      *Goodness   `yaml:"fit,omitempty"`
	Closest  string      `yaml:"closest,omitempty"`  // where it is a histogram: the named family that missed least, and by what
	Rejected []Candidate `yaml:"rejected,omitempty"` // what else was tried, in the order of BIC
}

func fitLengths(c counts) (*Lengths, error) {
	all := c.exact()
	smooth, spikes := takeSpikes(all)
	l := &Lengths{Spikes: spikes}
	if n := len(spikes); n > 0 && spikes[n-1].Cause == Cap {
		l.Max = int32(all.Bins[len(all.Bins)-1].mid())
		smooth.Hi = float64(l.Max) + .5
	}
	for i := range l.Spikes {
		l.Spikes[i].Mass = round(l.Spikes[i].Mass)
	}
	if len(smooth.Bins) == 0 {
		l.Spikes = wholeMass(l.Spikes)
		l.Fit = judge(all, l.Dist())
		return l, nil
	}
	choice, err := choose(Families, binned(smooth), smooth, func(f Family, params []float64) *Goodness {
		return judge(all, newLengthDist(f.Dist(params), l.Max, l.Spikes))
	})
	if err != nil {
		return nil, err
	}
	l.Family, l.Params, l.Fit, l.Closest, l.Rejected = choice.family, choice.params, choice.fit, choice.closest, choice.rejected
	return l, nil
}

// wholeMass makes the masses add up to 1 where they are all there is.
func wholeMass(spikes []Spike) []Spike {
	rest := 1.
	for _, s := range spikes[1:] {
		rest -= s.Mass
	}
	spikes[0].Mass = rest
	return spikes
}

// Dist returns the distribution that l describes. l must be valid.
func (l *Lengths) Dist() *LengthDist {
	if l.Family == "" {
		return newLengthDist(nil, l.Max, l.Spikes)
	}
	f, _ := lookup(Families, l.Family)
	return newLengthDist(f.Dist(l.Params), l.Max, l.Spikes)
}

// A LengthDist is the distribution of a whole number of tokens.
type LengthDist struct {
	smooth      Dist
	below, norm float64 // smooth mass under 1 token; inside 1..max
	share       float64 // of the smooth part
	max         float64
	spikes      []Spike
	ends        []float64 // cdf at each spike
}

func newLengthDist(d Dist, limit int32, spikes []Spike) *LengthDist {
	l := &LengthDist{smooth: d, max: math.MaxInt32, share: 1, spikes: spikes}
	if limit > 0 {
		l.max = float64(limit)
	}
	for _, s := range spikes {
		l.share -= s.Mass
	}
	if l.share <= 0 {
		l.smooth = nil // rounded masses may add up to a little more than all
	}
	if l.smooth != nil {
		lo, hi := at(d, .5), at(d, l.max+.5)
		l.below, l.norm = lo.cdf, max(between(lo, hi), minNorm)
	}
	var mass float64
	for _, s := range spikes {
		mass += s.Mass
		l.ends = append(l.ends, l.smoothCDF(float64(s.Value)+.5)+mass)
	}
	return l
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
	p := l.smoothCDF(x)
	for _, s := range l.spikes {
		if float64(s.Value) < x {
			p += s.Mass
		}
	}
	return p
}

// Quantile returns the length, a whole number, of the cdf p in (0, 1). It cuts by the
// inverse cdf and never clamps: clamping would pile up mass at the limits.
func (l *LengthDist) Quantile(p float64) float64 {
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
