package fit

import (
	"math"
	"math/rand/v2"
	"time"
)

// Order is that of what was recorded in an order: the regimes.
type Order int

// The orders.
const (
	OrderKept     Order = iota // as recorded: to reproduce
	OrderShuffled              // each once a span, in random order: to extend
)

// DrawOptions say how arrivals are drawn.
type DrawOptions struct {
	Seed   uint64
	Shares []float64 // of the classes, for the kinds in which they are independent of time; nil: one class
	Factor float64   // times as many users; 0: 1
	Select int       // the best of so many spans; 0: as the profile says
	Order  Order
}

// ArrivalStream draws arrivals without end.
type ArrivalStream struct {
	next func() (time.Duration, uint8)

	spans    int
	distance float64
}

// Draw starts the arrivals of a, which must be valid and fitted on a window of that length.
// Equal options give equal arrivals. The stream holds one request of each class of a
// recorded curve; of other kinds the rate of one span, however many requests that makes.
func (a *Arrivals) Draw(window time.Duration, o DrawOptions) *ArrivalStream {
	if o.Factor == 0 {
		o.Factor = 1
	}
	if o.Shares == nil {
		o.Shares = []float64{1}
	}
	if o.Select == 0 {
		o.Select = max(a.Select, 1)
	}
	s := new(ArrivalStream)
	if a.Kind == KindCurve {
		s.next = a.Curve.draw(window, a.Mean*o.Factor, o.Seed)
	} else {
		s.next = a.drawSpans(s, o)
	}
	return s
}

// emptySpans in a row are taken for the end: no fitted model has one.
const emptySpans = 10

// Next returns the next arrival, since the start, and its class: at the end of time, if
// the model brings no more.
func (s *ArrivalStream) Next() (time.Duration, uint8) { return s.next() }

// Distance is how far the spans drawn so far were from the fingerprint, on average. It is
// NaN for a recorded curve.
func (s *ArrivalStream) Distance() float64 { return s.distance / float64(s.spans) }

// Until is how many requests are due in the first d.
func (a *Arrivals) Until(window, d time.Duration) (n float64) {
	switch {
	case a.Kind == KindCurve:
		for i := range a.Curve.Classes {
			n += a.Curve.walk(i, window, a.Mean).until(d)
		}
		return n
	case a.Season != nil:
		return a.Mean * a.Season.walk().until(d)
	}
	return a.Mean * d.Seconds()
}

func (c *Curve) walk(class int, window time.Duration, mean float64) *rateWalk {
	return newRateWalk(c.Width, window, c.Classes[class].Relative, mean*c.Classes[class].Share)
}

// A classStream is the next arrival of one class.
type classStream struct {
	at   time.Duration
	walk *rateWalk
	here walkPlace
	gaps *GapTable
	r    *rand.Rand
}

func (s *classStream) advance() {
	s.here = s.walk.advance(s.here, s.gaps.At(Uniform(s.r)))
	s.at = s.walk.time(s.here)
}

func (c *Curve) draw(window time.Duration, mean float64, seed uint64) func() (time.Duration, uint8) {
	var classes []*classStream
	for k := range c.Classes {
		s := &classStream{walk: c.walk(k, window, mean), gaps: NewGapTable(c.Classes[k].Gaps.Dist()), r: rand.New(rand.NewPCG(seed, uint64(k)))}
		s.at = math.MaxInt64
		if s.walk.total > 0 {
			s.advance()
		}
		classes = append(classes, s)
	}
	return func() (time.Duration, uint8) {
		first := 0
		for k, s := range classes {
			if s.at < classes[first].at {
				first = k
			}
		}
		at := classes[first].at
		if at < math.MaxInt64 {
			classes[first].advance()
		}
		return at, uint8(first)
	}
}

// model is that of a's kind; nil, if there is none.
func (a *Arrivals) model() model {
	switch {
	case a.Kind == KindOnOff && a.OnOff != nil:
		return a.OnOff
	case a.Kind == KindRegimes && a.Regimes != nil:
		return a.Regimes
	case a.Kind == KindGammaOU && a.GammaOU != nil:
		return a.GammaOU
	}
	return nil
}

// drawSpans selects one span after another, at the rate that the fingerprint was
// taken at, and then has it with as many requests as are asked for.
func (a *Arrivals) drawSpans(s *ArrivalStream, o DrawOptions) func() (time.Duration, uint8) {
	p := newPen(a.Span, a.Mean, o.Shares, a.Fingerprint)
	p.context.shuffle = o.Order == OrderShuffled
	m, want := a.model(), a.Fingerprint.features()
	levels := a.Season.levels(a.Span, o.Seed)
	clock := a.Season.clock()
	current := pointWalk{level: new(intensity)}
	return func() (time.Duration, uint8) {
		at, class, ok := current.next()
		for empty := 0; !ok; empty++ {
			if empty == emptySpans || int64(s.spans+1) >= math.MaxInt64/int64(a.Span) {
				return math.MaxInt64, 0
			}
			seed, d := p.pick(m, want, o.Seed, uint64(s.spans), o.Select, a.Fingerprint.Rate/a.Mean)
			current = p.walk(m, seed, o.Factor*levels())
			s.spans, s.distance = s.spans+1, s.distance+d
			at, class, ok = current.next()
		}
		return clock(time.Duration(s.spans-1)*a.Span + at), class
	}
}

// pick returns the seed of the best of n draws of a span, and its distance.
func (p *pen) pick(m model, want []float64, seed, span uint64, n int, factor float64) (best uint64, least float64) {
	r := rand.New(rand.NewPCG(seed, span))
	least = math.Inf(1)
	for range n {
		s := r.Uint64()
		if d := distance(p.gauge.features(p.draw(m, s, factor)), want); d < least || best == 0 {
			best, least = s, d
		}
	}
	return best, least
}

// levels returns what draws the level of one span after another.
func (s *Season) levels(spanLength time.Duration, seed uint64) func() float64 {
	if s == nil || s.Level == nil {
		return func() float64 { return 1 }
	}
	r := rand.New(rand.NewPCG(seed, math.MaxUint64))
	wave := newOrnstein(r, spanLength.Seconds(), s.Level.Tau)
	return func() float64 { return s.Level.at(wave.next(r)) }
}

// clock returns what tells the time of ascending points of seasonal time.
func (s *Season) clock() func(time.Duration) time.Duration {
	if s == nil {
		return func(t time.Duration) time.Duration { return t }
	}
	w := s.walk()
	var here walkPlace
	var last time.Duration
	return func(t time.Duration) time.Duration {
		here = w.advance(here, (t - last).Seconds())
		last = t
		return w.time(here)
	}
}
