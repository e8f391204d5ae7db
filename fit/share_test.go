package fit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// shareOf fits n shares drawn by the quantile function.
func shareOf(n int, quantile func(u float64) float64) (*Share, []int64) {
	r := rand.New(rand.NewPCG(61, 62))
	counts := make([]int64, shareBins+1)
	for range n {
		whole := int32(1000 + r.IntN(100_000))
		counts[shareBin(int32(quantile(r.Float64())*float64(whole)), whole)]++
	}
	return fitShare(counts), counts
}

// Shares come back with their point masses, whatever lies between them.
func TestShareIsRecovered(t *testing.T) {
	for name, quantile := range map[string]func(float64) float64{
		"all of them": func(u float64) float64 { return u },
		"reasoning": func(u float64) float64 { // none in 30 %, else bimodal
			switch {
			case u < .3:
				return 0
			case u < .6:
				return .2 + .1*u
			}
			return .9 + .1*u
		},
		"cached":       func(u float64) float64 { return min(max(1.5*u-.3, 0), 1) },
		"none or all":  func(u float64) float64 { return math.Floor(u + .25) },
		"always none":  func(float64) float64 { return 0 },
		"always all":   func(float64) float64 { return 1 },
		"always half":  func(float64) float64 { return .5 },
		"nearly none":  func(u float64) float64 { return .002 * u },
		"steep at all": func(u float64) float64 { return 1 - math.Pow(1-u, 4) },
	} {
		s, counts := shareOf(50_000, quantile)
		if err := s.validate(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(s.Knots) > 2*shareKnots {
			t.Errorf("%s: %d numbers", name, len(s.Knots))
		}
		var mean float64
		for bin, n := range counts {
			mean += float64(n) / 50_000 * float64(bin) / shareBins
		}
		if math.Abs(s.Mean()-mean) > .003 {
			t.Errorf("%s: the mean is %g, was %g", name, s.Mean(), mean)
		}
		if got := float64(counts[0]) / 50_000; math.Abs(s.Zero-got) > 1e-6 {
			t.Errorf("%s: none has %g, was %g", name, s.Zero, got)
		}
		drawn := make([]int64, shareBins+1)
		for i := range 50_000 {
			drawn[shareBin(int32(math.Round(1e6*s.Quantile((float64(i)+.5)/50_000))), 1e6)]++
		}
		var off, worst float64
		for bin := range counts {
			off += float64(counts[bin]-drawn[bin]) / 50_000
			worst = max(worst, math.Abs(off))
		}
		if worst > .01 {
			t.Errorf("%s: what is drawn is %g off", name, worst)
		}
	}
	if s := fitShare(make([]int64, shareBins+1)); s != nil {
		t.Errorf("nothing is %+v", s)
	}
}

// None and all are exact: a single token is not none, and all but one is not all.
func TestShareBin(t *testing.T) {
	for _, c := range [][3]int32{{0, 5, 0}, {5, 5, 1000}, {6, 5, 1000}, {1, 1 << 30, 1}, {1<<30 - 1, 1 << 30, 999}, {1, 2, 500}, {0, 0, 0}, {-1, 4, 0}} {
		if got := shareBin(c[0], c[1]); got != c[2] {
			t.Errorf("%d of %d is bin %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

func TestShareValidates(t *testing.T) {
	for want, s := range map[string]Share{
		"are no shares":    {Zero: -1, One: 2},
		"there is none":    {Zero: .5},
		"leave nothing":    {Zero: .5, One: .5, Knots: []float64{0, 0, 1, 1}},
		"from 0 to 1":      {Knots: []float64{0, 0, 1, .5}},
		"not lie in 0..1":  {Knots: []float64{0, 0, 2, 1}},
		"edges must incre": {Knots: []float64{.5, 0, .4, 1}},
	} {
		if err := s.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}
