package fit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

const (
	maxClasses = 8
	maxSpots   = 3000 // of the grid that classes are fitted on
	gridStart  = .05  // its width; doubled until the spots are no more than maxSpots
	seedStarts = 3    // of each number of classes, by k-means++
	gmmShort   = 15   // steps of each start; the best goes on
	gmmLong    = 120  // at most
	gmmGain    = 1e-6 // of log-likelihood an observation: less is none
)

// spotsOf places bins of prompt and output, named by any length inside them, in the
// logarithm. A side that no request of the trace has is 0 everywhere.
func spotsOf(pairs map[[2]int32]int64) []spot {
	out := make([]spot, 0, len(pairs))
	for k, n := range pairs {
		c := spot{n: float64(n)}
		c.x, c.vx = logBin(k[0])
		c.y, c.vy = logBin(k[1])
		out = append(out, c)
	}
	sortSpots(out)
	return out
}

func sortSpots(spots []spot) {
	slices.SortFunc(spots, func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y))
	})
}

// logBin returns the centre and the variance of the bin of v in the logarithm.
func logBin(v int32) (centre, variance float64) {
	if v <= 0 {
		return 0, 0
	}
	lo, hi := tokenBin(v)
	from, to := math.Log(float64(lo)-.5), math.Log(float64(hi)+.5)
	return (from + to) / 2, (to - from) * (to - from) / 12
}

// coarse merges spots until there are no more than most, each at its centre of mass,
// so that the work does not grow with the trace.
func coarse(spots []spot, most int) []spot {
	for width := gridStart; len(spots) > most; width *= 2 {
		sums := make(map[[2]int32]*classSums)
		for _, c := range spots {
			k := [2]int32{int32(math.Floor(c.x / width)), int32(math.Floor(c.y / width))}
			if sums[k] == nil {
				sums[k] = new(classSums)
			}
			sums[k].add(c, c.n)
		}
		spots = spots[:0:0]
		for _, s := range sums {
			x, y := s.x/s.n, s.y/s.n
			spots = append(spots, spot{x, y, max(s.xx/s.n-x*x, 0), max(s.yy/s.n-y*y, 0), s.n})
		}
		sortSpots(spots)
	}
	return spots
}

// A gmmFit is the data that mixtures are fitted to.
type gmmFit struct {
	spots  []spot
	n      float64
	whole  gauss
	params float64 // of a component, weight included
}

func newGMMFit(spots []spot) *gmmFit {
	var t classSums
	for _, c := range spots {
		t.add(c, c.n)
	}
	f := &gmmFit{spots: spots, n: t.n, whole: t.gauss(t.n), params: 6}
	oneKnown := func(of func(spot) float64) bool {
		return !slices.ContainsFunc(spots, func(c spot) bool { return of(c) != of(spots[0]) })
	}
	if oneKnown(func(c spot) float64 { return c.x }) || oneKnown(func(c spot) float64 { return c.y }) {
		f.params = 3
	}
	return f
}

