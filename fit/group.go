package fit

import (
	"fmt"
	"time"

	"wavetank/traces"
)

// A row is what is remembered of a request until its app is fitted: 40 bytes.
type row struct {
	at             time.Duration
	prompt, output int32    // tokens of a whole answer; 0: unknown
	bins           [2]int32 // of prompt and output: see binOf
	limit          int32    // that cut the output; 0: none did
	kind           uint16
	class          uint8
	failed         bool
	session        uint32 // from 1; 0: unknown
}

// A kind is what the trace itself says that divides the requests of an app.
type kind struct{ tenant, model traces.Opt[string] }

// A group is the requests of one app, as they come.
type group struct {
	rows     []row
	parts    [2][]int32 // of each row, as the table partFields says; may end early
	kinds    index[kind]
	clients  [2]*clientTally // by clientFields
	sessions index[string]
	outcomes map[traces.Status]int64
}

func newGroup() *group {
	return &group{
		outcomes: make(map[traces.Status]int64),
		clients:  [2]*clientTally{newClientTally(), newClientTally()},
	}
}

// clientFields are what tells who sent a request, the finest first.
var clientFields = []struct {
	name string
	of   func(*traces.Record) traces.Opt[string]
}{
	{"user", func(r *traces.Record) traces.Opt[string] { return r.User }},
	{"tenant", func(r *traces.Record) traces.Opt[string] { return r.Tenant }},
}

// An index numbers what it is given from 0, in the order of first sight.
type index[K comparable] struct {
	of   map[K]int
	keys []K
}

func (x *index[K]) number(k K) int {
	if i, ok := x.of[k]; ok {
		return i
	}
	if x.of == nil {
		x.of = make(map[K]int)
	}
	x.of[k] = len(x.keys)
	x.keys = append(x.keys, k)
	return len(x.keys) - 1
}

const maxKinds = 1 << 16 // what comes later is of none

// kindOf numbers the kind of rec. When there are as many as a row can hold, those that
// were not seen yet are one, without a tenant or a model.
func (g *group) kindOf(rec *traces.Record) uint16 {
	k := kind{rec.Tenant, rec.Model}
	if _, seen := g.kinds.of[k]; !seen && len(g.kinds.keys) >= maxKinds-1 {
		k = kind{}
	}
	return uint16(g.kinds.number(k))
}

func (g *group) add(rec *traces.Record, t time.Duration) error {
	if rec.PromptTokens.V < 0 || rec.OutputTokens.V < 0 {
		return fmt.Errorf("request %d has %d prompt and %d output tokens", rec.Seq, rec.PromptTokens.V, rec.OutputTokens.V)
	}
	s := status(rec)
	g.outcomes[s]++
	r := row{at: t, failed: s != traces.OK && s != traces.Unknown}
	r.kind = g.kindOf(rec)
	for i, f := range clientFields {
		if c := f.of(rec); c.Known {
			g.clients[i].add(c.V, t)
		}
	}
	if rec.Session.Known {
		r.session = uint32(g.sessions.number(rec.Session.V)) + 1
	}
	if !r.failed {
		r.prompt, r.output, r.limit = rec.PromptTokens.V, rec.OutputTokens.V, cutAt(rec)
		r.bins = [2]int32{binOf(r.prompt), binOf(r.output)}
	}
	g.rows = append(g.rows, r)
	for i, part := range partFields {
		g.addPart(i, part.of(rec))
	}
	return nil
}

// partFields are the quantities that are a part of another.
var partFields = []struct {
	name string
	of   func(*traces.Record) traces.Opt[int32]
}{
	{"reasoning", func(r *traces.Record) traces.Opt[int32] { return r.ReasoningTokens }},
	{"cached", func(r *traces.Record) traces.Opt[int32] { return r.Outcome.CachedTokens }},
}

const unknownPart = -1

