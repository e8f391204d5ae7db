package fit

import (
	"math"
	"time"
)

// A rateWalk is a rate in time, repeated without end: requests a second over cells of
// equal width, of which the last ends with the window.
type rateWalk struct {
	width, window float64 // seconds
	rate          []float64
	total         float64 // requests in one window
}

func newRateWalk(width, window time.Duration, relative []float64, mean float64) *rateWalk {
	w := &rateWalk{width: width.Seconds(), window: window.Seconds()}
	for i, v := range relative {
		w.rate = append(w.rate, v*mean)
		w.total += v * mean * w.length(i)
	}
	return w
}

// A walkPlace is a point of the walk: seconds into a cell of a round.
type walkPlace struct {
	round  float64 // windows that have passed
	cell   int
	inside float64
}

func (w *rateWalk) length(cell int) float64 {
	return min(w.width, w.window-float64(cell)*w.width)
}

// advance moves p until u requests were due: it inverts the integral of the rate.
// The rate is positive somewhere, so that it ends; whole windows are taken in one step,
// for a heavy tail may ask for any number.
func (w *rateWalk) advance(p walkPlace, u float64) walkPlace {
	u = min(u, 1e15)
	windows := math.Floor(u / w.total)
	p.round += windows
	u -= windows * w.total
	for {
		rest := w.length(p.cell) - p.inside
		if due := rest * w.rate[p.cell]; u >= due {
			u -= due
			p.inside = 0
			if p.cell++; p.cell == len(w.rate) {
				p.cell = 0
				p.round++
			}
			continue
		}
		p.inside += u / w.rate[p.cell]
		return p
	}
}

// time is p since the start, and the end of time where that is later.
func (w *rateWalk) time(p walkPlace) time.Duration {
	ns := (p.round*w.window + float64(p.cell)*w.width + p.inside) * float64(time.Second)
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// until is the integral of the rate over the first d.
func (w *rateWalk) until(d time.Duration) (n float64) {
	windows := math.Floor(d.Seconds() / w.window)
	t := d.Seconds() - windows*w.window
	for i, r := range w.rate {
		n += r * min(max(t-float64(i)*w.width, 0), w.length(i))
	}
	return n + windows*w.total
}
