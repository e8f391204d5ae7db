package fit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The kinds of arrival models.
const (
	KindCurve   = "curve"    // as recorded
	KindOnOff   = "onoff"    // bursts and silences
	KindRegimes = "regimes"  // a few levels and mixes
	KindGammaOU = "gamma_ou" // a rate of gamma distribution
)

// Arrivals says when requests come, and of which class. Curve repeats what was
// recorded; the other kinds are random in time and hold no recorded order of bursts. They
// tell the climate of the span that they were fitted on, and no other.
type Arrivals struct {
	Kind        string        `yaml:"kind"`
	Mean        float64       `yaml:"mean"`             // requests a second
	Span        time.Duration `yaml:"span,omitempty"`   // that is drawn, and judged, at once; all kinds but curve
	Select      int           `yaml:"select,omitempty"` // the best of so many drawn spans is taken
	Curve       *Curve        `yaml:"curve,omitempty"`
	OnOff       *OnOff        `yaml:"onoff,omitempty"`
	Regimes     *Regimes      `yaml:"regimes,omitempty"`
	GammaOU     *GammaOU      `yaml:"gamma_ou,omitempty"`
	Season      *Season       `yaml:"season,omitempty"`
	Fingerprint *Fingerprint  `yaml:"fingerprint,omitempty"` // of a span
	Why         string        `yaml:"why,omitempty"`         // this kind was taken
}

// arrivalOptions say how to fit arrivals.
type arrivalOptions struct {
	compact bool          // take a kind that is random in time, if one is good enough
	width   time.Duration // of the recorded curve's cells; 0: by dispersion and backlog
}

const (
	selectSpans   = 32    // of which the best is taken: M=8 is nearly as good, M=128 hardly better
	spanRequests  = 40000 // to which a span is thinned before it is simulated again and again
	seasonSpans   = 8     // that stand for all of a long trace
	seasonLeast   = 4000  // requests in one of them, if the window has as many
	leastWindow   = time.Second
	hopeless      = 5 // times as far as the best fit: not worth a search from there
	curveAdvances = 2 // times as near as the best compact kind a recorded curve must be to be kept
)

// A kind is judged by the mean distance of so many spans, each the best of some.
var judgedSpans, judgedBest = 4, selectSpans

// fitArrivals fits the recorded curve and, if asked, the kinds that are random in
// time, and takes the nearest by the distance of the best of selectSpans drawn spans; the
// curve, where that is more than twice as near. The work of simulations is bounded for
// traces of any length: spans of more than 40,000 requests are thinned at random, which a
// Cox process survives, and of two days or more eight spans in seasonal time are looked at.
func fitArrivals(d arrivalData, o arrivalOptions) (*Arrivals, error) {
	if len(d.times) < minRequests || d.window <= 0 {
		return nil, errors.New("too few arrivals, or no time, to fit them in")
	}
	curve, err := fitCurve(&d, o.width)
	if err != nil {
		return nil, err
	}
	var season *Season
	if o.compact {
		season = findSeason(&d)
	}
	t := newTarget(&d, season)
	a := &Arrivals{Kind: KindCurve, Mean: round(d.rate()), Curve: curve, Fingerprint: t.print}
	if !o.compact {
		return a, nil
	}
	if d.window < leastWindow {
		a.Why = "the window is shorter than a second"
		return a, nil
	}
	best, why := t.search()
	if season == nil {
		near := t.curveDistance(a, d.window)
		why += fmt.Sprintf("; recorded curve %.3g", near)
		if best.distance > curveAdvances*near {
			a.Why = "no compact model is as near. " + why
			return a, nil
		}
	} else if d.window/t.window() >= levelSpans {
		season.Level = level(season.even(&d).counts(t.window()), t.widestIDC(), t.window().Seconds())
	}
	a = &Arrivals{
		Kind: best.kind, Mean: roundTo(t.mean/t.thin, 4), Span: t.window(), Select: selectSpans,
		Season: season, Fingerprint: t.print, Why: why,
	}
	a.set(best.model)
	return a, nil
}

