package fit

import (
	"math"
	"math/rand/v2"
	"time"
)

// operational is the arrivals of a class under the rate of the cells that they fall in.
type operational struct {
	times  []time.Duration
	window time.Duration
	width  time.Duration
	n      []float64 // in each cell
	gaps   []float64 // in operational time, whose mean is about 1
}

func newOperational(times []time.Duration, window, width time.Duration) *operational {
	o := &operational{times: times, window: window, width: width}
	o.n = make([]float64, max((window-1)/width+1, 1))
	last := time.Duration(len(o.n) - 1)
	for _, t := range times {
		o.n[min(t/width, last)]++
	}
	var before, prev float64
	cell := time.Duration(0)
	for i, t := range times {
		for ; cell < min(t/width, last); cell++ {
			before += o.n[cell]
		}
		now := before + o.n[cell]*float64(t-cell*width)/float64(o.length(int(cell)))
		if i > 0 {
			o.gaps = append(o.gaps, max(now-prev, 0))
		}
		prev = now
	}
	return o
}

func (o *operational) length(cell int) time.Duration {
	return min(o.width, o.window-time.Duration(cell)*o.width)
}

// resample appends arrivals whose gaps are drawn from those of o.
func (o *operational) resample(out []time.Duration, r *rand.Rand) []time.Duration {
	if len(o.gaps) == 0 {
		return append(out, o.times...)
	}
	need := o.gaps[r.IntN(len(o.gaps))]
	for cell, n := range o.n {
		start, length := time.Duration(cell)*o.width, float64(o.length(cell))
		done := 0.
		for n > 0 && need <= n-done {
			done += need
			out = append(out, start+time.Duration(length*done/n))
			need = o.gaps[r.IntN(len(o.gaps))]
		}
		need -= n - done
	}
	return out
}

// fit fits the gaps: as exponential, where they are too few to tell. A class's gaps
// matter less than its rate, so that a hundred numbers of a histogram are spent on them
// only where every named family is far off.
func (o *operational) fit() (*Gaps, error) {
	if len(o.gaps) < minRequests {
		return &Gaps{Family: unitExponential.Name, CV: 1}, nil
	}
	bins := make(map[int]int64)
	for _, g := range o.gaps {
		bins[gapBin(g)]++
	}
	s := gapSample(bins)
	judged := func(f Family, params []float64) *Goodness { return judge(s, f.Dist(params)) }
	c, err := choose(GapFamilies, s, s, judged)
	if err != nil {
		return nil, err
	}
	if c.family == unitHistogram.Name {
		c = nearestNamed(c, s, judged)
	}
	return &Gaps{c.family, c.params, round(GapCV(s)), c.fit, c.closest}, nil
}

// nearestNamed is the family of least BIC among those that lost to the histogram by
// no more than farKS, if there is one.
func nearestNamed(c choice, s Sample, judged func(Family, []float64) *Goodness) choice {
	best, least := c, math.Inf(1)
	for _, other := range c.rejected {
		if !(other.KS > 0 && other.KS <= farKS && other.BIC < least) {
			continue
		}
		f, _ := lookup(GapFamilies, other.Family)
		params, err := f.Fit(s)
		if params = roundAll(params); err == nil && f.Check(params) == nil {
			best.family, best.params, best.fit, least = f.Name, params, judged(f, params), other.BIC
		}
	}
	return best
}
