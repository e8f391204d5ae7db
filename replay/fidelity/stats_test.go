package fidelity

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func near(t *testing.T, name string, got, want, slack float64) {
	t.Helper()
	if !(math.Abs(got-want) <= slack) {
		t.Errorf("%s is %g, want %g", name, got, want)
	}
}

// The distances are those of their definitions, with ties.
func TestApart(t *testing.T) {
	a, b := []float64{1, 2, 2, 4}, []float64{2, 3, 3, 5, 9}
	ks, ad, w1 := apart(a, b)
	// The cdfs at 1, 2, 3, 4, 5 are 1/4, 3/4, 3/4, 1, 1 and 0, 1/5, 3/5, 3/5, 4/5.
	near(t, "ks", ks, .55, 1e-12)
	near(t, "w1", w1, (.25+.55+.15+.4+4*.2)/2.25, 1e-12)
	want := 0.
	for _, p := range [][4]float64{{1. / 9, .25, 0, 1. / 9}, {3. / 9, .75, .2, 4. / 9}, {2. / 9, .75, .6, 6. / 9}, {1. / 9, 1, .6, 7. / 9}, {1. / 9, 1, .8, 8. / 9}} {
		want += p[0] * (p[1] - p[2]) * (p[1] - p[2]) / (p[3] * (1 - p[3]))
	}
	near(t, "ad", ad, want, 1e-12)
	if ks, ad, w1 := apart(a, a); ks != 0 || ad != 0 || w1 != 0 {
		t.Errorf("from itself: %g %g %g", ks, ad, w1)
	}
}

// The energy distance from projections is that of all pairs of rows.
func TestEnergy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(shift float64) (rows []row) {
		for range 300 {
			x := rng.NormFloat64()
			rows = append(rows, row{prompt: int32(math.Exp(7 + x)), output: int32(math.Exp(6 + shift*x + rng.NormFloat64()))})
		}
		return rows
	}
	between := func(a, b []row) (sum float64) {
		for _, p := range a {
			for _, q := range b {
				sum += math.Hypot(math.Log(float64(p.prompt)/float64(q.prompt)), math.Log(float64(p.output)/float64(q.output)))
			}
		}
		return sum / float64(len(a)*len(b))
	}
	a, b := draw(0), draw(.8)
	pa, pb := planeOf(a), planeOf(b)
	want := 2*between(a, b) - between(a, a) - between(b, b)
	near(t, "energy", energy(&pa, &pb), want, .02*want)
	if e := energy(&pa, &pa); e != 0 {
		t.Errorf("from itself: %g", e)
	}
	// The ends of the range have a place on the grid.
	planeOf([]row{{prompt: 1, output: math.MaxInt32}, {prompt: math.MaxInt32, output: 1}, {prompt: math.MaxInt32, output: math.MaxInt32}, {prompt: 1, output: 1}})
}

func at(seconds ...float64) (rows []row) {
	for _, s := range seconds {
		rows = append(rows, row{at: time.Duration(s * 1e9), prompt: 10, output: 1})
	}
	return rows
}

func TestDispersion(t *testing.T) {
	s := &summary{rows: at(0, .1, .2, 2.5, 3.9, 4.5), span: 4500 * time.Millisecond}
	// Counts of the whole seconds are 3, 0, 1, 1.
	near(t, "idc", dispersion(s, time.Second, weights[0]), (3.0625+1.5625+.0625+.0625)/3/1.25, 1e-12)
	near(t, "idc of tokens", dispersion(s, time.Second, weights[1]), 10*(3.0625+1.5625+.0625+.0625)/3/1.25, 1e-9)
	near(t, "max", peak(s, time.Second, 1), 3, 0)
	near(t, "median", peak(s, time.Second, .5), 1, 0)
	near(t, "lowest", peak(s, time.Second, .25), 0, 0)
}

// What requests find in a queue that serves one a second, to the width of a bin.
func TestBacklog(t *testing.T) {
	bins := queue(at(0, 0, 0, .5, 10), weights[0], 1, 1, nil)
	for i, want := range []float64{0, 0, 1, 2, 2.5} { // sorted: the first, the last, and those between
		near(t, "backlog", ofBins(bins, float64(i)/4, 5), want, .01*(want+softening))
	}
	double := queue(at(0, 0, 0, .5, 10), weights[1], 5, 1, nil) // each is two of A's mean
	near(t, "of tokens", ofBins(double, 1, 5), 5.5, .09)
}

func TestAutocorrelation(t *testing.T) {
	v := make([]float64, 1000)
	for i := range v {
		v[i] = float64(i / 10 % 2)
	}
	near(t, "acf 10", autocorrelation(v, 10), -1, .02)
	near(t, "acf 20", autocorrelation(v, 20), 1, .03)
	if !math.IsNaN(autocorrelation(v[:10], 1)) || !math.IsNaN(autocorrelation(v, 300)) {
		t.Error("constants and too few have no autocorrelation")
	}
}

func TestSpikes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var v []float64
	for range 2000 {
		v = append(v, math.Round(math.Exp(6+rng.NormFloat64())))
	}
	if got := spikes(slices.Sorted(slices.Values(v))); len(got) != 0 {
		t.Errorf("a smooth sample has spikes at %v", got)
	}
	for range 60 {
		v = append(v, 512)
	}
	for range 30 {
		v = append(v, 4096)
	}
	slices.Sort(v)
	if got := spikes(v); !slices.Equal(got, []float64{512, 4096}) {
		t.Errorf("spikes at %v", got)
	}
	near(t, "mass", massAt(v, 4096), 30./2090, 1e-3)
}

// A redrawn trace is as long, about as busy, and keeps the course of the load.
func TestRedraw(t *testing.T) {
	var rows []row
	for i := range 3000 { // 1 a second, then 4 a second
		rows = append(rows, row{at: time.Duration(i) * time.Second})
		for j := range min(i/1500, 1) * 3 {
			rows = append(rows, row{at: time.Duration(i)*time.Second + time.Duration(j+1)*100*time.Millisecond})
		}
	}
	tr := &Trace{rows: rows, span: 3000 * time.Second, turns: []timed{{0, 1}, {2000 * time.Second, 2}}}
	for seed := range uint64(5) {
		got := tr.redraw(tr.span, blockOf(tr.span), newRand(seed, "test", 0))
		if !slices.IsSortedFunc(got.rows, func(a, b row) int { return int(a.at - b.at) }) {
			t.Fatal("rows are out of order")
		}
		early := slices.IndexFunc(got.rows, func(q row) bool { return q.at >= 1200*time.Second })
		near(t, "requests of the quiet part", float64(early), 1200, 20)
		near(t, "requests", float64(len(got.rows)), 7500, 600)
		if last := got.rows[len(got.rows)-1].at; last >= tr.span {
			t.Errorf("the last arrives at %v", last)
		}
	}
	half := tr.redraw(tr.span/2, blockOf(tr.span/2), newRand(1, "test", 0))
	near(t, "requests of half the span", float64(len(half.rows)), 3750, 300)
}