// set is the inverse of model.
func (a *Arrivals) set(m model) {
	switch m := m.(type) {
	case *OnOff:
		a.OnOff = m
	case *Regimes:
		a.Regimes = m
	case *GammaOU:
		a.GammaOU = m
	}
}

// newTarget takes the span, or some of the spans, that models are compared with.
func newTarget(d *arrivalData, season *Season) *target {
	spans := []arrivalData{*d}
	if season != nil {
		d = season.even(d)
		length := time.Duration(min(max(3600, seasonLeast/d.rate()), d.window.Seconds()) * 1e9)
		if parts := d.parts(length.Round(time.Minute), seasonSpans); length < d.window && len(parts) > 0 {
			spans = parts
		}
	}
	t := &target{spans: spans, shares: d.shares()}
	t.thin = min(1, spanRequests/(d.rate()*spans[0].window.Seconds()))
	t.mean = d.rate() * t.thin
	if t.thin < 1 {
		for i := range spans {
			spans[i] = spans[i].thinned(t.thin, uint64(i))
		}
	}
	t.print = spans[0].blank(t.shares, roundTo(t.mean, 4), d.bursty())
	for _, s := range spans {
		own := *t.print
		own.Rate = s.rate()
		g := gauge{like: &own, window: s.window}
		t.want = addScaled(t.want, g.features(&span{s.times, s.labels()}), 1/float64(len(spans)))
	}
	t.print.set(t.want)
	t.want = t.print.features()
	return t
}

// thinned keeps each request with probability p.
func (d arrivalData) thinned(p float64, seed uint64) arrivalData {
	r := rand.New(rand.NewPCG(seed, momentBase))
	out := arrivalData{work: d.work, window: d.window, tick: d.tick}
	for i, t := range d.times {
		if r.Float64() < p {
			out.times = append(out.times, t)
			if d.class != nil {
				out.class = append(out.class, d.class[i])
			}
		}
	}
	return out
}

// A candidate is a kind with its model, as a profile would show it, and how near it comes.
type candidate struct {
	kind     string
	model    model
	distance float64
}

// search fits the kinds, the most promising first, and says how they fared.
func (t *target) search() (best candidate, why string) {
	p := newPen(t.window(), t.mean, t.shares, t.print)
	starts := []candidate{{kind: KindRegimes, model: startRegimes(t)}, {kind: KindGammaOU, model: startGammaOU(t)}}
	if m := startOnOff(t); m != nil {
		starts = append(starts, candidate{kind: KindOnOff, model: m})
	}
	for i := range starts {
		starts[i].distance = t.loss(p, starts[i].model)
	}
	slices.SortStableFunc(starts, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	best.distance = math.Inf(1)
	var tried []string
	for _, c := range starts {
		if c.distance > hopeless*best.distance {
			tried = append(tried, fmt.Sprintf("%s far off (%.3g)", c.kind, c.distance))
			continue
		}
		c.model = matchMoments(t, c.model).rounded()
		c.distance = t.achieved(p, c.model)
		tried = append(tried, fmt.Sprintf("%s %.3g", c.kind, c.distance))
		if c.distance < best.distance {
			best = c
		}
	}
	if t.thin < 1 {
		best.model = best.model.faster(1 / t.thin).rounded()
	}
	return best, "distance of the best of " + fmt.Sprint(judgedBest) + " spans: " + strings.Join(tried, ", ")
}

// achieved is the distance that selected spans have, on average.
func (t *target) achieved(p *pen, m model) (sum float64) {
	for i := range judgedSpans {
		_, d := p.pick(m, t.want, momentBase, uint64(i), judgedBest, 1)
		sum += d / float64(judgedSpans)
	}
	return sum
}

// curveDistance is that of spans drawn of the recorded curve, as they come.
func (t *target) curveDistance(a *Arrivals, window time.Duration) (sum float64) {
	g := gauge{like: t.print, window: window}
	for i := range judgedSpans {
		stream := a.Draw(window, DrawOptions{Seed: momentBase + uint64(i), Factor: t.thin})
		var s span
		for at, class := stream.Next(); at < window; at, class = stream.Next() {
			s.times, s.class = append(s.times, at), append(s.class, class)
		}
		sum += distance(g.features(&s), t.want) / float64(judgedSpans)
	}
	return sum
}
