package fit

import (
	"math"
	"math/rand/v2"
	"slices"
)

// GammaOU is a rate whose values are those of a gamma distribution, in an order that
// a sum of Ornstein-Uhlenbeck processes gives: each value occurs in every span, so that
// the requests due are always as many. They come in a renewal process with gamma gaps
// in operational time.
type GammaOU struct {
	Rate   float64   `yaml:"rate"`        // shape of its gamma distribution
	Tau    []float64 `yaml:"tau,flow"`    // seconds, of each process
	Weight []float64 `yaml:"weight,flow"` // its share of the variance
	Shape  float64   `yaml:"shape"`       // of the gaps' gamma distribution
}

const (
	gammaCell  = .5 // seconds, at which the rate is drawn, if the window is no longer than maxPieces of them
	gammaKnots = 128
)

func startGammaOU(t *target) *GammaOU {
	rate := min(max(1/t.variance(), .05), 100)
	return &GammaOU{Rate: rate, Shape: 1, Tau: []float64{2, 15, 120}, Weight: []float64{.4, .3, .3}}
}

// free has the logarithms of the shapes, of the first tau, of each further tau over the one
// before it less 1, and of the weights over the first.
func (m *GammaOU) free() []float64 {
	return []float64{
		math.Log(m.Rate),
		math.Log(m.Tau[0]), math.Log(m.Tau[1]/m.Tau[0] - 1), math.Log(m.Tau[2]/m.Tau[1] - 1),
		math.Log(m.Weight[1] / m.Weight[0]), math.Log(m.Weight[2] / m.Weight[0]), math.Log(m.Shape),
	}
}

func (m *GammaOU) with(x []float64) model {
	out := &GammaOU{Rate: math.Exp(x[0]), Shape: math.Exp(x[6])}
	t0 := math.Exp(x[1])
	t1 := t0 * (1 + math.Exp(x[2]))
	out.Tau = []float64{t0, t1, t1 * (1 + math.Exp(x[3]))}
	w1, w2 := math.Exp(x[4]), math.Exp(x[5])
	sum := 1 + w1 + w2
	out.Weight = []float64{1 / sum, w1 / sum, w2 / sum}
	return out
}

func (m *GammaOU) rounded() model {
	return &GammaOU{Rate: roundTo(m.Rate, 2), Tau: allTo(m.Tau, 2), Weight: allTo(m.Weight, 2), Shape: roundTo(m.Shape, 2)}
}

func (m *GammaOU) faster(float64) model { return m }

func (m *GammaOU) shape() float64 { return m.Shape }

func (m *GammaOU) draw(c *spanContext, r *rand.Rand, l *intensity) {
	l.reset(len(c.shares))
	l.setMix(c.shares)
	cells := int(min(max(c.window/gammaCell, 1), maxPieces))
	step := c.window / float64(cells)
	z, order := make([]float64, cells), make([]uint64, cells)
	for j, tau := range m.Tau {
		wave := newOrnstein(r, step, tau)
		root := math.Sqrt(m.Weight[j])
		for i := range z {
			z[i] += root * wave.next(r)
		}
	}
	for i := range order {
		order[i] = uint64((z[i]+1e3)*(1<<20))<<32 | uint64(i) // sorts by z, quickly
		l.add(float64(i+1)*step, 0)
	}
	slices.Sort(order)
	values := gammaTable(m.Rate)
	for rank, i := range order {
		l.due[uint32(i)] = values.at((float64(rank) + .5) / float64(cells))
	}
	l.scale(c.mean * c.window / l.total())
}

// A quantileTable holds the logarithm of quantiles at equal steps of the logit of
// their probability, between which it is almost straight.
type quantileTable struct {
	lo, step float64
	logs     []float64
}

// gammaTable is of the gamma distribution of mean 1: its quantiles take microseconds each.
func gammaTable(shape float64) quantileTable {
	const reach = 14 // a share of 8e-7 beyond it on each side
	t := quantileTable{-reach, 2. * reach / gammaKnots, make([]float64, gammaKnots+1)}
	d := gammaDist{shape, 1 / shape}
	for i := range t.logs {
		t.logs[i] = math.Log(max(d.Quantile(expit(t.lo+float64(i)*t.step)), 1e-300))
	}
	return t
}

func (t quantileTable) at(p float64) float64 {
	x := min(max((logit(p)-t.lo)/t.step, 0), gammaKnots-1e-9)
	i := int(x)
	return math.Exp(t.logs[i] + (x-float64(i))*(t.logs[i+1]-t.logs[i]))
}