// addPart remembers a part of the last row. Nothing is held where no row knows it.
func (g *group) addPart(i int, v traces.Opt[int32]) {
	if !v.Known && g.parts[i] == nil {
		return
	}
	for len(g.parts[i]) < len(g.rows) {
		g.parts[i] = append(g.parts[i], unknownPart)
	}
	if v.Known && v.V >= 0 && !g.rows[len(g.rows)-1].failed {
		g.parts[i][len(g.rows)-1] = v.V
	}
}

func (g *group) part(i, row int) int32 {
	if row >= len(g.parts[i]) {
		return unknownPart
	}
	return g.parts[i][row]
}

// cutAt is the limit that ended an answer, or 0: the server said so, or the answer has
// exactly the tokens that the client allowed.
func cutAt(rec *traces.Record) int32 {
	if n := rec.OutputTokens.V; rec.Outcome.FinishReason.V == "length" || n == rec.MaxTokens.V {
		return n
	}
	return 0
}

// status is how a request ended. An answer that is known to have no token is empty,
// whatever the log calls it: BurstGPT's failures are rows of 0 tokens.
func status(rec *traces.Record) traces.Status {
	s := rec.Outcome.Status
	switch {
	case s != "" && s != traces.Unknown && s != traces.OK:
		return s
	case rec.OutputTokens.Known && rec.OutputTokens.V == 0:
		return traces.Empty
	case s == "":
		return traces.Unknown
	}
	return s
}

// app fits the group's models over the window.
func (g *group) app(name string, window, tick time.Duration, o Options) (*App, error) {
	if err := g.enough(name); err != nil {
		return nil, err
	}
	n := int64(len(g.rows))
	classes := g.divide(o.Classes)
	sums := g.summarise(len(classes))
	if err := fitAll(classes, sums, n); err != nil {
		return nil, fmt.Errorf("app %q: %w", name, err)
	}
	wholeWeight(classes)
	arrivals, err := fitArrivals(g.arrivals(sums, window, tick), arrivalOptions{compact: o.Arrivals == Compact, width: o.Width})
	if err != nil {
		return nil, fmt.Errorf("arrivals of app %q: %w", name, err)
	}
	a := &App{
		Requests: n, Arrivals: *arrivals, Classes: classes,
		Outcomes: shares(g.outcomes, n), Failures: g.failures(window),
		Sessions: g.fitSessions(window), Clients: g.fitClients(),
	}
	a.Joint = g.judge(a)
	return a, nil
}

// enough says no to an app that has lengths, but too few.
func (g *group) enough(app string) error {
	var prompts, outputs int64
	for _, r := range g.rows {
		if r.prompt > 0 {
			prompts++
		}
		if r.output > 0 {
			outputs++
		}
	}
	if prompts > 0 && prompts < minRequests {
		return &TooFewError{app, "prompt lengths", prompts}
	}
	if outputs > 0 && outputs < minRequests {
		return &TooFewError{app, "output lengths", outputs}
	}
	return nil
}

// wholeWeight makes the rounded weights add up to 1.
func wholeWeight(classes []Class) {
	rest := 1.
	for _, c := range classes[1:] {
		rest -= c.Weight
	}
	classes[0].Weight = round(rest)
}

func (g *group) arrivals(sums []*summary, window, tick time.Duration) arrivalData {
	d := arrivalData{window: window, tick: tick}
	for _, s := range sums {
		d.work = append(d.work, s.work())
	}
	for _, r := range g.rows {
		d.times, d.class = append(d.times, r.at), append(d.class, r.class)
	}
	return d
}

// failures is nil where there are too few of them to have a rate.
func (g *group) failures(window time.Duration) *Rate {
	var times []time.Duration
	for _, r := range g.rows {
		if r.failed {
			times = append(times, r.at)
		}
	}
	if len(times) < minRequests {
		return nil
	}
	return rateOf(times, window)
}

// fitClients is of the finest field that most requests have.
func (g *group) fitClients() *Clients {
	for i, f := range clientFields {
		if t := g.clients[i]; 2*t.all.n > int64(len(g.rows)) {
			return t.fit(f.name)
		}
	}
	return nil
}
