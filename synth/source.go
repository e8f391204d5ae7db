package synth

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"

	"wavetank/fit"
	"wavetank/traces"
)

// A source makes the requests of one app.
type source struct {
	rank string // part and app: the order of requests at one instant
	at   time.Duration

	curve *curve
	place position
	gaps  fit.Dist

	label                           func(*traces.Request)
	prompt, output                  *fit.LengthDist // nil: unknown
	copula                          float64
	models                          []share
	gapDraws, promptDraws, outDraws *draws
	modelDraws                      *draws
}

type share struct {
	name string
	to   float64 // cumulative
}

func newSource(p Part, app string, mixed bool, scale float64, seed uint64) *source {
	a := p.Profile.Apps[app]
	stream := func(purpose string) *draws { return newDraws(seed, p.Name, app, purpose) }
	s := &source{
		rank:  p.Name + "\x00" + app,
		curve: newCurve(a.Rate, p.Profile.Source.Window, scale),
		gaps:  a.Arrivals.Dist(),
		label: labeller(p, app, mixed), models: cumulate(a.Models),
		gapDraws: stream("arrivals"), promptDraws: stream("prompt"), outDraws: stream("output"), modelDraws: stream("model"),
	}
	if a.Prompt != nil {
		s.prompt = a.Prompt.Dist()
	}
	if a.Output != nil {
		s.output = a.Output.Dist()
	}
	if a.Dependence != nil {
		s.copula = a.Dependence.Copula
	}
	s.advance()
	return s
}

// labeller returns what writes an app's name where it was read from. In a mix the
// requests also say of which part they are.
func labeller(p Part, app string, mixed bool) func(*traces.Request) {
	var named, part traces.Opt[string]
	if app != "default" {
		named = traces.Some(app)
	}
	if mixed {
		part = traces.Some(p.Name)
	}
	switch p.Profile.Source.By {
	case fit.ByTenant:
		return func(r *traces.Request) { r.App, r.Tenant = part, named }
	case fit.ByModel:
		return func(r *traces.Request) { r.App, r.Model = part, named }
	}
	if mixed && len(p.Profile.Apps) == 1 {
		named = part
	} else if mixed {
		named = traces.Some(p.Name + "/" + app)
	}
	return func(r *traces.Request) { r.App = named }
}

func cumulate(models map[string]float64) (out []share) {
	var sum float64
	for _, name := range sorted(models) {
		sum += models[name]
		out = append(out, share{name, sum})
	}
	return out
}

// advance finds the next arrival: a renewal process of unit mean in operational time,
// taken back to the clock by the curve. Its gaps are never stretched to fill a
// window: that would take their variance away.
func (s *source) advance() {
	s.place = s.curve.advance(s.place, s.gaps.Quantile(s.gapDraws.next()))
	s.at = s.curve.time(s.place)
}

// request makes the request of the present arrival.
func (s *source) request(r *traces.Record) {
	*r = traces.Record{Outcome: traces.Outcome{Status: traces.Unknown}}
	r.Arrival = s.at
	r.Stream = traces.Some(true)
	r.Model = s.model()
	s.label(&r.Request)
	u, v := s.promptDraws.next(), s.outDraws.next()
	if s.prompt != nil {
		r.PromptTokens = traces.Some(int32(s.prompt.Quantile(u)))
	}
	if s.output != nil {
		r.OutputTokens = traces.Some(int32(s.output.Quantile(s.join(u, v))))
	}
}

// join makes of v the uniform that goes with u by the Gaussian copula.
func (s *source) join(u, v float64) float64 {
	if s.copula == 0 {
		return v
	}
	z := s.copula*fit.NormalQuantile(u) + math.Sqrt(1-s.copula*s.copula)*fit.NormalQuantile(v)
	return fit.NormalCDF(z)
}

func (s *source) model() traces.Opt[string] {
	if len(s.models) == 0 {
		return traces.Opt[string]{}
	}
	u := s.modelDraws.next()
	for _, m := range s.models {
		if u < m.to {
			return traces.Some(m.name)
		}
	}
	return traces.Opt[string]{}
}

// draws are independent uniforms for one purpose.
type draws struct{ pcg *rand.PCG }

// newDraws derives a stream from the seed and the names, so that it depends on
// nothing else that is drawn.
func newDraws(seed uint64, names ...string) *draws {
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, seed)
	for _, n := range names {
		binary.Write(h, binary.LittleEndian, uint64(len(n)))
		h.Write([]byte(n))
	}
	sum := h.Sum(nil)
	return &draws{rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:]))}
}

// next is uniform in the open interval (0, 1): quantiles of 0 and 1 may be infinite.
func (d *draws) next() float64 {
	return (float64(d.pcg.Uint64()>>12) + .5) / (1 << 52)
}
