package fidelity

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"wavetank/fit"
	"wavetank/synth"
	"wavetank/traces"
)

// MaxRows is the most that a Trace holds. Longer traces are refused and not
// sampled: blocks cut out of one would be another load, and the user knows better
// which window is of interest.
const MaxRows = 2_000_000

// ErrTooLong is wrapped by the error of Load for a trace of more than MaxRows.
var ErrTooLong = errors.New("the trace is too long")

// minRows is the least that a trace, or an app of it, is compared from.
const minRows = 30

// A Trace is what of a trace makes its load, in 24 bytes a request.
type Trace struct {
	rows []row // by arrival, the first at 0
	span time.Duration
	apps []string // by row.app

	turns, gaps, open []timed // of the sessions
	leftOut           int64
	tick              time.Duration // of the clock that stamped the arrivals; 0: none was seen
	blocks            bool          // some rows have block ids
}

// A row is one request. Lengths are 0 where they are not known, or not to be
// compared because the request failed.
type row struct {
	at             time.Duration
	prompt, output int32
	session        uint32 // 0: none
	app            uint16
}

// Load reads r to its end. It leaves out what fit leaves out: warm-ups, retries and
// answers of a gateway's cache; requests that failed count as arrivals, but not
// their lengths. Where a log's clock put the arrivals on a coarse grid, they are
// spread over its ticks, as traces.Dequantize does. Rows must be sorted.
func Load(r traces.Reader, by fit.By) (*Trace, error) {
	l, err := load(traces.InOrder(r), by)
	if err != nil || len(l.rows) == 0 {
		return &l.Trace, err
	}
	first := l.rows[0].at
	for i := range l.rows {
		l.rows[i].at -= first
	}
	l.span = l.rows[len(l.rows)-1].at
	return &l.Trace, errors.Join(l.spreadTicks(), l.addSessions())
}

// synthesize makes a trace of a profile, as long as span or, if that is 0, as the
// window that the profile was fitted on.
func synthesize(s Side, seed uint64, span time.Duration) (*Trace, error) {
	if span == 0 {
		span = s.Profile.Source.Window
	}
	g, err := synth.New([]synth.Part{{Profile: s.Profile}}, synth.Options{For: span, Seed: seed})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	l, err := load(g, s.Profile.Source.By)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	l.span = span
	return &l.Trace, l.addSessions()
}

// A loader is a Trace while it is read.
type loader struct {
	Trace
	by       func(*traces.Record) traces.Opt[string]
	appOf    map[string]uint16
	sessions map[string]uint32
}

// keys are as in fit, whose profiles say by which they were made.
var keys = map[fit.By]func(*traces.Record) traces.Opt[string]{
	fit.ByApp:    func(r *traces.Record) traces.Opt[string] { return r.App },
	fit.ByModel:  func(r *traces.Record) traces.Opt[string] { return r.Model },
	fit.ByTenant: func(r *traces.Record) traces.Opt[string] { return r.Tenant },
	fit.ByNone:   func(*traces.Record) traces.Opt[string] { return traces.Opt[string]{} },
}

