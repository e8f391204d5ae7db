package fidelity

import (
	"fmt"
	"math"
)

// headrooms are how much faster than the mean load of A the server of a virtual
// backlog is.
var headrooms = [...]float64{1.1, 1.25, 1.5, 2, 3, 5, 8}

// backlogPoints are of what the requests find there.
var backlogPoints = [...]struct {
	at string
	p  float64
}{{"q50", .5}, {"q90", .9}, {"q99", .99}}

// A backlogs is a curve for each weight: requests go to a queue that empties at an
// even rate, some headroom above the mean of A, and each looks at what it finds
// there, in requests of A's mean weight. No server has to be assumed, and it is
// one-sided as a server's queue is, where a variance of counts also sees the lulls.
type backlogs [3][len(headrooms)][len(backlogPoints)]float64

// unitsOf are the mean weights of a request; 0 where no length is known.
func unitsOf(rows []row) (units [3]float64) {
	for w, weight := range weights {
		for i := range rows {
			units[w] += weight.of(&rows[i]) / float64(len(rows))
		}
	}
	return units
}

func (v *survey) backlogs(rows []row) (b backlogs) {
	var bins []int32
	for w, weight := range weights {
		if v.units[w] == 0 {
			continue
		}
		for h, headroom := range headrooms {
			bins = queue(rows, weight, v.units[w], headroom*v.rate, bins)
			for p, point := range backlogPoints {
				b[w][h][p] = ofBins(bins, point.p, len(rows))
			}
		}
	}
	return b
}

// softening in requests: below that no server feels a difference.
const softening = 3

// binOf is the bin of a backlog, a 128th of an octave of softening+backlog wide: the
// leading bits of a float are its logarithm, near enough and for nothing.
func binOf(backlog float64) int {
	return int((math.Float64bits(softening+backlog) - math.Float64bits(softening)) >> binShift)
}

// binStart is the least backlog of a bin.
func binStart(bin int) float64 {
	return math.Float64frombits(math.Float64bits(softening)+uint64(bin)<<binShift) - softening
}

const binShift = 52 - 7

// queue counts by bins what the requests find when the queue empties at perSecond.
func queue(rows []row, w weight, unit, perSecond float64, bins []int32) []int32 {
	clear(bins)
	found := 0.
	for i := range rows {
		if i > 0 {
			found = max(0, found-(rows[i].at-rows[i-1].at).Seconds()*perSecond)
		}
		bin := binOf(found)
		for len(bins) <= bin {
			bins = append(bins, 0)
		}
		bins[bin]++
		found += w.of(&rows[i]) / unit
	}
	return bins
}

// ofBins is a quantile of n values by rank.
func ofBins(bins []int32, p float64, n int) float64 {
	below := 0
	for i, c := range bins {
		if below += int(c); float64(below) > p*float64(n-1) {
			return binStart(i)
		}
	}
	return math.NaN()
}

func backlogMeasures(ref *summary) (ms []measure) {
	for w, weight := range weights {
		if ref.units[w] == 0 {
			continue
		}
		for h, headroom := range headrooms {
			for p, point := range backlogPoints {
				ms = append(ms, measure{
					group: Arrivals, name: "backlog, " + weight.name, at: fmt.Sprintf("x%g %s", headroom, point.at),
					unit: "requests", kind: Ratio, tolerance: 1.3, soft: softening,
					value: func(s *summary) float64 { return s.backlogs[w][h][p] },
				})
			}
		}
	}
	return ms
}
