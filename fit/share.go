package fit

import (
	"fmt"
	"math"
	"sort"
)

const (
	shareBins  = 1000 // of a share; 0 and 1 have bins of their own
	shareKnots = 40   // at most
)

// A Share is the distribution of a part of a whole, such as the cached share of a
// prompt or the reasoning share of an answer: point masses at none and at all, and
// between them a distribution function that is linear between its knots.
type Share struct {
	Requests int64     `yaml:"requests"`
	Zero     float64   `yaml:"zero"`                 // share of the requests with none
	One      float64   `yaml:"one"`                  // share of the requests with all
	Knots    []float64 `yaml:"knots,omitempty,flow"` // edge, cum, edge, cum, ... of the rest
}

// shareBin returns the bin of part in whole, from 0 (none) to shareBins (all). A part
// that is greater than its whole is all of it; what is too little for a bin is not none.
func shareBin(part, whole int32) int32 {
	switch {
	case part <= 0 || whole <= 0:
		return 0
	case part >= whole:
		return shareBins
	}
	return min(max(int32(math.Round(shareBins*float64(part)/float64(whole))), 1), shareBins-1)
}

// fitShare fits counts of shareBins+1 bins. It is nil where there are none.
func fitShare(counts []int64) *Share {
	s := &Share{}
	var inner Sample
	for bin, n := range counts {
		s.Requests += n
		if n > 0 && bin > 0 && bin < shareBins {
			inner.Bins = append(inner.Bins, Bin{(float64(bin) - .5) / shareBins, (float64(bin) + .5) / shareBins, float64(n)})
		}
	}
	if s.Requests == 0 {
		return nil
	}
	s.Zero = round(float64(counts[0]) / float64(s.Requests))
	s.One = round(float64(counts[shareBins]) / float64(s.Requests))
	if len(inner.Bins) > 0 {
		s.Knots = roundAll(thin(cumulate(inner), shareKnots))
	}
	return s
}

// Quantile returns the share of the cdf p in (0, 1). s must be valid.
func (s *Share) Quantile(p float64) float64 {
	n := len(s.Knots) / 2
	switch {
	case p < s.Zero:
		return 0
	case p >= 1-s.One || n == 0:
		return 1
	}
	p = (p - s.Zero) / (1 - s.Zero - s.One)
	i := min(max(sort.Search(n, func(i int) bool { return s.Knots[2*i+1] >= p }), 1), n-1)
	x, cum, y, next := s.Knots[2*i-2], s.Knots[2*i-1], s.Knots[2*i], s.Knots[2*i+1]
	if next == cum {
		return y
	}
	return x + (y-x)*(p-cum)/(next-cum)
}

// Mean returns the mean share.
func (s *Share) Mean() float64 {
	if len(s.Knots) == 0 {
		return s.One
	}
	return s.One + (1-s.Zero-s.One)*newKnots(s.Knots).(knots).mean()
}

func (s *Share) validate() error {
	if s.Zero < 0 || s.One < 0 || s.Zero+s.One > 1+shareSlack {
		return fmt.Errorf("zero: %g and one, %g, are no shares", s.Zero, s.One)
	}
	if len(s.Knots) == 0 {
		if math.Abs(s.Zero+s.One-1) > shareSlack {
			return fmt.Errorf("knots: there is none, though zero and one add up to %g", s.Zero+s.One)
		}
		return nil
	}
	if s.Zero+s.One >= 1 {
		return fmt.Errorf("knots: zero and one add up to %g and leave nothing between them", s.Zero+s.One)
	}
	if err := checkKnots(s.Knots); err != nil {
		return fmt.Errorf("knots: %w", err)
	}
	if first, last := s.Knots[0], s.Knots[len(s.Knots)-2]; first < 0 || last > 1 {
		return fmt.Errorf("knots: %g..%g does not lie in 0..1", first, last)
	}
	return nil
}
