package fit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	maxComponents = 10
	minSigma      = .02 // narrower is a point mass, which is found and kept apart
	minWeight     = .01
	shortSteps    = 30  // of each start; the best goes on
	longSteps     = 400 // at most
	emPrecision   = 2e-3
)

func fitLognormal(s Sample) ([]float64, error) {
	g := newGroups(s)
	m, _ := g.climb(mixture{g.whole()}, longSteps)
	return m.params()[1:], nil
}

// fitMixture fits mixtures of 2, 3, ... lognormals and returns the one of least
// BIC. It stops after two sizes in a row that BIC does not thank it for.
func fitMixture(s Sample) ([]float64, error) {
	g := newGroups(s)
	n := s.N()
	prev, _ := g.climb(mixture{g.whole()}, longSteps)
	var best mixture
	least := math.Inf(1)
	for k, worse := 2, 0; k <= maxComponents && worse < 2; k++ {
		m, ll := g.fit(k, prev)
		bic := -2*ll + float64(3*k-1)*math.Log(n)
		worse++
		if bic < least {
			best, least, worse = m, bic, 0
		}
		prev = m
	}
	return best.params(), nil
}

// fit climbs from several starts, for EM finds only the nearest hill: equal slices
// of the data, each split of the previous mixture's heaviest components, and random places.
// The seed is fixed, so that the same data give the same bytes.
func (g *groups) fit(k int, prev mixture) (best mixture, ll float64) {
	src := rand.New(rand.NewPCG(uint64(k), 0x77617665))
	starts := []mixture{g.slices(k), prev.split(0), prev.split(1), g.scatter(k, src)}
	ll = math.Inf(-1)
	for _, start := range starts {
		if m, l := g.climb(start, shortSteps); l > ll {
			best, ll = m, l
		}
	}
	best, ll = g.climb(best, longSteps)
	slices.SortFunc(best, func(a, b component) int { return cmp.Compare(a.mu, b.mu) })
	return best, ll
}

// slices centres k equal components on equal slices of the data.
func (g *groups) slices(k int) mixture {
	return g.place(k, func(i int) float64 { return (float64(i) + .5) / float64(k) })
}

// scatter centres k equal components on observations drawn at random.
func (g *groups) scatter(k int, src *rand.Rand) mixture {
	return g.place(k, func(int) float64 { return src.Float64() })
}

func (g *groups) place(k int, p func(int) float64) (m mixture) {
	sigma := max(g.whole().sigma/math.Sqrt(float64(k)), 2*minSigma)
	for i := range k {
		m = append(m, component{1 / float64(k), lognormalDist{g.quantile(p(i)), sigma}})
	}
	return m
}

// split halves the component of that rank by weight.
func (m mixture) split(rank int) mixture {
	out := slices.Clone(m)
	slices.SortFunc(out, func(a, b component) int { return cmp.Compare(b.w, a.w) })
	i := min(rank, len(out)-1)
	c := out[i]
	a := component{c.w / 2, lognormalDist{c.mu - .8*c.sigma, max(c.sigma*.6, minSigma)}}
	b := component{c.w / 2, lognormalDist{c.mu + .8*c.sigma, max(c.sigma*.6, minSigma)}}
	out[i] = a
	return append(out, b)
}
