package fit

import (
	"cmp"
	"math"
	"slices"
)

const (
	maxComponents = 10
	minSigma      = .02 // narrower is a point mass, which is found and kept apart
	minWeight     = .01
	shortSteps    = 5   // of each start
	longStarts    = 2   // of those that have come highest
	longSteps     = 40  // of them, at most
	lastSteps     = 150 // of what is taken
	nearSteps     = 20  // to a maximum that is a sampling error away
)

// insertWidths are the deviations of components that are tried, from hardly more
// than a point to a factor of two.
var insertWidths = []float64{.03, .1, .35, .7}

// fitMixtures fits mixtures of 2, 3, ... lognormals and returns them by BIC, the least
// first. It stops after two sizes in a row that BIC does not thank it for. Beside what
// BIC charges, a component has to bring a fraction of a bit a request: of a million
// requests BIC alone would keep components that nobody could see.
func fitMixtures(s Sample) ([][]float64, error) {
	if len(s.Bins) == 0 {
		return nil, errNoData
	}
	g := newGroups(s)
	price := max(math.Log(g.n), 2*math.Ln2*tieBits*g.n/3)
	prev, _ := g.climb(mixture{g.whole()}, lastSteps)
	type size struct {
		params []float64
		score  float64
	}
	var sizes []size
	least := math.Inf(1)
	for k, worse := 2, 0; k <= maxComponents && worse < 2; k++ {
		m, ll := g.fit(k, prev)
		if m == nil {
			break
		}
		score := -2*ll + float64(3*k-1)*price
		worse++
		if score < least {
			least, worse = score, 0
		}
		sizes = append(sizes, size{m.params(), score})
		prev = m
	}
	if len(sizes) == 0 {
		return nil, errNoFit
	}
	slices.SortStableFunc(sizes, func(a, b size) int { return cmp.Compare(a.score, b.score) })
	out := make([][]float64, len(sizes))
	for i, s := range sizes {
		out[i] = s.params
	}
	if m, _ := g.climb(newMixture(out[0]), lastSteps); m != nil && !m.starved() {
		out[0] = m.params()
	}
	return out, nil
}

func fitMixture(s Sample) ([]float64, error) {
	sizes, err := fitMixtures(s)
	if err != nil {
		return nil, err
	}
	return sizes[0], nil
}

// refitMixture climbs from a mixture that is near.
func refitMixture(s Sample, near []float64) ([]float64, error) {
	m, ll := newGroups(s).climb(newMixture(near), nearSteps)
	if math.IsInf(ll, 0) {
		return nil, errNoFit
	}
	return m.params(), nil
}

// A hill is a place in a climb.
type hill struct {
	m  mixture
	ll float64
}

// fit climbs from several starts, for EM finds only the nearest hill: the previous
// mixture with a component more where it lacks most, in windows of several widths, and
// with either of its heaviest components split. It is nil where every climb starves a component.
func (g *groups) fit(k int, prev mixture) (best mixture, ll float64) {
	starts := []mixture{g.slices(k), prev.split(0), prev.split(1)}
	for _, width := range insertWidths {
		starts = append(starts, g.insert(prev, width))
	}
	var hills []hill
	for _, start := range starts {
		m, ll := g.climb(start, shortSteps)
		hills = append(hills, hill{m, ll})
	}
	slices.SortStableFunc(hills, func(a, b hill) int { return cmp.Compare(b.ll, a.ll) })
	ll = math.Inf(-1)
	for tried := 0; len(hills) > 0 && tried < longStarts; hills = hills[1:] {
		if hills[0].m.starved() {
			continue
		}
		m, l := g.climb(hills[0].m, longSteps)
		if m.starved() {
			continue
		}
		if tried++; l > ll {
			best, ll = m, l
		}
	}
	return best, ll
}

// starved says whether a component has come down to the least weight: it would have gone
// on to less, and what it is kept at is more than the data have there.
func (m mixture) starved() bool {
	return slices.ContainsFunc(m, func(c component) bool { return c.w <= minWeight })
}

// insert adds a component of that deviation where the observations exceed what m expects
// by most, in standard errors.
func (g *groups) insert(m mixture, sigma float64) mixture {
	excess, expected := g.cumulate(m)
	var most float64
	add := component{2 * minWeight, lognormalDist{g.quantile(.5), sigma}}
	first, last := 0, 0
	for _, c := range g.cells {
		y := c.centre()
		for ; first < len(g.cells) && g.cells[first].centre() < y-sigma; first++ {
		}
		for ; last < len(g.cells) && g.cells[last].centre() <= y+sigma; last++ {
		}
		e := excess[last] - excess[first]
		if score := e / math.Sqrt(max(expected[last]-expected[first], 1)); score > most {
			most = score
			add.mu, add.w = y, max(e/g.n, 2*minWeight)
		}
	}
	out := slices.Clone(m)
	for k := range out {
		out[k].w *= 1 - add.w
	}
	return append(out, add).bounded()
}

// cumulate returns the running sums over the cells of what is observed beyond m, and of
// what m expects.
func (g *groups) cumulate(m mixture) (excess, expected []float64) {
	p := make([]float64, len(g.cells))
	for k, c := range m {
		c.walk(g.cells, g.pieces[k])
		for j := range p {
			p[j] += c.w * g.pieces[k][j].n
		}
	}
	norm := max(1-m.hidden(g.front)-m.hidden(g.back), minNorm)
	excess, expected = make([]float64, len(p)+1), make([]float64, len(p)+1)
	for j, cell := range g.cells {
		e := g.n * p[j] / norm
		excess[j+1], expected[j+1] = excess[j]+cell.n-e, expected[j]+e
	}
	return excess, expected
}

// slices centres k equal components on equal slices of the data.
func (g *groups) slices(k int) (m mixture) {
	sigma := max(g.whole().sigma/math.Sqrt(float64(k)), 2*minSigma)
	for i := range k {
		m = append(m, component{1 / float64(k), lognormalDist{g.quantile((float64(i) + .5) / float64(k)), sigma}})
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
