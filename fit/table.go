package fit

import (
	"math"
)

const (
	guideCells = 1024
	gapCells   = 4096
	memoLimit  = 1 << 18 // lengths whose cdf is remembered: 2 MB
)

// A lengthTable inverts the cdf of a LengthDist as its Quantile does. A guide says
// between which lengths the answer lies (Chen and Asau, 1974), and what the cdf is
// there is asked of the distribution only once.
type lengthTable struct {
	dist  *LengthDist
	guide []int32   // [i]: the quantile of i/guideCells
	cdf   []float64 // of guide[0]+i; NaN: not asked yet
}

func newLengthTable(d *LengthDist) *lengthTable {
	t := &lengthTable{dist: d, guide: make([]int32, guideCells)}
	for i := range t.guide {
		t.guide[i] = int32(d.Quantile((float64(i) + .5/guideCells) / guideCells))
	}
	t.cdf = make([]float64, min(memoLimit, int(t.guide[guideCells-1]-t.guide[0])+1))
	for i := range t.cdf {
		t.cdf[i] = math.NaN()
	}
	return t
}

// at returns the length of the cdf p in (0, 1).
func (t *lengthTable) at(p float64) int32 {
	i := int(p * guideCells)
	if i == 0 || i == guideCells-1 {
		return int32(t.dist.Quantile(p))
	}
	lo, hi := t.guide[i], t.guide[i+1]
	if p < (float64(i)+.5/guideCells)/guideCells {
		lo, hi = t.guide[i-1], t.guide[i]
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		if t.below(mid) >= p {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// below is the share of lengths of at most k.
func (t *lengthTable) below(k int32) float64 {
	i := int(k - t.guide[0])
	if i >= len(t.cdf) {
		return t.dist.CDF(float64(k) + .5)
	}
	if math.IsNaN(t.cdf[i]) {
		t.cdf[i] = t.dist.CDF(float64(k) + .5)
	}
	return t.cdf[i]
}

// A GapTable is a quantile function of pauses: linear between knots, which are asked of
// the distribution when they are first needed, and in the first and the last cell, where
// a line would cut the tail off, the distribution's own.
type GapTable struct {
	dist  Dist
	knots []float64 // NaN: not asked yet
}

// NewGapTable tabulates the quantiles of d.
func NewGapTable(d Dist) *GapTable {
	t := &GapTable{d, make([]float64, gapCells)}
	for i := range t.knots {
		t.knots[i] = math.NaN()
	}
	return t
}

// At returns the quantile of p in (0, 1).
func (t *GapTable) At(p float64) float64 {
	i := int(p * gapCells)
	if i == 0 || i == gapCells-1 {
		return t.dist.Quantile(p)
	}
	low := t.knot(i)
	return low + (p*gapCells-float64(i))*(t.knot(i+1)-low)
}

func (t *GapTable) knot(i int) float64 {
	if math.IsNaN(t.knots[i]) {
		t.knots[i] = t.dist.Quantile(float64(i) / gapCells)
	}
	return t.knots[i]
}
