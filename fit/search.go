package fit

import (
	"errors"
	"math"
	"slices"
)

const (
	longClimb   = 40   // steps, at most
	shortClimb  = 4    // of a start that is only tried
	nearClimb   = 2    // to a maximum that is a sampling error away; one is as good as all (Le Cam, 1956)
	climbDelta  = 1e-5 // of a derivative
	climbStride = 1.5  // the longest step of a parameter
	climbGain   = 1e-3 // of the log-likelihood, that a step must bring; and
	climbShare  = 1e-6 // that much an observation
)

var errSingular = errors.New("the matrix is singular")

// A climber maximises the likelihood of a family by Fisher scoring with the damping of
// Levenberg and Marquardt. It takes some 10 gradients of k+1 likelihoods each; a
// simplex (Nelder and Mead) took 100 to 400 likelihoods, and three times as long.
type climber struct {
	f      *Family
	s      Sample
	n      []float64 // observations of every bin, then of every Over
	total  float64
	lo, hi []float64 // bounds of the search, in its coordinates
	held   []bool
	slope  [][]float64 // derivatives of the logarithms of the probabilities
}

// A coordinate maps a parameter to the coordinate in which it is searched for.
type coordinate struct{ to, from func(float64) float64 }

var (
	logScale   = coordinate{math.Log, math.Exp}
	plainScale = coordinate{func(x float64) float64 { return x }, func(x float64) float64 { return x }}
	logitScale = coordinate{
		func(w float64) float64 { return math.Log(w / (1 - w)) },
		func(y float64) float64 { return 1 / (1 + math.Exp(-y)) },
	}
	coordinates = map[string]coordinate{"mu": plainScale, "xi": plainScale, "w": logitScale}
)

func (f *Family) coordinate(i int) coordinate {
	if s, ok := coordinates[f.Params[i]]; ok {
		return s
	}
	return logScale
}

func newClimber(f *Family, s Sample) *climber {
	c := &climber{f: f, s: s, slope: make([][]float64, len(f.Params))}
	for _, b := range s.Bins {
		c.n = append(c.n, b.N)
	}
	for _, o := range s.Over {
		c.n = append(c.n, o.N)
	}
	for _, n := range c.n {
		c.total += n
	}
	for i, name := range f.Params {
		l := limits[name]
		if name == "w" {
			l[1] = 1 - minWeight // the rest is a component too
		}
		c.lo, c.hi = append(c.lo, f.coordinate(i).to(l[0])), append(c.hi, f.coordinate(i).to(l[1]))
	}
	return c
}

// A foothold is where a search has come to, with the logarithm of the probability of every cell.
type foothold struct {
	x    []float64
	logs []float64
	ll   float64
}

// climb goes up from start with the parameters in held left as they are, and returns
// what it comes to. The log-likelihood is -Inf where start has none.
func (c *climber) climb(start []float64, held []string, steps int) ([]float64, float64) {
	x := make([]float64, len(start))
	c.held = make([]bool, len(start))
	for i, p := range start {
		x[i] = min(max(c.f.coordinate(i).to(p), c.lo[i]), c.hi[i])
		c.held[i] = slices.Contains(held, c.f.Params[i])
	}
	at, damp := c.at(x), 1e-3
	for range steps {
		if math.IsInf(at.ll, 0) {
			break
		}
		next, ok := c.step(at, &damp)
		if !ok {
			break
		}
		gain := next.ll - at.ll
		at = next
		if gain < climbGain+climbShare*c.total {
			break
		}
	}
	return c.params(at.x), at.ll
}

// to is climb with an error where there is no likelihood.
func (c *climber) to(start []float64, held []string, steps int) ([]float64, error) {
	x, ll := c.climb(start, held, steps)
	if math.IsInf(ll, 0) {
		return nil, errNoFit
	}
	return x, nil
}

