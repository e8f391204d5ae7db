// Package fit turns traces into profiles: small documents that say how long
// prompts and answers are, and when requests come, per application.
package fit

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"wavetank/traces"
)

// minRequests is the least that an app is fitted from.
const minRequests = 30

// By says what divides a trace into the apps of its profile.
type By string

// The ways to divide a trace. A request that lacks the field belongs to "default".
const (
	ByApp    By = "app"
	ByModel  By = "model"
	ByTenant By = "tenant"
	ByNone   By = "none" // all is one app, "default"
)

const defaultApp = "default"

var keys = map[By]func(*traces.Record) traces.Opt[string]{
	ByApp:    func(r *traces.Record) traces.Opt[string] { return r.App },
	ByModel:  func(r *traces.Record) traces.Opt[string] { return r.Model },
	ByTenant: func(r *traces.Record) traces.Opt[string] { return r.Tenant },
	ByNone:   func(*traces.Record) traces.Opt[string] { return traces.Opt[string]{} },
}

// ArrivalsKind says what kind of model arrivals get.
type ArrivalsKind string

// The kinds of arrivals.
const (
	Recorded ArrivalsKind = "recorded" // rates as they were, in cells that keep the bursts
	Compact  ArrivalsKind = "compact"  // some tens of numbers, random in time, if they come near enough
)

// Options say how to fit. The zero value is good for most traces.
type Options struct {
	By       By            // empty: ByApp
	Arrivals ArrivalsKind  // empty: Recorded
	Width    time.Duration // of a recorded curve's cells; 0: the widest that keeps the bursts
	Classes  int           // at most, of latent ones in a tenant and model; 0: 8
	Tool     string        // name and version of the program, for Profile.Source
}

func (o Options) check() (Options, error) {
	if o.By == "" {
		o.By = ByApp
	}
	if keys[o.By] == nil {
		return o, fmt.Errorf("cannot fit by %q; it is app, model, tenant or none", o.By)
	}
	if o.Width < 0 {
		return o, fmt.Errorf("the width of the rate curve is %v and must not be negative", o.Width)
	}
	if o.Arrivals == "" {
		o.Arrivals = Recorded
	}
	if o.Arrivals != Recorded && o.Arrivals != Compact {
		return o, fmt.Errorf("cannot fit %q arrivals; they are recorded or compact", o.Arrivals)
	}
	if o.Classes == 0 {
		o.Classes = maxClasses
	}
	if o.Classes < 0 || o.Classes > maxClasses {
		return o, fmt.Errorf("%d latent classes are asked for; it may be 1 to %d", o.Classes, maxClasses)
	}
	return o, nil
}

// A TooFewError says that an app has too few observations of something to be fitted.
type TooFewError struct {
	App  string
	What string // requests, prompt lengths, ...
	N    int64
}

// Error says which app, how many and how many are needed.
func (e *TooFewError) Error() string {
	return fmt.Sprintf("app %q has %d %s; at least %d are needed", e.App, e.N, e.What, minRequests)
}

// Hint says what the user may do.
func (e *TooFewError) Hint() string {
	return "merge small apps with --by none, or fit a longer window"
}

// Fit reads r once, to its end, and returns its profile. It keeps some 40 bytes a
// request. Requests that failed count as arrivals but not as lengths; retries, warm-ups
// and answers of a gateway's cache are left out altogether. The error is a
// *TooFewError where an app is too small.
func Fit(r traces.Reader, o Options) (*Profile, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	r, tick, err := untick(r)
	if err != nil {
		return nil, err
	}
	c := newCollector(o)
	for rec, err := range traces.All(r) {
		if err == nil {
			err = c.add(rec)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.profile(tick)
}

// A collector sums up a trace in one pass.
type collector struct {
	Options
	start, now time.Duration
	seen       bool
	groups     map[string]*group
	leftOut    map[string]int64
}

func newCollector(o Options) *collector {
	return &collector{Options: o, groups: make(map[string]*group), leftOut: make(map[string]int64)}
}

// exclusions are the requests that are no part of the load that users offer.
var exclusions = []struct {
	name string
	is   func(*traces.Record) bool
}{
	{"phase", func(r *traces.Record) bool { return r.Phase.Known }},
	{"retry", func(r *traces.Record) bool { return r.Outcome.RetryOf.Known }},
	{"gateway_cache", func(r *traces.Record) bool { return r.Outcome.GatewayCache.V }},
}

func (c *collector) add(rec *traces.Record) error {
	for _, e := range exclusions {
		if e.is(rec) {
			c.leftOut[e.name]++
			return nil
		}
	}
	if !c.seen {
		c.start, c.now, c.seen = rec.Arrival, rec.Arrival, true
	}
	if rec.Arrival < c.now {
		return fmt.Errorf("request %d arrives at %v, after one of %v: sort the trace first", rec.Seq, rec.Arrival, c.now)
	}
	c.now = rec.Arrival
	name := keys[c.By](rec).Or(defaultApp)
	g := c.groups[name]
	if g == nil {
		g = newGroup()
		c.groups[name] = g
	}
	return g.add(rec, rec.Arrival-c.start)
}

func (c *collector) profile(tick time.Duration) (*Profile, error) {
	window := c.now - c.start
	var total int64
	for _, name := range slices.Sorted(maps.Keys(c.groups)) {
		n := int64(len(c.groups[name].rows))
		if n < minRequests {
			return nil, &TooFewError{name, "requests", n}
		}
		total += n
	}
	if total == 0 {
		return nil, &TooFewError{defaultApp, "requests", 0}
	}
	if window <= 0 {
		return nil, fmt.Errorf("all %d requests arrive at one instant: there is no rate to fit", total)
	}
	p := &Profile{
		Version: version,
		Source:  Source{Tool: c.Tool, Requests: total, Window: window, TimeResolution: tick, By: c.By, LeftOut: c.leftOut},
		Apps:    make(map[string]*App),
	}
	for _, name := range slices.Sorted(maps.Keys(c.groups)) {
		app, err := c.groups[name].app(name, window, tick, c.Options)
		if err != nil {
			return nil, err
		}
		app.Weight = round(float64(app.Requests) / float64(total))
		p.Apps[name] = app
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("the fitted profile cannot be used: %w", err)
	}
	return p, nil
}
