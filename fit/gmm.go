package fit

import (
	"math"
	"slices"
)

// A spot is the requests whose prompt and output fall into one bin each, in the
// logarithm of tokens. A side that is never known lies at 0 with no spread.
type spot struct {
	x, y   float64 // centre of the logarithms of prompt and output
	vx, vy float64 // variance inside the spot
	n      float64
}

// A gmm is a mixture of normals with full covariances on the logarithms of prompt
// and output. Its components are the latent classes of an application.
type gmm []gauss

type gauss struct {
	w          float64
	x, y       float64 // mean
	xx, xy, yy float64 // covariance
}

// A scorer is a component made ready for many densities: its logarithm is
// base - (a dx^2 + 2 b dx dy + c dy^2) / 2.
type scorer struct{ base, x, y, a, b, c float64 }

func (g gauss) scorer() scorer {
	det := g.xx*g.yy - g.xy*g.xy
	return scorer{
		base: math.Log(g.w) - math.Log(det)/2 - math.Log(2*math.Pi),
		x:    g.x, y: g.y, a: g.yy / det, b: -g.xy / det, c: g.xx / det,
	}
}

func (m gmm) scorers() []scorer {
	s := make([]scorer, len(m))
	for k, g := range m {
		s[k] = g.scorer()
	}
	return s
}

// log is the mean over the spot of the weighted log-density. That mean and not the
// density at the centre keeps a component from sitting on one length, which would
// have any density it likes: it pays for being narrower than the spot.
func (s scorer) log(c spot) float64 {
	dx, dy := c.x-s.x, c.y-s.y
	return s.base - (s.a*(dx*dx+c.vx)+2*s.b*dx*dy+s.c*(dy*dy+c.vy))/2
}

// classifier returns the function that says which component a request most likely
// belongs to, by the logarithms of its prompt and output; NaN is unknown.
func (m gmm) classifier() func(x, y float64) int {
	s := m.scorers()
	return func(x, y float64) int {
		best, most := 0, math.Inf(-1)
		for k := range m {
			l := m[k].logOf(s[k], x, y)
			if l > most {
				best, most = k, l
			}
		}
		return best
	}
}

// logOf is the weighted log-density of what is known.
func (g gauss) logOf(s scorer, x, y float64) float64 {
	alone := func(d, variance float64) float64 { return math.Log(g.w) - (math.Log(variance)+d*d/variance)/2 }
	switch {
	case math.IsNaN(x) && math.IsNaN(y):
		return math.Log(g.w)
	case math.IsNaN(x):
		return alone(y-g.y, g.yy)
	case math.IsNaN(y):
		return alone(x-g.x, g.xx)
	}
	return s.log(spot{x: x, y: y})
}

// without leaves out the components to which fewer than least of the spots' requests
// belong; their requests go to the others.
func (m gmm) without(spots []spot, least float64) gmm {
	for len(m) > 1 {
		sizes := make([]float64, len(m))
		of := m.classifier()
		for _, c := range spots {
			sizes[of(c.x, c.y)] += c.n
		}
		smallest := slices.Index(sizes, slices.Min(sizes))
		if sizes[smallest] >= least {
			break
		}
		m = slices.Delete(slices.Clone(m), smallest, smallest+1)
	}
	return m
}

// A classSums sums weights and powers, of what a component is responsible for.
type classSums struct{ n, x, y, xx, xy, yy float64 }

func (t *classSums) add(c spot, n float64) {
	t.n += n
	t.x += n * c.x
	t.y += n * c.y
	t.xx += n * (c.x*c.x + c.vx)
	t.xy += n * c.x * c.y
	t.yy += n * (c.y*c.y + c.vy)
}

// gauss returns the component of those classSums, of n observations in all. Where it
// is narrower than minSigma in some direction it is widened in all.
func (t classSums) gauss(n float64) gauss {
	x, y := t.x/t.n, t.y/t.n
	g := gauss{
		w: max(t.n/n, minWeight), x: x, y: y,
		xx: t.xx/t.n - x*x, xy: t.xy/t.n - x*y, yy: t.yy/t.n - y*y,
	}
	least := (g.xx+g.yy)/2 - math.Hypot((g.xx-g.yy)/2, g.xy) // eigenvalue
	if widen := minSigma*minSigma - least; widen > 0 {
		g.xx, g.yy = g.xx+widen, g.yy+widen
	}
	return g
}
