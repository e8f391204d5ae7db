package fit

import (
	"math"
	"slices"
)

const farAway = 12 // standard deviations: a share of 1e-33, not worth its exponential

// groups is a Sample in the logarithm: its bins, then what was cut, each an interval,
// and the two intervals that its window hides in front and behind.
type groups struct {
	cells       []interval
	front, back interval
	n           float64
	pieces      [][]tally // of every component in every cell
}

// An interval holds n observations of a logarithm.
type interval struct{ lo, hi, n float64 }

func newGroups(s Sample) *groups {
	g := &groups{n: s.N(), front: interval{math.Inf(-1), math.Log(s.Lo), 0}, back: interval{math.Log(s.Hi), math.Inf(1), 0}}
	for _, b := range s.Bins {
		g.cells = append(g.cells, interval{math.Log(b.Lo), math.Log(b.Hi), b.N})
	}
	for _, o := range s.Over {
		g.cells = append(g.cells, interval{math.Log(o.Above), math.Log(s.Hi), o.N})
	}
	for range maxComponents {
		g.pieces = append(g.pieces, make([]tally, len(g.cells)))
	}
	return g
}

// whole is the lognormal that matches the moments of the logarithm.
func (g *groups) whole() component {
	var m1, m2 float64
	for _, c := range g.cells {
		y := c.centre()
		m1, m2 = m1+c.n*y/g.n, m2+c.n*y*y/g.n
	}
	return component{1, lognormalDist{m1, math.Sqrt(max(m2-m1*m1, minSigma*minSigma))}}
}

// centre is where an interval's observations lie, if their spread does not matter.
func (c interval) centre() float64 {
	if math.IsInf(c.lo, -1) {
		return c.hi - .5
	}
	return min((c.lo+c.hi)/2, c.lo+.5)
}

// quantile is the centre of the cell that holds the p-quantile.
func (g *groups) quantile(p float64) float64 {
	var below float64
	for _, c := range g.cells {
		if below += c.n; below >= p*g.n {
			return c.centre()
		}
	}
	return g.cells[len(g.cells)-1].centre()
}

// climb runs the EM algorithm for grouped, truncated and censored data (McLachlan and
// Jones, 1988) from m until a step gains too little, and returns the best mixture with
// its log-likelihood. Every third step is drawn out by how the two before it went.
func (g *groups) climb(m mixture, steps int) (best mixture, ll float64) {
	ll = math.Inf(-1)
	var before []mixture
	var safe mixture // where to go on if m was drawn out too far
	for range steps {
		next, l := g.step(m)
		if safe != nil && !(l > ll) {
			m, safe = safe, nil
			continue
		}
		safe = nil
		gain := l - ll
		if gain > 0 {
			best, ll = m, l
		}
		if !(gain > climbGain+climbShare*g.n) {
			break
		}
		before, m = append(before, m), next
		if len(before) == 3 {
			safe, m = next, drawOut(before[0], before[1], before[2])
			before = before[:0]
		}
	}
	return best, ll
}

// drawOut extrapolates three steps (SQUAREM, scheme S3; Varadhan and Roland, 2008).
func drawOut(a, b, c mixture) mixture {
	var rr, vv float64
	x, y, z := a.coordinates(), b.coordinates(), c.coordinates()
	for i := range x {
		r := y[i] - x[i]
		v := z[i] - y[i] - r
		rr, vv = rr+r*r, vv+v*v
	}
	if vv == 0 {
		return c
	}
	step := min(-math.Sqrt(rr/vv), -1)
	for i := range x {
		r := y[i] - x[i]
		v := z[i] - y[i] - r
		x[i] += -2*step*r + step*step*v
	}
	return fromCoordinates(x)
}

// coordinates are those in which any number is a mixture: logarithms but for mu.
func (m mixture) coordinates() (x []float64) {
	for _, c := range m {
		x = append(x, math.Log(c.w), c.mu, math.Log(c.sigma))
	}
	return x
}

func fromCoordinates(x []float64) mixture {
	var m mixture
	for ; len(x) > 0; x = x[3:] {
		m = append(m, component{math.Exp(x[0]), lognormalDist{x[1], math.Exp(x[2])}})
	}
	return m.bounded()
}

