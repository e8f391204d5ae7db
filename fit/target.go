package fit

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// arrivalData is the arrivals of one app, sorted, since the start of the window.
type arrivalData struct {
	times  []time.Duration
	class  []uint8      // of each; nil: all are of class 0
	work   [][2]float64 // mean prompt and output tokens of each class; 0: not known
	window time.Duration
	tick   time.Duration // of the log's clock: what comes within one was spread over it
}

// tells says whether counts in intervals of that width are the traffic's, and not the
// clock's: two ticks at least, for one holds the whole of a tick or a part of two.
func (d *arrivalData) tells(width time.Duration) bool { return width >= 2*d.tick }

func (d *arrivalData) classes() int { return max(len(d.work), 1) }

func (d *arrivalData) classOf(i int) uint8 {
	if d.class == nil {
		return 0
	}
	return d.class[i]
}

// rate is in requests a second.
func (d *arrivalData) rate() float64 { return float64(len(d.times)) / d.window.Seconds() }

// bursty says whether silences and bursts make the traffic, and not a rate that drifts.
func (d *arrivalData) bursty() bool { return d.phi(d.phiCell()) >= burstyPhi }

// shares are of the classes among the requests.
func (d *arrivalData) shares() []float64 {
	out := make([]float64, d.classes())
	for i := range d.times {
		out[d.classOf(i)] += 1 / float64(len(d.times))
	}
	return out
}

// labels are the classes of all arrivals.
func (d *arrivalData) labels() []uint8 {
	if d.class == nil {
		return make([]uint8, len(d.times))
	}
	return d.class
}

// phi is von Neumann's ratio (1941) of the counts x in equal cells, for counts: the
// mean of (x_i+1 - x_i)² / (x_i+1 + x_i). It is 1 for a Poisson process, whatever
// slow trend its rate has, and large where bursts begin and end within a cell or two.
func (d *arrivalData) phi(cell time.Duration) float64 {
	counts := d.counts(cell)
	var sum, n float64
	for i := 1; i < len(counts); i++ {
		if both := counts[i] + counts[i-1]; both > 0 {
			diff := counts[i] - counts[i-1]
			sum, n = sum+diff*diff/both, n+1
		}
	}
	return sum / max(n, 1)
}

func (d *arrivalData) counts(cell time.Duration) []float64 {
	counts := make([]float64, d.window/cell)
	for _, t := range d.times {
		if i := int(t / cell); i < len(counts) {
			counts[i]++
		}
	}
	return counts
}

// phiCell holds 25 requests or so, for a count of 1 or 2 is Poisson at any burstiness.
func (d *arrivalData) phiCell() time.Duration {
	mean := time.Duration(float64(d.window) / float64(len(d.times)))
	return max(min(max(10*time.Second, 25*mean, 2*d.tick), d.window/leastIntervals), 1)
}

// A spanContext is what a model must know to draw a span.
type spanContext struct {
	window  float64   // seconds
	mean    float64   // requests a second
	shares  []float64 // of the classes
	shuffle bool      // the order of what was recorded in an order
}

// order is that in which n things that were recorded come.
func (c *spanContext) order(n int, r *rand.Rand) []int {
	if c.shuffle {
		return r.Perm(n)
	}
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// roundTo keeps so many significant digits.
func roundTo(x float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil || math.IsInf(r, 0) {
		return x
	}
	return r
}

// A model draws the rate of one span. Its free parameters are those that only a
// simulation tells.
type model interface {
	draw(c *spanContext, r *rand.Rand, l *intensity)
	shape() float64 // of the gaps in operational time
	free() []float64
	with(free []float64) model
	rounded() model // as a profile shows it
	faster(factor float64) model
	check(c *spanContext) error
}

// A target is what a model is to be fitted to.
type target struct {
	spans  []arrivalData
	thin   float64 // share of the requests that were kept
	mean   float64 // requests a second, of those
	shares []float64
	print  *Fingerprint
	want   []float64 // features of print
}

func (t *target) window() time.Duration { return t.spans[0].window }

// variance is that of the rate over its mean, squared, at the least scale of 3 s or more:
// what the counts' dispersion has beyond a Poisson process's.
func (t *target) variance() float64 {
	for i, s := range t.print.Scales {
		if s >= 3*time.Second {
			return max(t.print.IDC[i]-1, .01) / (t.print.Rate * s.Seconds())
		}
	}
	return .1
}

// widestIDC is the dispersion at the greatest scale, if none was thinned away.
func (t *target) widestIDC() float64 {
	if len(t.print.IDC) == 0 {
		return 1
	}
	return 1 + (t.print.IDC[len(t.print.IDC)-1]-1)/t.thin
}

// A pen draws spans, in memory of its own.
type pen struct {
	context spanContext
	gauge   gauge
	level   intensity
	span    span
}

func newPen(window time.Duration, mean float64, shares []float64, print *Fingerprint) *pen {
	return &pen{
		context: spanContext{window: window.Seconds(), mean: mean, shares: shares},
		gauge:   gauge{like: print, window: window},
	}
}

// mostDue is how many times the mean number of requests a span has at most: more has none
// that was measured, but a stranger's model could ask for any number.
const mostDue = 10

// walk goes through the span that the seed stands for. The rate and the points have
// streams of their own, so that more or fewer requests come at the same ups and downs.
func (p *pen) walk(m model, seed uint64, factor float64) pointWalk {
	m.draw(&p.context, rand.New(rand.NewPCG(seed, 1)), &p.level)
	if due, most := p.level.total(), mostDue*p.context.mean*p.context.window; due > most {
		p.level.scale(most / due)
	}
	return p.level.walk(m.shape(), factor, rand.New(rand.NewPCG(seed, 2)))
}

// draw leaves in p.span all of what walk goes through.
func (p *pen) draw(m model, seed uint64, factor float64) *span {
	p.walk(m, seed, factor).points(&p.span)
	return &p.span
}

func allTo(xs []float64, digits int) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = roundTo(x, digits)
	}
	return out
}
