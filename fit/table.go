package fit

import (
	"math"
)

const (
	guideCells = 1024
	gapCells   = 4096
	memoPage   = 1024
	memoLimit  = 1 << 18 // lengths whose cdf is remembered: 2 MB, if all are met
)

// A lengthTable inverts the cdf of a LengthDist as its Quantile does. A guide says
// between which lengths the answer lies (Chen and Asau, 1974), and what the cdf is
// there is asked of the distribution only once. A class that nothing is drawn from costs
// nothing: a profile may have thousands.
type lengthTable struct {
	dist  *LengthDist
	guide []int32              // [i]: the quantile of i/guideCells; nil: nothing was drawn yet
	cdf   []*[memoPage]float64 // by pages, of guide[0]+i; NaN: not asked yet
}

func newLengthTable(d *LengthDist) *lengthTable { return &lengthTable{dist: d} }

func (t *lengthTable) fill() {
	t.guide, t.cdf = make([]int32, guideCells), make([]*[memoPage]float64, memoLimit/memoPage)
	for i := range t.guide {
		t.guide[i] = int32(t.dist.Quantile((float64(i) + .5/guideCells) / guideCells))
	}
}

// at returns the length of the cdf p in (0, 1).
func (t *lengthTable) at(p float64) int32 {
	if t.guide == nil {
		t.fill()
	}
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
	if i >= memoLimit {
		return t.dist.CDF(float64(k) + .5)
	}
	page := t.cdf[i/memoPage]
	if page == nil {
		page = new([memoPage]float64)
		forget(page[:])
		t.cdf[i/memoPage] = page
	}
	if c := &page[i%memoPage]; math.IsNaN(*c) {
		*c = t.dist.CDF(float64(k) + .5)
	}
	return page[i%memoPage]
}

// forget marks numbers that were not asked for yet.
func forget(xs []float64) {
	for i := range xs {
		xs[i] = math.NaN()
	}
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
	forget(t.knots)
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
