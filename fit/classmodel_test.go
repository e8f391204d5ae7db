package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// A classModel is a class as a profile describes it, before families are fitted: the
// marginals that its requests have, and a copula.
type classModel struct {
	weight float64
	x, y   []step
	copula float64
}

// A step is an interval of a marginal and the cumulative share at its end.
type step struct{ from, to, cum float64 }

// models divides spots among the classes, each whole to the likeliest.
func (m gmm) models(spots []spot) []classModel {
	members := make([][]spot, len(m))
	var n float64
	of := m.classifier()
	for _, c := range spots {
		k := of(c.x, c.y)
		members[k] = append(members[k], c)
		n += c.n
	}
	var out []classModel
	for _, cs := range members {
		if len(cs) == 0 {
			continue
		}
		var c classModel
		var pairs []Pair
		for _, s := range cs {
			c.weight += s.n / n
			pairs = append(pairs, Pair{s.x, s.y, s.n})
		}
		c.x = marginal(cs, func(s spot) (float64, float64) { return s.x, s.vx })
		c.y = marginal(cs, func(s spot) (float64, float64) { return s.y, s.vy })
		if s := Spearman(pairs); !math.IsNaN(s) {
			c.copula = tiedCopula(pairs, s)
		}
		out = append(out, c)
	}
	return out
}

func marginal(spots []spot, of func(spot) (centre, variance float64)) (out []step) {
	sorted := slices.Clone(spots)
	slices.SortStableFunc(sorted, func(a, b spot) int {
		x, _ := of(a)
		y, _ := of(b)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	var n, sum float64
	for _, s := range sorted {
		n += s.n
	}
	for _, s := range sorted {
		sum += s.n / n
		x, v := of(s)
		half := math.Sqrt(3 * v)
		if k := len(out) - 1; k >= 0 && out[k].from == x-half {
			out[k].cum = sum
			continue
		}
		out = append(out, step{x - half, x + half, sum})
	}
	return out
}

func quantileOf(steps []step, p float64) float64 {
	i := min(sort.Search(len(steps), func(i int) bool { return steps[i].cum >= p }), len(steps)-1)
	s, below := steps[i], 0.
	if i > 0 {
		below = steps[i-1].cum
	}
	return s.from + (s.to-s.from)*min(max((p-below)/(s.cum-below), 0), 1)
}

// point draws from the class by two uniforms.
func (c classModel) point(u, v float64) [2]float64 {
	z := c.copula*NormalQuantile(u) + math.Sqrt(1-c.copula*c.copula)*NormalQuantile(v)
	return [2]float64{quantileOf(c.x, u), quantileOf(c.y, NormalCDF(z))}
}

// resample draws n requests of the models.
func resample(models []classModel, n int, seed uint64) [][2]float64 {
	src := rand.New(rand.NewPCG(seed, 3))
	out := make([][2]float64, n)
	for i := range out {
		k, u := 0, src.Float64()
		for ; k < len(models)-1 && u > models[k].weight; k++ {
			u -= models[k].weight
		}
		out[i] = models[k].point(Uniform(src), Uniform(src))
	}
	return out
}
