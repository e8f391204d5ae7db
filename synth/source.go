package synth

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sort"
	"time"

	"wavetank/fit"
	"wavetank/traces"
)

// A source makes the requests of one user base of an app.
type source struct {
	rank   string // part, app and copy: the order of requests at one instant
	at     time.Duration
	class  uint8
	stream stream

	label    func(*traces.Request)
	classes  []class
	draws    [4]*draws // of fit.Drawer
	models   *draws
	sessions *sessions // nil: none is known
	clients  *clients  // nil: none is known
}

// A class is what all copies of an app draw one class's requests from.
type class struct {
	drawer *fit.Drawer
	tenant traces.Opt[string]
	models []share
}

type share struct {
	name string
	to   float64 // cumulative
}

// purposes are the streams of fit.Drawer's uniforms, by the names that seed them.
var purposes = [4]string{"prompt", "output", "reasoning", "cached"}

// newSources returns what makes the requests of `users` times the user base of an app.
func newSources(p Part, app string, mixed bool, users float64, o Options) (out []*source) {
	a := p.Profile.Apps[app]
	stream := func(copy int, purpose string) *draws {
		if copy > 0 {
			purpose = fmt.Sprintf("%s of copy %d", purpose, copy)
		}
		return newDraws(o.Seed, p.Name, app, purpose)
	}
	classes := newClasses(a.Classes)
	streams := newStreams(a, p.Profile.Source.Window, users, o, stream)
	for i, arrivals := range streams {
		s := &source{
			rank: fmt.Sprintf("%s\x00%s\x00%02d", p.Name, app, i), stream: arrivals,
			label: labeller(p, app, mixed), classes: classes, models: stream(i, "model"),
		}
		for k, purpose := range purposes {
			s.draws[k] = stream(i, purpose)
		}
		s.sessions = newSessions(a.Sessions, fmt.Sprintf("%s%s-%d-", p.Name, app, i), a.Arrivals.Mean*users/float64(len(streams)), stream(i, "sessions"))
		s.clients = newClients(a.Clients, fmt.Sprintf("%s%s-", p.Name, app), stream(i, "clients"))
		s.advance()
		out = append(out, s)
	}
	return out
}

func newClasses(of []fit.Class) (out []class) {
	for i := range of {
		c := class{drawer: of[i].Drawer(), models: cumulate(of[i].Models)}
		if of[i].Tenant != "" {
			c.tenant = traces.Some(of[i].Tenant)
		}
		out = append(out, c)
	}
	return out
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

// advance finds the next arrival.
func (s *source) advance() { s.at, s.class = s.stream.next() }

// request makes the request of the present arrival.
func (s *source) request(r *traces.Record) {
	*r = traces.Record{Outcome: traces.Outcome{Status: traces.Unknown}}
	r.Arrival = s.at
	r.Stream = traces.Some(true)
	c := &s.classes[s.class]
	r.Model, r.Tenant = s.model(c), c.tenant
	s.label(&r.Request)
	s.lengths(c, r)
	if s.clients != nil {
		s.clients.name(&r.Request)
	}
	if s.sessions != nil {
		s.sessions.name(&r.Request)
	}
}

func (s *source) lengths(c *class, r *traces.Record) {
	t := c.drawer.Draw(&[4]float64{s.draws[0].next(), s.draws[1].next(), s.draws[2].next(), s.draws[3].next()})
	if t.Prompt > 0 {
		r.PromptTokens = traces.Some(t.Prompt)
	}
	if t.Output > 0 {
		r.OutputTokens = traces.Some(t.Output)
	}
	if t.Reasoning >= 0 {
		r.ReasoningTokens = traces.Some(t.Reasoning)
	}
}

func (s *source) model(c *class) traces.Opt[string] {
	if len(c.models) == 0 {
		return traces.Opt[string]{}
	}
	u := s.models.next()
	i := sort.Search(len(c.models), func(i int) bool { return u < c.models[i].to })
	if i == len(c.models) {
		return traces.Opt[string]{}
	}
	return traces.Some(c.models[i].name)
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

func (d *draws) next() float64 { return fit.Uniform(d.pcg) }
