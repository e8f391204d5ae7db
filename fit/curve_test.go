package fit

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The dispersion and the backlog of Azure's traces ask for a minute, and for 5 seconds.
func TestWidthRule(t *testing.T) {
	for name, want := range map[string]time.Duration{"azure-conv": time.Minute, "azure-code": 5 * time.Second} {
		d := realArrivals(t, name)
		if got := d.curveWidth(); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// The rate of steady traffic in a minute is chance: a curve of it would add to the
// chance that synthesis brings.
func TestWidthOfSteadyTraffic(t *testing.T) {
	for _, rate := range []float64{.05, 1, 10} {
		d := poisson(rate, time.Duration(40000/rate*1e9))
		if got := d.curveWidth(); got < 5*time.Minute {
			t.Errorf("%g requests a second: %v", rate, got)
		}
	}
}

func poisson(rate float64, window time.Duration) arrivalData {
	r := rand.New(rand.NewPCG(61, 62))
	d := arrivalData{window: window, work: [][2]float64{{100, 10}, {300, 5}}}
	for now := 0.; ; {
		now += r.ExpFloat64() / rate
		at := time.Duration(now * 1e9)
		if at > window {
			return d
		}
		d.times, d.class = append(d.times, at), append(d.class, uint8(r.IntN(2)))
	}
}

// A drawn curve has as many requests as the curve says, class by class and cell by
// cell, with the variance that chance gives, and goes on for ever.
func TestDrawnCurve(t *testing.T) {
	d := realArrivals(t, "azure-conv")
	a, err := fitArrivals(d, arrivalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.validate(d.window, 8); err != nil {
		t.Fatal(err)
	}
	const windows = 20
	n := make([]float64, 8)
	var cells []float64
	s := a.Draw(d.window, DrawOptions{Seed: 1})
	for at, class := s.Next(); at < windows*d.window; at, class = s.Next() {
		n[class]++
		for int(at/d.window) >= len(cells) {
			cells = append(cells, 0)
		}
		cells[at/d.window]++
	}
	for k, share := range d.shares() {
		if want := share * float64(len(d.times)) * windows; math.Abs(n[k]/want-1) > .02 {
			t.Errorf("class %d: %g requests, want %g", k, n[k], want)
		}
	}
	var squares float64
	for _, c := range cells {
		squares += (c - float64(len(d.times))) * (c - float64(len(d.times))) / windows
	}
	if f := squares / float64(len(d.times)); f < .3 || f > 4 {
		t.Errorf("the variance of a window's requests is %g of their mean", f)
	}
	if got := a.Until(d.window, d.window/2) + a.Until(d.window, d.window*3/2); math.Abs(got/(2*float64(len(d.times)))-1) > .3 {
		t.Errorf("%g requests are due in half a window and one and a half", got)
	}
}

// The rate walk inverts the integral of the rate.
func TestRateWalkInvertsItsIntegral(t *testing.T) {
	w := newRateWalk(2*time.Second, 7*time.Second, []float64{1, 0, 3, .5}, 2)
	r := rand.New(rand.NewPCG(63, 64))
	var p walkPlace
	var due float64
	for range 200 {
		u := r.ExpFloat64() * 3
		p = w.advance(p, u)
		due += u
		if got := w.until(w.time(p)); math.Abs(got-due) > 1e-5 {
			t.Fatalf("at %v %g were due, not %g", w.time(p), got, due)
		}
	}
}
