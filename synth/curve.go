package synth

import (
	"math"
	"time"

	"wavetank/fit"
)

// A curve is a rate in time, repeated without end: requests a second over cells of
// equal width, of which the last ends with the window.
type curve struct {
	width, window float64 // seconds
	rate          []float64
	total         float64 // requests in one window
}

// newCurve scales r, so that it stands for r.Mean*scale requests a second.
func newCurve(r fit.Rate, window time.Duration, scale float64) *curve {
	c := &curve{width: r.Width.Seconds(), window: window.Seconds()}
	for _, v := range r.Relative {
		c.rate = append(c.rate, v*r.Mean*scale)
	}
	for i, r := range c.rate {
		c.total += r * c.length(i)
	}
	return c
}

// A position is a point of the curve: seconds into a cell of a round.
type position struct {
	round  float64 // windows that have passed
	cell   int
	inside float64
}

func (c *curve) length(cell int) float64 {
	return min(c.width, c.window-float64(cell)*c.width)
}

// advance moves p until u requests were due: it inverts the integral of the rate.
// The curve is positive somewhere, so that it ends; whole windows are taken in one step,
// for a heavy tail may ask for any number.
func (c *curve) advance(p position, u float64) position {
	u = min(u, 1e15)
	windows := math.Floor(u / c.total)
	p.round += windows
	u -= windows * c.total
	for {
		rest := c.length(p.cell) - p.inside
		if due := rest * c.rate[p.cell]; u >= due {
			u -= due
			p.inside = 0
			if p.cell++; p.cell == len(c.rate) {
				p.cell = 0
				p.round++
			}
			continue
		}
		p.inside += u / c.rate[p.cell]
		return p
	}
}

// time is p since the start, and the end of time where that is later.
func (c *curve) time(p position) time.Duration {
	ns := (p.round*c.window + float64(p.cell)*c.width + p.inside) * float64(time.Second)
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// until is the integral of the rate over the first d.
func (c *curve) until(d time.Duration) (n float64) {
	windows := math.Floor(d.Seconds() / c.window)
	t := d.Seconds() - windows*c.window
	for i, r := range c.rate {
		n += r * min(max(t-float64(i)*c.width, 0), c.length(i))
	}
	return n + windows*c.total
}