func load(r traces.Reader, by fit.By) (*loader, error) {
	if by == "" {
		by = fit.ByApp
	}
	l := &loader{by: keys[by], appOf: map[string]uint16{}, sessions: map[string]uint32{}}
	if l.by == nil {
		return l, fmt.Errorf("cannot compare by %q; it is app, model, tenant or none", by)
	}
	for rec, err := range traces.All(r) {
		if err == nil {
			err = l.add(rec)
		}
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l *loader) add(rec *traces.Record) error {
	if rec.Phase.Known || rec.Outcome.RetryOf.Known || rec.Outcome.GatewayCache.V {
		l.leftOut++
		return nil
	}
	if len(l.rows) == MaxRows {
		return fmt.Errorf("%w: it has more than %d requests", ErrTooLong, MaxRows)
	}
	app, err := l.app(rec)
	if err != nil {
		return err
	}
	q := row{at: rec.Arrival, app: app}
	if s := rec.Outcome.Status; s == traces.OK || s == traces.Unknown || s == "" {
		q.prompt, q.output = max(rec.PromptTokens.V, 0), max(rec.OutputTokens.V, 0)
	}
	if rec.Session.Known {
		id, ok := l.sessions[rec.Session.V]
		if !ok {
			id = uint32(len(l.sessions)) + 1
			l.sessions[rec.Session.V] = id
		}
		q.session = id
	}
	l.blocks = l.blocks || len(rec.Blocks) > 0
	l.rows = append(l.rows, q)
	return nil
}

func (l *loader) app(rec *traces.Record) (uint16, error) {
	name := l.by(rec).Or("default")
	id, ok := l.appOf[name]
	if !ok && len(l.apps) > math.MaxUint16 {
		return 0, fmt.Errorf("the trace has more than %d apps", len(l.apps))
	}
	if !ok {
		id = uint16(len(l.apps))
		l.appOf[name], l.apps = id, append(l.apps, name)
	}
	return id, nil
}

// tickHead is how many rows a tick is looked for in.
const tickHead = 8192

func (t *Trace) spreadTicks() error {
	var gaps []time.Duration
	head := t.rows[:min(len(t.rows), tickHead)]
	for i := 1; i < len(head); i++ {
		if d := head[i].at - head[i-1].at; d > 0 {
			gaps = append(gaps, d)
		}
	}
	if t.tick, _ = traces.Tick(gaps, int64(len(head))); t.tick == 0 {
		return nil
	}
	i := 0
	for rec, err := range traces.All(traces.Dequantize(t.Reader(1), t.tick, 0)) {
		if err != nil {
			return err
		}
		t.rows[i].at = rec.Arrival
		i++
	}
	first := t.rows[0].at
	for i := range t.rows {
		t.rows[i].at -= first
	}
	t.span = t.rows[len(t.rows)-1].at
	return nil
}

// stamped is t by a clock of that tick, spread over its ticks as Load does. Of two
// loads of which one was stamped so, nothing finer can be compared.
func (t *Trace) stamped(tick time.Duration, seed uint64) *Trace {
	if tick <= t.tick {
		return t
	}
	rng := newRand(seed, "tick", 0)
	out := *t
	out.rows = slices.Clone(t.rows)
	var within []time.Duration
	for i := 0; i < len(out.rows); {
		from, start := i, out.rows[i].at.Truncate(tick)
		within = within[:0]
		for ; i < len(out.rows) && out.rows[i].at < start+tick; i++ {
			within = append(within, time.Duration(rng.Int64N(int64(min(tick, t.span-start+1)))))
		}
		slices.Sort(within)
		for j, d := range within {
			out.rows[from+j].at = start + d
		}
	}
	return &out
}

// Rows returns the number of requests.
func (t *Trace) Rows() int { return len(t.rows) }

// Rate returns the mean number of requests a second.
func (t *Trace) Rate() float64 { return float64(len(t.rows)) / t.span.Seconds() }

func (t *Trace) check() error {
	if len(t.rows) < minRows {
		return fmt.Errorf("%d requests; at least %d are needed", len(t.rows), minRows)
	}
	if t.span <= 0 {
		return fmt.Errorf("all %d requests arrive at one instant: there are no arrivals to compare", len(t.rows))
	}
	return nil
}

// Reader reads t as a trace of arrivals and lengths, that many times as fast.
func (t *Trace) Reader(speed float64) traces.Reader {
	i := 0
	return traces.ReaderFunc(func(rec *traces.Record) error {
		if i == len(t.rows) {
			return io.EOF
		}
		q := &t.rows[i]
		*rec = traces.Record{}
		rec.Seq, rec.Arrival = uint64(i), time.Duration(float64(q.at)/speed)
		rec.PromptTokens = traces.Opt[int32]{V: q.prompt, Known: q.prompt > 0}
		rec.OutputTokens = traces.Opt[int32]{V: q.output, Known: q.output > 0}
		i++
		return nil
	})
}

// appID returns the id of an app, or false where t has none of that name.
func (t *Trace) appID(name string) (uint16, bool) {
	i := slices.Index(t.apps, name)
	return uint16(max(i, 0)), i >= 0
}
