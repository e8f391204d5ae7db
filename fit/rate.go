package fit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

const (
	maxCells = 20160 // two weeks of minutes; a longer trace gets wider cells
	gapUnit  = 1e-6  // below it a gap is as good as none: a second of time, or a mean gap
)

// Rate is a piecewise constant curve of how many requests come.
type Rate struct {
	Width    time.Duration `yaml:"width"` // of each cell; the last one ends with the window
	Mean     float64       `yaml:"mean"`  // requests a second over the window
	Relative []float64     `yaml:"relative,flow"`
}

const cellRequests = 20 // of a cell at least, on average: a finer curve is noise

// rateOf is the rate of sorted times, in cells of whole minutes.
func rateOf(times []time.Duration, window time.Duration) *Rate {
	width := time.Minute
	for window/width > maxCells || float64(window/width)*cellRequests > float64(len(times)) {
		width *= 2
	}
	o := newOperational(times, window, width)
	r := &Rate{Width: width, Mean: round(float64(len(times)) / window.Seconds())}
	for i, n := range o.n {
		r.Relative = append(r.Relative, round(n/o.length(i).Seconds()*window.Seconds()/float64(len(times))))
	}
	return r
}

func (r *Rate) validate(window time.Duration) error {
	if !(r.Mean >= leastMean && r.Mean <= maxMean) {
		return fmt.Errorf("mean: %g requests a second does not lie in %g..%g", r.Mean, leastMean, maxMean)
	}
	if r.Width <= 0 {
		return errors.New("width: it is not a time span")
	}
	c := &ClassCurve{Relative: r.Relative, Share: 1, Gaps: Gaps{Family: unitExponential.Name}}
	return c.check(window, r.Width)
}

func gapSample(bins map[int]int64) Sample {
	s := Sample{Hi: math.Inf(1)}
	for _, b := range slices.Sorted(maps.Keys(bins)) {
		lo, hi := gapEdges(b)
		s.Bins = append(s.Bins, Bin{lo, hi, float64(bins[b])})
	}
	return s
}

// gapBin is the index of a gap's bin: 1 % wide above gapUnit, and -1 below.
func gapBin(x float64) int {
	if x <= gapUnit {
		return -1
	}
	return int(math.Log(x/gapUnit) / math.Log(binRatio))
}

func gapEdges(bin int) (lo, hi float64) {
	hi = gapUnit * math.Pow(binRatio, float64(bin+1))
	if bin < 0 {
		return 0, hi
	}
	return gapUnit * math.Pow(binRatio, float64(bin)), hi
}
