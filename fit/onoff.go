package fit

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// OnOff is bursts and silences by turns, a semi-Markov process. The lengths of a burst and
// of a silence are mixtures of two lognormals; a burst's rate is lognormal, correlated with
// how long it lasts, and wavers as a lognormal Ornstein-Uhlenbeck process. Seconds
// and requests a second are the units of the logarithms. Requests come in a renewal
// process with gamma gaps in operational time, their classes independent of the bursts.
type OnOff struct {
	Gap     float64   `yaml:"gap"`          // seconds: a longer one was a silence
	Bursts  int       `yaml:"bursts"`       // in a window
	Silence []float64 `yaml:"silence,flow"` // w, mu, sigma of each component
	Length  []float64 `yaml:"length,flow"`  // of a burst, likewise
	Rate    LogNormal `yaml:"rate,flow"`    // in a burst
	Corr    float64   `yaml:"corr"`         // of the logarithms of Length and Rate
	Jitter  Wave      `yaml:"jitter,flow"`
	Shape   float64   `yaml:"shape"` // of the gaps' gamma distribution
}

// LogNormal is the distribution of exp(Mu + Sigma Z), Z standard normal.
type LogNormal struct {
	Mu    float64 `yaml:"mu"`
	Sigma float64 `yaml:"sigma"`
}

// Wave is a lognormal Ornstein-Uhlenbeck process of mean 1: exp(Sigma X - Sigma²/2).
type Wave struct {
	Sigma float64 `yaml:"sigma"`
	Tau   float64 `yaml:"tau"` // seconds, in which its correlation falls to 1/e
}

// at is the value where the process is x standard deviations above its mean.
func (w Wave) at(x float64) float64 { return math.Exp(w.Sigma*x - w.Sigma*w.Sigma/2) }

const (
	gapMeans      = 7.5 // a gap of so many mean gaps ends a burst
	leastBursts   = 20  // fewer say nothing of their distribution
	maxPieces     = 1 << 15
	mostPieces    = 1 << 17 // maxPieces and every burst and silence: a hand-written model of nothing but instants ends here
	rescaleAtMost = 2       // of a span's rates, so that as many requests are due as were recorded
)

// A burst is what moments are taken of.
type burst struct{ length, n float64 }

// findBursts cuts the spans at gaps longer than gap seconds.
func findBursts(spans []arrivalData, gap float64) (bursts []burst, silences []float64) {
	for _, s := range spans {
		first := 0
		for i := 1; i <= len(s.times); i++ {
			if i < len(s.times) && (s.times[i]-s.times[i-1]).Seconds() <= gap {
				continue
			}
			bursts = append(bursts, burst{(s.times[i-1] - s.times[first]).Seconds(), float64(i - first)})
			if i < len(s.times) {
				silences = append(silences, (s.times[i] - s.times[i-1]).Seconds())
			}
			first = i
		}
	}
	return bursts, silences
}

// startOnOff has the moments of the bursts, and plausible values for what only a
// simulation tells. It is nil where there are too few bursts.
func startOnOff(t *target) *OnOff {
	gap := roundTo(gapMeans/t.mean, 1)
	bursts, silences := findBursts(t.spans, gap)
	if len(silences) < leastBursts {
		return nil
	}
	m := &OnOff{
		Gap: gap, Bursts: max(len(bursts)/len(t.spans), 1), Silence: twoLognormals(silences),
		Jitter: Wave{.5, gap}, Shape: .8,
	}
	m.moments(bursts)
	return m
}

// twoLognormals is the mixture of greatest likelihood: silences are pauses for thought or
// absences, bursts a single request and what came of it, or a spell of work. There are but
// dozens of them; in bins of a half no component can shrink to a few that happen to be alike.
func twoLognormals(xs []float64) []float64 {
	const ratio = 1.5
	least := slices.Min(xs) / ratio
	n := make(map[int]float64)
	for _, x := range xs {
		n[int(math.Log(x/least)/math.Log(ratio))]++
	}
	s := Sample{Hi: math.Inf(1)}
	for _, b := range slices.Sorted(maps.Keys(n)) {
		edge := least * math.Pow(ratio, float64(b))
		s.Bins = append(s.Bins, Bin{edge, edge * ratio, n[b]})
	}
	g := newGroups(s)
	m, _ := g.fit(2, mixture{g.whole()})
	return m.params()
}