// fitClasses fits mixtures of 1, 2, ... most normals and returns the one of least BIC
// (Schwarz, 1978) in canonical order, by mean prompt and output. It stops after two
// sizes in a row that BIC does not thank it for. A class has 1 % of the requests and
// minRequests at least. The work is bounded whatever the number of spots. It is nil
// where there are none.
//
// The least number of classes whose resampled requests lie as near to the recorded as
// noise allows (jointEnergy) was tried and is too few: on Azure's chat 5 classes
// pass, but merge kinds that come at different times, and the p99 TTFT at high load is
// half of the recorded. From 6 on it is within 10 %.
func fitClasses(spots []spot, most int) gmm {
	if len(spots) == 0 {
		return nil
	}
	f := newGMMFit(coarse(spots, maxSpots))
	var best gmm
	prev, least := gmm{f.whole}, math.Inf(1)
	for k, worse := 1, 0; k <= most && worse < 2; k++ {
		m, ll := f.fit(k, prev)
		worse++
		if bic := -2*ll + (f.params*float64(k)-1)*math.Log(f.n); bic < least {
			best, least, worse = m, bic, 0
		}
		prev = m
	}
	best = best.without(f.spots, max(minWeight*f.n, minRequests))
	slices.SortFunc(best, func(a, b gauss) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	return best
}

// fit climbs from several starts, for EM finds only the nearest hill: the previous
// mixture with a component split, and k-means++ from fixed seeds.
func (f *gmmFit) fit(k int, prev gmm) (gmm, float64) {
	if k == 1 {
		return f.climb(gmm{f.whole}, 1)
	}
	src := rand.New(rand.NewPCG(uint64(k), 0x636c6173))
	starts := []gmm{prev.split(0), prev.split(1)}
	for range seedStarts {
		starts = append(starts, f.seeded(k, src))
	}
	lls := make([]float64, len(starts))
	var wait sync.WaitGroup
	for i := range starts {
		wait.Go(func() { starts[i], lls[i] = f.climb(starts[i], gmmShort) })
	}
	wait.Wait()
	return f.climb(starts[slices.Index(lls, slices.Max(lls))], gmmLong)
}

// climb runs the EM algorithm from m and returns the last mixture with the
// log-likelihood of the one before.
func (f *gmmFit) climb(m gmm, steps int) (gmm, float64) {
	ll := math.Inf(-1)
	for range steps {
		next, l := f.step(m)
		if l-ll < gmmGain*f.n {
			return m, max(l, ll)
		}
		m, ll = next, l
	}
	return m, ll
}

// step returns the next mixture and the log-likelihood of m.
func (f *gmmFit) step(m gmm) (gmm, float64) {
	s := m.scorers()
	sums := make([]classSums, len(m))
	p := make([]float64, len(m))
	var ll float64
	for _, c := range f.spots {
		most := math.Inf(-1)
		for k := range s {
			p[k] = s[k].log(c)
			most = max(most, p[k])
		}
		var sum float64
		for k := range p {
			if p[k] -= most; p[k] < -farAway {
				p[k] = 0
				continue
			}
			p[k] = math.Exp(p[k])
			sum += p[k]
		}
		ll += c.n * (most + math.Log(sum))
		for k := range p {
			if p[k] > 0 {
				sums[k].add(c, c.n*p[k]/sum)
			}
		}
	}
	return f.next(m, sums), ll
}

// next is the M step. A component without data stays as it was.
func (f *gmmFit) next(m gmm, sums []classSums) gmm {
	out := make(gmm, len(m))
	var total float64
	for k, t := range sums {
		out[k] = m[k]
		out[k].w = minWeight
		if t.n > 0 {
			out[k] = t.gauss(f.n)
		}
		total += out[k].w
	}
	for k := range out {
		out[k].w /= total
	}
	return out
}

// split halves the component of that rank by weight along its longer side.
func (m gmm) split(rank int) gmm {
	out := slices.Clone(m)
	slices.SortFunc(out, func(a, b gauss) int { return cmp.Compare(b.w, a.w) })
	g := &out[min(rank, len(out)-1)]
	a := *g
	a.w, g.w = g.w/2, g.w/2
	if g.xx >= g.yy {
		d := .8 * math.Sqrt(g.xx)
		a.x, g.x = a.x-d, g.x+d
	} else {
		d := .8 * math.Sqrt(g.yy)
		a.y, g.y = a.y-d, g.y+d
	}
	return append(out, a)
}

// seeded places k centres by k-means++ (Arthur and Vassilvitskii, 2007), in units of
// the whole's standard deviations, and gives each spot to the nearest.
func (f *gmmFit) seeded(k int, src *rand.Rand) gmm {
	nearest := make([]float64, len(f.spots)) // squared distance
	owner := make([]int, len(f.spots))
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	for j := range k {
		c := f.spots[f.draw(nearest, src)]
		for i, o := range f.spots {
			dx, dy := o.x-c.x, o.y-c.y
			if d := dx*dx/f.whole.xx + dy*dy/f.whole.yy; d < nearest[i] {
				nearest[i], owner[i] = d, j
			}
		}
	}
	sums := make([]classSums, k)
	for i, c := range f.spots {
		sums[owner[i]].add(c, c.n)
	}
	m := make(gmm, k)
	for j := range m {
		m[j] = f.whole
	}
	return f.next(m, sums)
}

// draw returns a spot in proportion to its requests and squared distance; while there
// is no distance yet, to its requests.
func (f *gmmFit) draw(squared []float64, src *rand.Rand) int {
	weight := func(i int) float64 {
		if math.IsInf(squared[i], 1) {
			return f.spots[i].n
		}
		return f.spots[i].n * squared[i]
	}
	var total float64
	for i := range f.spots {
		total += weight(i)
	}
	at := src.Float64() * total
	for i := range f.spots {
		if at -= weight(i); at < 0 {
			return i
		}
	}
	return len(f.spots) - 1
}
