package fit

import "math"

const farAway = 20 // standard deviations: a share of 1e-89, not worth its exponential

// groups is a Sample in the logarithm, with the two intervals that its window
// hides in front and behind.
type groups struct {
	lo, hi []float64 // bounds of each group
	n      []float64 // observations in it
}

func newGroups(s Sample) *groups {
	g := &groups{}
	add := func(lo, hi, n float64) {
		g.lo, g.hi, g.n = append(g.lo, math.Log(lo)), append(g.hi, math.Log(hi)), append(g.n, n)
	}
	add(0, s.Lo, 0)
	for _, b := range s.Bins {
		add(b.Lo, b.Hi, b.N)
	}
	add(s.Hi, math.Inf(1), 0)
	return g
}

// whole is the lognormal that matches the moments of the logarithm.
func (g *groups) whole() component {
	var n, m1, m2 float64
	for j := 1; j < len(g.n)-1; j++ {
		y := g.centre(j)
		n, m1, m2 = n+g.n[j], m1+g.n[j]*y, m2+g.n[j]*y*y
	}
	mu := m1 / n
	return component{1, lognormalDist{mu, math.Sqrt(max(m2/n-mu*mu, minSigma*minSigma))}}
}

// centre is where a group's observations lie, if their spread does not matter.
func (g *groups) centre(j int) float64 {
	if math.IsInf(g.lo[j], -1) {
		return g.hi[j] - .5
	}
	return (g.lo[j] + g.hi[j]) / 2
}

// quantile is the centre of the group that holds the p-quantile.
func (g *groups) quantile(p float64) float64 {
	var total, below float64
	for _, n := range g.n {
		total += n
	}
	j := 1
	for ; j < len(g.n)-2; j++ {
		if below += g.n[j]; below >= p*total {
			break
		}
	}
	return g.centre(j)
}

// climb runs the EM algorithm for grouped and truncated data (McLachlan and Jones,
// 1988) from m until a step gains too little, and returns the best mixture with its
// log-likelihood.
func (g *groups) climb(m mixture, steps int) (best mixture, ll float64) {
	ll = math.Inf(-1)
	for range steps {
		next, l := g.step(m)
		gain := l - ll
		if gain > 0 {
			best, ll = m, l
		}
		if !(gain > emPrecision) {
			break
		}
		m = next
	}
	return best, ll
}

// A tally sums what a component is responsible for: observations, and their first
// and second moments about its mu in units of its sigma.
type tally struct{ n, m1, m2 float64 }

// step returns the next mixture and the log-likelihood of m.
func (g *groups) step(m mixture) (mixture, float64) {
	last := len(g.n) - 1
	front, back := m.within(g.lo[0], g.hi[0]), m.within(g.lo[last], g.hi[last])
	norm := max(1-front-back, minNorm)
	tallies := make([]tally, len(m))
	parts := make([]tally, len(m))
	var n, ll float64
	for j := 1; j < last; j++ {
		n += g.n[j]
		ll += g.n[j] * math.Log(m.share(g, j, g.n[j], parts, tallies))
	}
	m.share(g, 0, n*front/norm, parts, tallies)
	m.share(g, last, n*back/norm, parts, tallies)
	return m.next(tallies), ll - n*math.Log(norm)
}

func (m mixture) within(lo, hi float64) (p float64) {
	for _, c := range m {
		p += c.w * c.piece(lo, hi).n
	}
	return p
}

// share divides the n observations of group j among the components as Bayes' rule
// says and returns the probability of the group.
func (m mixture) share(g *groups, j int, n float64, parts, tallies []tally) float64 {
	p := minProb
	for k, c := range m {
		parts[k] = c.piece(g.lo[j], g.hi[j])
		p += c.w * parts[k].n
	}
	for k, c := range m {
		r := n * c.w * parts[k].n / p
		t := &tallies[k]
		t.n, t.m1, t.m2 = t.n+r, t.m1+r*parts[k].m1, t.m2+r*parts[k].m2
	}
	return p
}

// piece returns the probability that a component gives to an interval of the
// logarithm, and the moments of the component inside it.
func (c component) piece(lo, hi float64) tally {
	a, b := (lo-c.mu)/c.sigma, (hi-c.mu)/c.sigma
	if a > farAway || b < -farAway {
		return tally{}
	}
	if b-a < .1 {
		return narrow((a+b)/2, b-a)
	}
	p := NormalCDF(b) - NormalCDF(a)
	if a > 0 {
		p = NormalCDF(-a) - NormalCDF(-b)
	}
	if p < minProb {
		return tally{}
	}
	fa, fb := normalDensity(a), normalDensity(b)
	return tally{p, (fa - fb) / p, 1 + (times(a, fa)-times(b, fb))/p}
}

// narrow is piece by Taylor series round the middle, where differences would cancel.
func narrow(z, width float64) tally {
	w2 := width * width / 12
	p := normalDensity(z) * width * (1 + (z*z-1)*w2/2)
	m1 := z - z*w2
	return tally{p, m1, m1*m1 + w2}
}

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// times is z f with its limit 0 where z is infinite.
func times(z, f float64) float64 {
	if f == 0 {
		return 0
	}
	return z * f
}

// next is the M step, with floors under sigma and weight: likelihoods of mixtures
// have poles where a component collapses.
func (m mixture) next(tallies []tally) mixture {
	var n, sum float64
	for _, t := range tallies {
		n += t.n
	}
	out := make(mixture, len(m))
	for k, t := range tallies {
		out[k] = m[k]
		out[k].w = minWeight
		if t.n > 0 {
			m1 := t.m1 / t.n
			out[k].w = max(t.n/n, minWeight)
			out[k].mu = m[k].mu + m[k].sigma*m1
			out[k].sigma = max(m[k].sigma*math.Sqrt(max(t.m2/t.n-m1*m1, 0)), minSigma)
		}
		sum += out[k].w
	}
	for k := range out {
		out[k].w /= sum
	}
	return out
}
