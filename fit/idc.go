package fit

import (
	"math"
	"slices"
	"time"
)

// Scales are the intervals at which the dispersion of arrivals is compared.
var Scales = []time.Duration{
	100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 5 * time.Second,
	10 * time.Second, 30 * time.Second, time.Minute, 150 * time.Second, 300 * time.Second,
}

// leastIntervals is how many intervals a window must hold for their dispersion to
// be worth a comparison.
const leastIntervals = 8

// ScalesWithin returns those of Scales of which the window holds enough.
func ScalesWithin(window time.Duration) []time.Duration {
	i := slices.IndexFunc(Scales, func(s time.Duration) bool { return window/s < leastIntervals })
	if i < 0 {
		i = len(Scales)
	}
	return Scales[:i:i]
}

// ArrivalIDC returns the index of dispersion of the counts in the whole intervals of
// that scale within the window: variance over mean, 1 for a Poisson process at any scale
// (Cox and Lewis, 1966). Arrivals are sorted and count from 0. It is NaN where there are
// fewer than two intervals, or no arrival in them.
func ArrivalIDC(arrivals []time.Duration, window, scale time.Duration) float64 {
	cells := float64(window / scale)
	end := window / scale * scale
	var n, c, squares float64
	var edge time.Duration // of the interval that c counts
	for _, t := range arrivals {
		if t >= end {
			break
		}
		if t >= edge {
			squares += c * c
			edge, c = (t/scale+1)*scale, 0
		}
		c++
		n++
	}
	squares += c * c
	if cells < 2 || n == 0 {
		return math.NaN()
	}
	mean := n / cells
	return (squares - n*mean) / (cells - 1) / mean
}

// Backlog is what arrivals find waiting in a fluid queue, in units of a mean
// request: the median, the 90 % and the 99 % quantile.
type Backlog [3]float64

var backlogRanks = [3]float64{.5, .9, .99}

const (
	backlogShift   = 52 - 8  // of a float's bits: bins are 1/256 of a power of two wide
	backlogOffset  = 3       // requests: less is as good as none
	backlogOctaves = 40      // more wait nowhere
	backlogFirst   = 1 << 10 // exponent bits of 2, the greatest power below the offset
)

// backlog feeds the arrivals to a queue that works off `rate` requests a second,
//
//	X(t+) = max(0, X - rate dt) + w_i,
//
// the workload process of a queue in deterministic time (Lindley, 1952). Weights is the
// work of each arrival, of which `mean` counts as one request, or nil if all are equal. It
// needs no model of a server, and unlike the IDC it is one-sided: it is the tail of busy
// spells that makes requests wait. The quantiles are good to .4 % of 3 requests and what waits.
func backlog(arrivals []time.Duration, weights []float64, mean, rate float64) Backlog {
	var bins [backlogOctaves << 8]uint32
	perNs := rate * 1e-9
	w, x := 1., 0.
	var last time.Duration
	for i, t := range arrivals {
		x = max(0, x-perNs*float64(t-last))
		last = t
		bin := int(math.Float64bits(x+backlogOffset)>>backlogShift) - backlogFirst<<8
		bins[min(bin, len(bins)-1)]++
		if weights != nil {
			w = weights[i] / mean
		}
		x += w
	}
	var q Backlog
	for k, p := range backlogRanks {
		q[k] = backlogQuantile(bins[:], p*float64(len(arrivals)))
	}
	return q
}

// backlogQuantile is linear inside a bin.
func backlogQuantile(bins []uint32, rank float64) float64 {
	var below float64
	for bin, n := range bins {
		if below+float64(n) < rank || n == 0 {
			below += float64(n)
			continue
		}
		lo := math.Float64frombits(uint64(bin+backlogFirst<<8) << backlogShift)
		hi := math.Float64frombits(uint64(bin+1+backlogFirst<<8) << backlogShift)
		return max(lo+(hi-lo)*(rank-below)/float64(n)-backlogOffset, 0)
	}
	return 0
}