// bounded keeps every parameter inside its limits, for likelihoods of mixtures have
// poles where a component collapses, and makes the weights add up to 1.
func (m mixture) bounded() mixture {
	out := slices.Clone(m)
	for k := range out {
		out[k].mu = min(max(out[k].mu, limits["mu"][0]), limits["mu"][1])
		out[k].sigma = min(max(out[k].sigma, limits["sigma"][0]), limits["sigma"][1])
	}
	floored := make([]bool, len(out))
	for range out {
		rest, sum := 1., 0.
		for k, c := range out {
			if floored[k] {
				rest -= minWeight
			} else {
				sum += c.w
			}
		}
		again := false
		for k := range out {
			if floored[k] {
				continue
			}
			out[k].w *= rest / sum
			if out[k].w < minWeight {
				out[k].w, floored[k], again = minWeight, true, true
			}
		}
		if !again {
			break
		}
	}
	return out
}

// A tally sums what a component is responsible for: observations, and their first
// and second moments about its mu in units of its sigma.
type tally struct{ n, m1, m2 float64 }

func (t *tally) add(r float64, p tally) {
	t.n, t.m1, t.m2 = t.n+r, t.m1+r*p.m1, t.m2+r*p.m2
}

// step returns the next mixture and the log-likelihood of m.
func (g *groups) step(m mixture) (mixture, float64) {
	tallies := make([]tally, len(m))
	for k, c := range m {
		c.walk(g.cells, g.pieces[k])
	}
	var ll float64
	for j, cell := range g.cells {
		p := minProb
		for k := range m {
			p += m[k].w * g.pieces[k][j].n
		}
		ll += cell.n * math.Log(p)
		for k := range m {
			if piece := g.pieces[k][j]; piece.n > 0 {
				tallies[k].add(cell.n*m[k].w*piece.n/p, piece)
			}
		}
	}
	hidden := m.hidden(g.front) + m.hidden(g.back)
	norm := max(1-hidden, minNorm)
	for k, c := range m { // what the window hides, as often as it is expected
		for _, side := range []interval{g.front, g.back} {
			piece := c.piece(side)
			tallies[k].add(g.n/norm*c.w*piece.n, piece)
		}
	}
	return m.next(tallies), ll - g.n*math.Log(norm)
}

func (m mixture) hidden(side interval) (p float64) {
	for _, c := range m {
		p += c.w * c.piece(side).n
	}
	return p
}

// walk sets out to the piece of c in every cell. Neighbours share an edge.
func (c component) walk(cells []interval, out []tally) {
	var right bound
	for j, cell := range cells {
		a, b := (cell.lo-c.mu)/c.sigma, (cell.hi-c.mu)/c.sigma
		if a > farAway || b < -farAway {
			out[j] = tally{}
			continue
		}
		if b-a < .1 {
			out[j] = narrow((a+b)/2, b-a)
			continue
		}
		left := right
		if left.z != a || left.density == 0 {
			left = newBound(a)
		}
		right = newBound(b)
		out[j] = left.to(right)
	}
}

// piece returns the probability that a component gives to an interval of the
// logarithm, and the moments of the component inside it.
func (c component) piece(i interval) tally {
	return newBound((i.lo - c.mu) / c.sigma).to(newBound((i.hi - c.mu) / c.sigma))
}

// A bound is a standard normal's density and the smaller of its tails at z.
type bound struct{ z, density, tail float64 }

func newBound(z float64) bound { return bound{z, normalDensity(z), NormalCDF(-math.Abs(z))} }

func (a bound) to(b bound) tally {
	p := b.tail - a.tail
	switch {
	case a.z > 0:
		p = a.tail - b.tail
	case b.z > 0:
		p = 1 - a.tail - b.tail
	}
	if p < minProb {
		return tally{}
	}
	return tally{p, (a.density - b.density) / p, 1 + (times(a.z, a.density)-times(b.z, b.density))/p}
}

// narrow is piece by Taylor series round the middle, where differences would cancel.
func narrow(z, width float64) tally {
	w2 := width * width / 12
	p := normalDensity(z) * width * (1 + (z*z-1)*w2/2)
	m1 := z - z*w2
	return tally{p, m1, m1*m1 + w2}
}

// times is z f with its limit 0 where z is infinite.
func times(z, f float64) float64 {
	if f == 0 {
		return 0
	}
	return z * f
}

// next is the M step.
func (m mixture) next(tallies []tally) mixture {
	var n float64
	for _, t := range tallies {
		n += t.n
	}
	out := slices.Clone(m)
	for k, t := range tallies {
		out[k].w = minWeight
		if t.n > 0 {
			m1 := t.m1 / t.n
			out[k].w = t.n / n
			out[k].mu = m[k].mu + m[k].sigma*m1
			out[k].sigma = m[k].sigma * math.Sqrt(max(t.m2/t.n-m1*m1, 0))
		}
	}
	return out.bounded()
}
