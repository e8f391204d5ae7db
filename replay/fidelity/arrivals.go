package fidelity

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// scales are the windows in which a server's queue can feel that requests bunch.
var scales = []time.Duration{
	100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second,
	30 * time.Second, time.Minute, 150 * time.Second, 5 * time.Minute,
}

// leastWindows make a variance that says anything.
const leastWindows = 10

// A weight is what a request adds to a queue.
type weight struct {
	name string
	of   func(*row) float64
}

var weights = []weight{
	{"requests", func(*row) float64 { return 1 }},
	{"prompt", func(q *row) float64 { return float64(q.prompt) }},
	{"output", func(q *row) float64 { return float64(q.output) }},
}

// arrivalMeasures are of when requests come. A maximum is of two spans that are
// equal, or nearly: it grows with them.
func arrivalMeasures(ref, other *summary) []measure {
	span := min(ref.span, other.span)
	ratio := func(name, at, unit string, tolerance, soft float64, value func(*summary) float64) measure {
		return measure{group: Arrivals, name: name, at: at, unit: unit, kind: Ratio, tolerance: tolerance, soft: soft, value: value}
	}
	ms := []measure{
		ratio("mean rate", "", "1/s", 1.05, 0, func(s *summary) float64 { return float64(len(s.rows)) / s.span.Seconds() }),
		{group: Arrivals, name: "rates", at: "w1/mean", kind: Distance, tolerance: .1, apart: func(a, b *summary) float64 {
			_, _, w1 := apart(a.rates, b.rates)
			return w1
		}},
		ratio("gap cv", "", "", 1.2, 0, gapCV),
	}
	for _, w := range scales {
		if span/w >= leastWindows {
			ms = append(ms, ratio("idc", short(w), "", 1.3, 0, func(s *summary) float64 { return dispersion(s, w, weights[0]) }))
		}
	}
	for _, w := range []time.Duration{time.Second, 10 * time.Second} {
		if span/w < leastWindows {
			continue
		}
		ms = append(ms, ratio("peak count", short(w)+" q99", "", 1.2, 1, func(s *summary) float64 { return peak(s, w, .99) }))
		if sameSpan(ref.span, other.span) {
			ms = append(ms, ratio("peak count", short(w)+" max", "", 1.2, 1, func(s *summary) float64 { return peak(s, w, 1) }))
		}
	}
	for _, token := range weights[1:] {
		for _, w := range []time.Duration{time.Second, time.Minute} {
			if span/w >= leastWindows {
				ms = append(ms, ratio("token idc", token.name+" "+short(w), "tokens", 1.3, 0,
					func(s *summary) float64 { return dispersion(s, w, token) }))
			}
		}
	}
	return append(ms, backlogMeasures(ref)...)
}

func sameSpan(a, b time.Duration) bool {
	ratio := a.Seconds() / b.Seconds()
	return .9 <= ratio && ratio <= 1/.9
}

// short is a duration without its zeros: 5m, and not 5m0s.
func short(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// gapCV is the standard deviation of the gaps between arrivals over their mean.
func gapCV(s *summary) float64 {
	var m moments
	for i := 1; i < len(s.rows); i++ {
		m.add((s.rows[i].at - s.rows[i-1].at).Seconds())
	}
	return math.Sqrt(m.scatter()/m.n) / (m.sum / m.n)
}

// windows calls each with the weight of every window of the trace that has any, and
// returns how many windows there are.
func windows(s *summary, w time.Duration, of weight, each func(sum float64)) (n int) {
	n = int(s.span / w)
	for i := 0; i < len(s.rows); {
		k := int(s.rows[i].at / w)
		if k >= n {
			break
		}
		sum, end := 0., time.Duration(k+1)*w
		for ; i < len(s.rows) && s.rows[i].at < end; i++ {
			sum += of.of(&s.rows[i])
		}
		each(sum)
	}
	return n
}

// dispersion is the index of dispersion, variance over mean of what comes in a
// window (Cox and Lewis, 1966).
func dispersion(s *summary, w time.Duration, of weight) float64 {
	var m moments
	n := float64(windows(s, w, of, m.add))
	mean := m.sum / n
	return (m.squares - mean*m.sum) / (n - 1) / mean
}

// peak is the p-quantile of the number of requests in a window, by rank.
func peak(s *summary, w time.Duration, p float64) float64 {
	var counts []float64
	n := windows(s, w, weights[0], func(c float64) { counts = append(counts, c) })
	slices.Sort(counts)
	below := n - int(math.Ceil(p*float64(n)))
	if below >= len(counts) {
		return 0
	}
	return counts[len(counts)-1-below]
}