// moments sets Length, Rate and Corr. A burst of n requests lasts n gaps, one more
// than were seen.
func (m *OnOff) moments(bursts []burst) {
	var requests, seconds float64
	for _, b := range bursts {
		requests, seconds = requests+b.n, seconds+b.length
	}
	inside := max(seconds/requests, gapUnit)
	var lengths []float64
	var n, x, y, xx, yy, xy float64
	for _, b := range bursts {
		length := b.length + inside
		lx, ly := math.Log(length), math.Log(b.n/length)
		n, x, y, xx, yy, xy = n+1, x+lx, y+ly, xx+lx*lx, yy+ly*ly, xy+lx*ly
		lengths = append(lengths, length)
	}
	x, y = x/n, y/n
	sx, sy := math.Sqrt(max(xx/n-x*x, 1e-4)), math.Sqrt(max(yy/n-y*y, 1e-4))
	m.Length, m.Rate = twoLognormals(lengths), LogNormal{y, sy}
	m.Corr = min(max((xy/n-x*y)/(sx*sy), -.95), .95)
}

// free are the parameters that a simulation tells, on the whole real line.
func (m *OnOff) free() []float64 {
	return []float64{
		math.Log(m.Jitter.Sigma), math.Log(m.Jitter.Tau), math.Log(m.Shape), math.Log(m.Rate.Sigma), math.Atanh(m.Corr),
	}
}

func (m *OnOff) with(x []float64) model {
	out := *m
	out.Jitter = Wave{math.Exp(x[0]), math.Exp(x[1])}
	out.Shape, out.Rate.Sigma, out.Corr = math.Exp(x[2]), math.Exp(x[3]), math.Tanh(x[4])
	return &out
}

func (m *OnOff) rounded() model {
	out := *m
	out.Silence = roundedMixture(m.Silence)
	out.Length, out.Rate = roundedMixture(m.Length), m.Rate.rounded()
	out.Corr, out.Shape, out.Jitter = roundTo(m.Corr, 2), roundTo(m.Shape, 2), m.Jitter.rounded()
	return &out
}

// roundedMixture has weights of three decimals that add up to 1.
func roundedMixture(params []float64) []float64 {
	out := make([]float64, len(params))
	rest := 1.
	for i := 0; i < len(params); i += 3 {
		w := math.Round(params[i]*1000) / 1000
		if i == len(params)-3 {
			w = rest
		}
		rest -= w
		out[i], out[i+1], out[i+2] = round(w), roundTo(params[i+1], 3), roundTo(params[i+2], 2)
	}
	return out
}

func (d LogNormal) rounded() LogNormal { return LogNormal{roundTo(d.Mu, 3), roundTo(d.Sigma, 2)} }

func (w Wave) rounded() Wave { return Wave{roundTo(w.Sigma, 2), roundTo(w.Tau, 2)} }

func (m *OnOff) faster(factor float64) model {
	out := *m
	out.Rate.Mu += math.Log(factor)
	return &out
}

func (m *OnOff) shape() float64 { return m.Shape }

// A phase is a silence, or a burst of that rate.
type phase struct{ length, rate float64 }

// draw has each quantile band of bursts and silences once a round, and begins at a
// random point of it.
func (m *OnOff) draw(c *spanContext, r *rand.Rand, l *intensity) {
	l.reset(len(c.shares))
	l.setMix(c.shares)
	phases := m.round(r, c.window)
	var round float64
	for _, p := range phases {
		round += p.length
	}
	step := max(m.Jitter.Tau/6, c.window/maxPieces)
	wave := newOrnstein(r, step, m.Jitter.Tau)
	at := Uniform(r) * round
	i := 0
	for ; i < len(phases)-1 && at >= phases[i].length; i++ {
		at -= phases[i].length
	}
	for now := 0.; now < c.window && len(l.ends) < mostPieces; i, at = (i+1)%len(phases), 0 {
		end := min(now+max(phases[i].length-at, 0), c.window)
		if phases[i].rate == 0 {
			l.add(end, 0)
			now = end
		}
		for now < end {
			next := min(now+step, end)
			l.add(next, (next-now)*phases[i].rate*m.Jitter.at(wave.next(r)))
			now = next
		}
	}
	l.scale(min(max(c.mean*c.window/max(l.total(), 1e-9), 1./rescaleAtMost), rescaleAtMost))
}

// round draws each phase once. None lasts longer than a window.
func (m *OnOff) round(r *rand.Rand, window float64) []phase {
	off, on := newMixture(m.Silence), newMixture(m.Length)
	lengths, rates, silences := stratified(r, m.Bursts), stratified(r, m.Bursts), stratified(r, m.Bursts)
	rest := math.Sqrt(1 - m.Corr*m.Corr)
	phases := make([]phase, 0, 2*m.Bursts)
	for i := range m.Bursts {
		z := NormalQuantile(lengths[i])
		rate := m.Rate.Mu + m.Rate.Sigma*(m.Corr*z+rest*NormalQuantile(rates[i]))
		length, silence := min(on.Quantile(lengths[i]), window), min(off.Quantile(silences[i]), window)
		phases = append(phases, phase{length, math.Exp(rate)}, phase{silence, 0})
	}
	return phases
}
