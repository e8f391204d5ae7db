package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Counts of a renewal process keep their variance, 1/shape of the mean over long
// intervals, and their number is left to chance: gaps made to fill a window would lose both.
func TestPointsKeepTheVarianceOfCounts(t *testing.T) {
	const window = 20000
	for _, shape := range []float64{.3, 1, 4} {
		var l intensity
		l.reset(1)
		l.setMix([]float64{1})
		l.add(window, window)
		var s span
		l.walk(shape, 1, rand.New(rand.NewPCG(41, 42))).points(&s)
		if got := ArrivalIDC(s.times, window*time.Second, 50*time.Second); math.Abs(got*shape-1) > .25 {
			t.Errorf("shape %g: IDC is %g, want %g", shape, got, 1/shape)
		}
		var n, squares float64
		for seed := range uint64(200) {
			short := l
			short.ends, short.due = []float64{100}, []float64{100}
			short.walk(shape, 1, rand.New(rand.NewPCG(seed, 43))).points(&s)
			d := float64(len(s.times)) - 100
			n, squares = n+d/200, squares+d*d/200
		}
		if got := squares - n*n; math.Abs(got*shape/100-1) > .35 {
			t.Errorf("shape %g: variance of the number is %g, want %g", shape, got, 100/shape)
		}
	}
}

// Every n-th of the unit interval is drawn from once.
func TestStratified(t *testing.T) {
	u := stratified(rand.New(rand.NewPCG(44, 45)), 100)
	if slices.IsSorted(u) {
		t.Error("the order is not random")
	}
	slices.Sort(u)
	for i, v := range u {
		if int(v*100) != i {
			t.Fatalf("the %dth is %g", i, v)
		}
	}
}

func TestGammaDraws(t *testing.T) {
	for _, shape := range []float64{.05, .65, 1, 3, 80} {
		r := rand.New(rand.NewPCG(46, 47))
		draw := gammaDraws(shape)
		bins := make(map[int]int64)
		for range 20000 {
			bins[gapBin(draw(r))]++
		}
		if ks := KS(gapSample(bins), gammaDist{shape, 1 / shape}.CDF); ks > 1.63/math.Sqrt(20000) {
			t.Errorf("shape %g: the draws are %g from the distribution", shape, ks)
		}
	}
}

func TestOrnsteinKeepsVarianceAndCorrelation(t *testing.T) {
	r := rand.New(rand.NewPCG(48, 49))
	o := newOrnstein(r, 1, 5)
	var n, xx, xy, prev float64
	for range 200000 {
		x := o.next(r)
		n, xx, xy = n+1, xx+x*x, xy+x*prev
		prev = x
	}
	if math.Abs(xx/n-1) > .05 || math.Abs(xy/xx-math.Exp(-.2)) > .01 {
		t.Errorf("variance %g, correlation %g", xx/n, xy/xx)
	}
}
