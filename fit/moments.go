package fit

import (
	"math"

	"gonum.org/v1/gonum/optimize"
)

// searchSteps are evaluations, of each start.
var searchSteps = []int{80, 60}

const (
	momentSeeds = 8 // of the spans that every candidate is simulated with: common random numbers
	momentBase  = 0x9e3779b97f4a7c15
)

// matchMoments moves the free parameters of m so that the mean features of its
// spans come near the target's: the method of simulated moments (McFadden, 1989), by
// the simplex of Nelder and Mead, which starts anew where it stalled.
func matchMoments(t *target, m model) model {
	p := newPen(t.window(), t.mean, t.shares, t.print)
	loss := func(x []float64) (d float64) {
		defer func() { // optimize calls this in a goroutine of its own: a panic would end the program
			if recover() != nil || math.IsNaN(d) {
				d = math.Inf(1)
			}
		}()
		next := m.with(x)
		if next.check(&p.context) != nil {
			return math.Inf(1)
		}
		return t.loss(p, next)
	}
	best := m
	for _, steps := range searchSteps {
		start := best.free()
		set := &optimize.Settings{FuncEvaluations: steps, Converger: &optimize.FunctionConverge{Absolute: 1e-3, Iterations: 40}}
		r, _ := optimize.Minimize(optimize.Problem{Func: loss}, start, set, &optimize.NelderMead{SimplexSize: .3})
		if r != nil && r.F < loss(start) {
			best = m.with(r.X)
		}
	}
	return best
}

func (t *target) loss(p *pen, m model) float64 {
	var mean []float64
	for s := range uint64(momentSeeds) {
		mean = addScaled(mean, p.gauge.features(p.draw(m, momentBase+s, 1)), 1./momentSeeds)
	}
	return distance(mean, t.want)
}
