package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The dynamic programme is exact: no other division of a few bins costs less.
func TestChangepointsAreTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for range 20 {
		counts := make([][]float64, 9)
		for i := range counts {
			counts[i] = []float64{float64(r.IntN(20)), float64(r.IntN(5) * r.IntN(9))}
		}
		cost := func(cuts []int) (sum float64) {
			for i := 1; i < len(cuts); i++ {
				sum += 4
				for c := range counts[0] {
					var x float64
					for _, row := range counts[cuts[i-1]:cuts[i]] {
						x += row[c]
					}
					if x > 0 {
						sum -= x * math.Log(x/float64(cuts[i]-cuts[i-1]))
					}
				}
			}
			return sum
		}
		least := math.Inf(1)
		for set := range 1 << 8 {
			cuts := []int{0}
			for i := range 8 {
				if set>>i&1 == 1 {
					cuts = append(cuts, i+1)
				}
			}
			least = min(least, cost(append(cuts, 9)))
		}
		if got := cost(changepoints(counts, 4)); got > least+1e-9 {
			t.Fatalf("costs %g, the best %g", got, least)
		}
	}
}

// Two levels of two classes come back.
func TestRegimesAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	d := arrivalData{work: [][2]float64{{1, 1}, {5, 2}}, window: time.Hour}
	for s := range 3600 {
		rates := []float64{2, 1}
		if s >= 1500 {
			rates = []float64{2, 3}
		}
		for k, rate := range rates {
			for r.Float64() < rate/(1+rate) { // geometric of that mean
				d.times, d.class = append(d.times, time.Duration(s)*time.Second), append(d.class, uint8(k))
			}
		}
	}
	m := startRegimes(newTarget(&d, nil))
	if len(m.Sojourn) != 2 || m.Sojourn[0] != 1500*time.Second || math.Abs(m.Rates[1][1]-3) > .3 || math.Abs(m.Rates[0][0]-2) > .2 {
		t.Errorf("found %v of %v", m.Sojourn, m.Rates)
	}
}

// Shuffled, every regime comes once a span.
func TestRegimesKeepTheirOccupancy(t *testing.T) {
	m := &Regimes{
		Sojourn: []time.Duration{100 * time.Second, 300 * time.Second, 200 * time.Second}, Rates: [][]float64{{1}, {0}, {5}},
		Residual: Wave{0, 10}, Shape: 1,
	}
	c := &spanContext{window: 600, mean: 2, shares: []float64{1}, shuffle: true}
	var l intensity
	var firsts []float64
	for seed := range uint64(30) {
		m.draw(c, rand.New(rand.NewPCG(seed, 1)), &l)
		if got := l.total(); math.Abs(got-1100) > 1e-6 {
			t.Fatalf("%g requests are due, not 1100", got)
		}
		firsts = append(firsts, math.Round(l.due[0]/l.ends[0]))
	}
	for _, rate := range []float64{1, 0, 5} {
		if !slices.Contains(firsts, rate) {
			t.Errorf("the regime of rate %g never comes first", rate)
		}
	}
}