// step looks for a higher point, with more damping as long as there is none.
func (c *climber) step(at foothold, damp *float64) (foothold, bool) {
	free, g, info := c.gradient(at)
	for ; len(free) > 0 && *damp < 1e9; *damp *= 8 {
		move, err := solveDamped(info, g, *damp)
		if err != nil {
			continue
		}
		x := slices.Clone(at.x)
		for j, i := range free {
			x[i] = min(max(x[i]+min(max(move[j], -climbStride), climbStride), c.lo[i]), c.hi[i])
		}
		if next := c.at(x); next.ll > at.ll {
			*damp = max(*damp/10, 1e-9)
			return next, true
		}
	}
	return foothold{}, false
}

// gradient returns the parameters that are free to move, the slope of the
// log-likelihood in each and the information. A bin counts in the information with its
// observations or its expectation, whichever is greater: the expectation alone knows
// nothing of censored data, and the observations alone make steps far too long
// where the data are narrower than the model.
func (c *climber) gradient(at foothold) (free []int, g []float64, info [][]float64) {
	for i := range at.x {
		if c.held[i] {
			continue
		}
		h := climbDelta
		if at.x[i]+h > c.hi[i] {
			h = -h
		}
		x := slices.Clone(at.x)
		x[i] += h
		up := c.at(x)
		if math.IsInf(up.ll, 0) {
			continue
		}
		slope := up.logs
		var sum float64
		for k := range slope {
			slope[k] = (slope[k] - at.logs[k]) / h
			sum += c.n[k] * slope[k]
		}
		if at.x[i] == c.lo[i] && sum < 0 || at.x[i] == c.hi[i] && sum > 0 {
			continue
		}
		c.slope[len(free)] = slope
		free, g = append(free, i), append(g, sum)
	}
	return free, g, c.information(at, len(free))
}

func (c *climber) information(at foothold, k int) [][]float64 {
	info := make([][]float64, k)
	for i := range info {
		info[i] = make([]float64, k)
	}
	for cell, n := range c.n {
		if cell < len(c.s.Bins) {
			n = max(n, c.total*math.Exp(at.logs[cell]))
		}
		for i := range k {
			for j := range i + 1 {
				info[i][j] += n * c.slope[i][cell] * c.slope[j][cell]
			}
		}
	}
	return info
}

func (c *climber) params(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = c.f.coordinate(i).from(v)
		l := limits[c.f.Params[i]]
		out[i] = min(max(out[i], l[0]), l[1])
	}
	return out
}

// at recovers because a special function may panic outside its domain, and a
// search goes anywhere.
func (c *climber) at(x []float64) (p foothold) {
	defer func() {
		if recover() != nil || math.IsNaN(p.ll) {
			p = foothold{x: x, ll: math.Inf(-1)}
		}
	}()
	params := c.params(x)
	if c.f.Check(params) != nil {
		return foothold{x: x, ll: math.Inf(-1)}
	}
	logs := c.s.logProbs(c.f.Dist(params))
	if logs == nil {
		return foothold{x: x, ll: math.Inf(-1)}
	}
	p = foothold{x: x, logs: logs}
	for k, n := range c.n {
		p.ll += n * logs[k]
	}
	return p
}

// solveDamped returns x of (A + damp diag A) x = b for the positive definite A of which the
// lower half is given, by Cholesky's decomposition.
func solveDamped(a [][]float64, b []float64, damp float64) ([]float64, error) {
	n := len(b)
	l := make([][]float64, n)
	x := slices.Clone(b)
	for i := range n {
		l[i] = slices.Clone(a[i])
		l[i][i] += damp*a[i][i] + 1e-12
		for j := range i + 1 {
			for k := range j {
				l[i][j] -= l[i][k] * l[j][k]
			}
			if j < i {
				l[i][j] /= l[j][j]
			}
		}
		if !(l[i][i] > 0) {
			return nil, errSingular
		}
		l[i][i] = math.Sqrt(l[i][i])
		for k := range i {
			x[i] -= l[i][k] * x[k]
		}
		x[i] /= l[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x, nil
}
