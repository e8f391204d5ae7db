package fit

import (
	"math"
	"math/rand/v2"
	"time"
)

// An intensity is the rate of one span as a model drew it: pieces of time with the
// requests that are due in each.
type intensity struct {
	ends []float64 // of the pieces, in seconds
	due  []float64 // requests in each
	mix  []float64 // cumulative shares of the classes: a row for each piece, or one for all
	k    int       // classes
}

func (l *intensity) reset(classes int) {
	l.ends, l.due, l.mix, l.k = l.ends[:0], l.due[:0], l.mix[:0], classes
}

func (l *intensity) add(end, due float64) {
	l.ends, l.due = append(l.ends, end), append(l.due, due)
}

func (l *intensity) total() (sum float64) {
	for _, d := range l.due {
		sum += d
	}
	return sum
}

func (l *intensity) scale(by float64) {
	for i := range l.due {
		l.due[i] *= by
	}
}

// setMix appends the cumulative form of shares, which need not add up to 1.
func (l *intensity) setMix(shares []float64) {
	var sum, total float64
	for _, s := range shares {
		total += s
	}
	for _, s := range shares {
		sum += s
		l.mix = append(l.mix, sum/total)
	}
}

// class is that of a request in a piece.
func (l *intensity) class(piece int, u float64) uint8 {
	row := l.mix
	if len(row) > l.k {
		row = row[piece*l.k : (piece+1)*l.k]
	}
	for c := range l.k - 1 {
		if u < row[c] {
			return uint8(c)
		}
	}
	return uint8(l.k - 1)
}

// A span is arrivals, sorted, with the class of each.
type span struct {
	times []time.Duration
	class []uint8
}

// pointWalk goes through the points of the renewal process whose gaps in operational
// time, in which an intensity is 1 everywhere, are Gamma(shape) of mean 1. Shape 1 is a
// Poisson process. The number of arrivals is left to chance: gaps are never made to fill
// the span.
type pointWalk struct {
	level  *intensity
	gap    func(*rand.Rand) float64
	factor float64 // times as many points
	r      *rand.Rand

	piece             int
	start, done, need float64
}

func (l *intensity) walk(shape, factor float64, r *rand.Rand) pointWalk {
	w := pointWalk{level: l, gap: gammaDraws(shape), factor: factor, r: r}
	w.need = w.gap(r) / factor
	return w
}

// next returns the next point, or false at the end of the intensity.
func (w *pointWalk) next() (at time.Duration, class uint8, ok bool) {
	for l := w.level; w.piece < len(l.ends); w.piece++ {
		end, due := l.ends[w.piece], l.due[w.piece]
		if due > 0 && w.need <= due-w.done {
			w.done += w.need
			at := w.start + (end-w.start)*w.done/due
			class := l.class(w.piece, w.r.Float64())
			w.need = w.gap(w.r) / w.factor
			return time.Duration(at * 1e9), class, true
		}
		w.need -= due - w.done
		w.start, w.done = end, 0
	}
	return 0, 0, false
}

// points fills s with all of them.
func (w pointWalk) points(s *span) {
	s.times, s.class = s.times[:0], s.class[:0]
	for at, class, ok := w.next(); ok; at, class, ok = w.next() {
		s.times, s.class = append(s.times, at), append(s.class, class)
	}
}

// Uniform takes the next number of src, uniform in the open interval (0, 1): quantiles of
// 0 and 1 may be infinite.
func Uniform(src rand.Source) float64 { return (float64(src.Uint64()>>12) + .5) / (1 << 52) }

func normal(r *rand.Rand) float64 { return NormalQuantile(Uniform(r)) }

// stratified returns n uniforms in random order, one in each n-th of (0, 1), so that
// every quantile band occurs once: a rare long burst comes in each span that is as
// long as the one which it was seen in.
func stratified(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i, p := range r.Perm(n) {
		out[i] = (float64(p) + Uniform(r)) / float64(n)
	}
	return out
}

// gammaDraws returns what draws of Gamma(shape) of mean 1, by rejection (Marsaglia
// and Tsang, 2000): a fiftieth of the time that its quantile takes.
func gammaDraws(shape float64) func(*rand.Rand) float64 {
	if shape == 1 {
		return func(r *rand.Rand) float64 { return -math.Log(Uniform(r)) }
	}
	boost := shape < 1 // then draw of shape+1 and multiply by U^(1/shape)
	a := shape
	if boost {
		a++
	}
	d := a - 1./3
	c := 1 / math.Sqrt(9*d)
	return func(r *rand.Rand) float64 {
		for {
			x := normal(r)
			v := 1 + c*x
			if v <= 0 {
				continue
			}
			v = v * v * v
			if u := Uniform(r); u >= 1-.0331*x*x*x*x && math.Log(u) >= x*x/2+d-d*v+d*math.Log(v) {
				continue
			}
			if boost {
				return d * v * math.Exp(math.Log(Uniform(r))/shape) / shape
			}
			return d * v / shape
		}
	}
}

// An ornstein is a stationary Ornstein-Uhlenbeck process of variance 1 at equal steps.
type ornstein struct{ x, keep, kick float64 }

func newOrnstein(r *rand.Rand, step, tau float64) ornstein {
	keep := math.Exp(-step / tau)
	return ornstein{normal(r), keep, math.Sqrt(1 - keep*keep)}
}

func (o *ornstein) next(r *rand.Rand) float64 {
	x := o.x
	o.x = o.keep*o.x + o.kick*normal(r)
	return x
}
