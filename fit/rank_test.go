package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomPairs has many ties and counts above 1.
func randomPairs(seed uint64, n, levels int) (pairs []Pair) {
	r := rand.New(rand.NewPCG(seed, 31))
	for range n {
		x := r.IntN(levels)
		pairs = append(pairs, Pair{float64(x), float64((x*r.IntN(2) + r.IntN(levels)) - levels/2), float64(1 + r.IntN(3))})
	}
	return pairs
}

func named(pairs []Pair) (out []Pair) {
	for _, p := range pairs {
		for range int(p.N) {
			out = append(out, Pair{p.X, p.Y, 1})
		}
	}
	return out
}

// By the definitions, pair by pair: tau-b, and Spearman as the correlation of ranks that
// are 1/2 + those below + half of those level.
func TestRankCorrelationsByDefinition(t *testing.T) {
	sign := func(d float64) float64 {
		switch {
		case d > 0:
			return 1
		case d < 0:
			return -1
		}
		return 0
	}
	for seed := range uint64(20) {
		pairs := randomPairs(seed, 40, 2+int(seed))
		all := named(pairs)
		var s, x2, y2 float64
		var rx, ry []float64
		for _, p := range all {
			rank := [2]float64{.5, .5}
			for _, q := range all {
				x, y := sign(p.X-q.X), sign(p.Y-q.Y)
				s, x2, y2 = s+x*y, x2+x*x, y2+y*y
				rank[0], rank[1] = rank[0]+(x+1)/2, rank[1]+(y+1)/2
			}
			rx, ry = append(rx, rank[0]), append(ry, rank[1])
		}
		if got, want := KendallTauB(pairs), s/math.Sqrt(x2*y2); math.Abs(got-want) > 1e-12 {
			t.Errorf("tau-b is %g, want %g", got, want)
		}
		mean := float64(len(all)+1) / 2
		var xy, xx, yy float64
		for i := range rx {
			dx, dy := rx[i]-mean, ry[i]-mean
			xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
		}
		if got, want := Spearman(pairs), xy/math.Sqrt(xx*yy); math.Abs(got-want) > 1e-12 {
			t.Errorf("Spearman is %g, want %g", got, want)
		}
	}
}

// Independent values with ties have no correlation, which is what tau-a gets wrong, and
// tau of a normal pair of correlation r is 2 asin(r) / pi.
func TestKendallTauB(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var ties, normal []Pair
	for range 20_000 {
		ties = append(ties, Pair{float64(r.IntN(3)), float64(r.IntN(3)), 1})
		x := r.NormFloat64()
		normal = append(normal, Pair{x, .6*x + .8*r.NormFloat64(), 1})
	}
	if tau := KendallTauB(ties); math.Abs(tau) > .02 {
		t.Errorf("independent: %g", tau)
	}
	if got, want := KendallTauB(normal), 2*math.Asin(.6)/math.Pi; math.Abs(got-want) > .015 {
		t.Errorf("normal: %g, want %g", got, want)
	}
	if !math.IsNaN(KendallTauB([]Pair{{1, 1, 3}, {1, 2, 1}})) || !math.IsNaN(KendallTauB(nil)) {
		t.Error("constant values have a tau")
	}
}

// Ranks of ties are their mean: x = 1 2 2 3 has the ranks 1 2.5 2.5 4, so that
// Spearman with y = 1 2 3 4 is 4.5/sqrt(4.5*5).
func TestSpearmanTakesMidRanks(t *testing.T) {
	got := Spearman([]Pair{{1, 1, 1}, {2, 2, 1}, {2, 3, 1}, {3, 4, 1}})
	if want := 4.5 / math.Sqrt(4.5*5); math.Abs(got-want) > 1e-12 {
		t.Errorf("got %g, want %g", got, want)
	}
}

// Counting a pair n times is the same as naming it n times.
func TestSpearmanCounts(t *testing.T) {
	var named, counted []Pair
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		p := Pair{float64(r.IntN(8)), float64(r.IntN(8)), float64(1 + r.IntN(4))}
		counted = append(counted, p)
		for range int(p.N) {
			named = append(named, Pair{p.X, p.Y, 1})
		}
	}
	if a, b := Spearman(named), Spearman(counted); math.Abs(a-b) > 1e-12 {
		t.Errorf("named %g, counted %g", a, b)
	}
}

func TestSpearmanOfConstantIsUnknown(t *testing.T) {
	if s := Spearman([]Pair{{1, 1, 5}, {1, 2, 5}}); !math.IsNaN(s) {
		t.Errorf("got %g, want NaN", s)
	}
}

func BenchmarkKendallTauB(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	pairs := make([]Pair, 1_000_000)
	for i := range pairs {
		pairs[i] = Pair{r.NormFloat64(), r.NormFloat64(), 1}
	}
	for b.Loop() {
		KendallTauB(pairs)
	}
}
