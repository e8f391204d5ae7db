package fit

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Two kinds of requests that take turns drift as one class, and do not as two.
func TestDrift(t *testing.T) {
	src := rand.New(rand.NewPCG(91, 92))
	one, two := newDriftTally(1), newDriftTally(2)
	for i := range 50_000 {
		at := time.Duration(i) * 5 * time.Second
		kind := 0
		if src.Float64() < .5+.4*math.Sin(at.Hours()) {
			kind = 1
		}
		length := math.Exp(5 + float64(kind) + .5*src.NormFloat64())
		one.add(at, 0, length)
		two.add(at, kind, length)
	}
	if r := one.ratio(); r < 3 {
		t.Errorf("a mix that drifts has %g", r)
	}
	if r := two.ratio(); math.Abs(r-1) > .15 {
		t.Errorf("what the kinds leave is %g, want 1", r)
	}
	constant := newDriftTally(1)
	constant.add(time.Hour, 0, 7)
	if r := constant.ratio(); r != 0 || newDriftTally(0).ratio() != 0 {
		t.Errorf("a constant drifts by %g", r)
	}
}
