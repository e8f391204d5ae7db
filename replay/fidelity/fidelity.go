// Package fidelity says how far one load is from another, figure by figure beside
// what chance alone does, and whether a server would feel the difference.
package fidelity

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wavetank/fit"
	"wavetank/replay/sim"
)

// A Side is one of the two loads: a trace, or a profile that stands for every trace
// that it may make.
type Side struct {
	Name    string // for the report
	Trace   *Trace
	Profile *fit.Profile // where there is no Trace
}

// Options say how to compare. The zero value compares app by app and end to end.
type Options struct {
	Seeds     int        // syntheses of a profile, and resamples of a trace that go through the engine; 0: 20
	Resamples int        // pairs of resamples of A for the noise floors; 0: 50
	Seed      uint64     // of all that is drawn
	Engine    sim.Config // that both loads are played against; zero: that of sim.Preset(sim.DefaultModel, sim.DefaultGPU)
	NoSim     bool       // leaves the end to end out
}

func (o Options) withDefaults() (Options, error) {
	if o.Seeds < 0 || o.Resamples < 0 {
		return o, fmt.Errorf("%d seeds and %d resamples: neither can be negative", o.Seeds, o.Resamples)
	}
	if o.Seeds == 0 {
		o.Seeds = 20
	}
	if o.Resamples == 0 {
		o.Resamples = 50
	}
	var err error
	if o.Engine == (sim.Config{}) {
		o.Engine, err = sim.Preset(sim.DefaultModel, sim.DefaultGPU)
	}
	return o, err
}

// Compare holds b against a, which is the reference: the noise floors, the spikes
// and the saturation are a's. Where b is a profile, it is synthesized Seeds times
// over the span of a, a figure's value is the median over these, and end to end a
// must lie in their band. Where a is a profile, one synthesis stands for it.
//
// It compares loads, what was asked for and when, and not what came of it. Equal
// sides and options give equal reports.
func Compare(a, b Side, o Options) (*Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &comparison{Options: o, a: a, b: b}
	for _, step := range []func() error{c.open, c.plan, c.saturate, c.measure, c.floor, c.judge} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return c.report(), nil
}

// A comparison is a Compare under way.
type comparison struct {
	Options
	a, b  Side
	ref   *Trace        // a's
	first *Trace        // b's, or its first synthesis
	tick  time.Duration // of the coarser clock of those that stamped a and b

	survey    survey
	left      *summary // of ref
	measures  []measure
	draws     []draw // of b: one of a trace, Seeds of a profile
	block     time.Duration
	floors    []float64 // by measure
	engine    *Engine
	own       [len(loads)]Latencies   // of ref
	resamples [len(loads)][]Latencies // of ref, where b is a trace
	groups    []Group
	notes     []string
}

// A draw is one trace of b.
type draw struct {
	rows          int
	values, diffs []float64 // by measure
	latencies     [len(loads)]Latencies
}

func (c *comparison) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// open makes traces of what are none.
func (c *comparison) open() (err error) {
	for _, s := range []Side{c.a, c.b} {
		if (s.Trace == nil) == (s.Profile == nil) {
			return fmt.Errorf("%s: give a trace or a profile", s.Name)
		}
	}
	if c.ref = c.a.Trace; c.ref == nil {
		if c.ref, err = synthesize(c.a, c.Seed, 0); err != nil {
			return err
		}
	}
	if c.b.Trace != nil {
		c.tick = c.b.Trace.tick
	}
	c.ref = c.ref.stamped(c.tick, c.Seed)
	c.tick = max(c.tick, c.ref.tick)
	if c.first, err = c.sideB(0); err != nil {
		return err
	}
	for _, s := range []struct {
		name string
		t    *Trace
	}{{c.a.Name, c.ref}, {c.b.Name, c.first}} {
		if err := s.t.check(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return c.checkSpans()
}

// maxTimesAsLong bounds how much longer one load may be: cells and blocks, of both, are
// as long as the shorter one wants.
const maxTimesAsLong = 1000

func (c *comparison) checkSpans() error {
	long, short := c.ref.span, c.first.span
	names := []string{c.a.Name, c.b.Name}
	if long < short {
		long, short = short, long
		slices.Reverse(names)
	}
	if long/short > maxTimesAsLong {
		return fmt.Errorf("%s is %v long and %s %v: more than %d times as long", names[0], rounded(long), names[1], short, maxTimesAsLong)
	}
	return nil
}

// sideB returns the i-th trace of b. Those of profiles are made when they are
// needed, and not kept.
func (c *comparison) sideB(i int) (*Trace, error) {
	if c.b.Trace != nil {
		return c.b.Trace.stamped(c.tick, c.Seed), nil
	}
	t, err := synthesize(c.b, c.Seed+1+uint64(i), c.ref.span)
	if err != nil {
		return nil, err
	}
	return t.stamped(c.tick, c.Seed+1+uint64(i)), nil
}

// plan decides what is measured: what both sides have.
func (c *comparison) plan() error {
	span := min(c.ref.span, c.first.span)
	c.block = blockOf(span)
	c.survey = survey{apps: c.sharedApps(), cell: min(time.Minute, max(span/30, 1)), units: unitsOf(c.ref.rows), rate: c.ref.Rate()}
	c.left = c.survey.sum(c.ref)
	right := c.survey.sum(c.first)

	ms := lengthMeasures("", 0, c.left)
	ms = append(ms, jointMeasures("", 0)...)
	ms = append(ms, arrivalMeasures(c.left, right)...)
	ms = append(ms, orderMeasures(min(len(c.ref.apps), len(c.first.apps)))...)
	if len(c.left.turns) >= minRows && len(right.turns) >= minRows {
		ms = append(ms, sessionMeasures()...)
	}
	for i, app := range c.survey.apps {
		ms = append(ms, appMeasures(app, i+1, c.left)...)
	}
	for _, m := range ms {
		if isFinite(m.diff(c.left, right)) {
			c.measures = append(c.measures, m)
		}
	}
	c.explain(right)
	return nil
}

// maxApps are compared one by one, or named: those of which there are most.
const maxApps = 8

// sharedApps are apps of A, where either side has more than one.
func (c *comparison) sharedApps() (names []string) {
	if len(c.ref.apps) < 2 && len(c.first.apps) < 2 {
		return nil
	}
	return c.ref.largestApps()
}

// largestApps are those of minRows at least, most rows first.
func (t *Trace) largestApps() (names []string) {
	counts := make([]int, len(t.apps))
	for _, q := range t.rows {
		counts[q.app]++
	}
	var ids []int
	for id, n := range counts {
		if n >= minRows {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int) int { return cmp.Or(counts[b]-counts[a], strings.Compare(t.apps[a], t.apps[b])) })
	for _, id := range ids[:min(len(ids), maxApps)] {
		names = append(names, t.apps[id])
	}
	return names
}

func appMeasures(app string, scope int, ref *summary) []measure {
	ms := []measure{{group: Marginals, app: app, name: "share", kind: Difference, tolerance: .02,
		value: func(s *summary) float64 { return s.scopes[scope].share }}}
	return append(append(ms, lengthMeasures(app, scope, ref)...), jointMeasures(app, scope)...)
}

// measure takes every figure, and every latency, of every trace of b.
func (c *comparison) measure() error {
	n := 1
	if c.b.Profile != nil {
		n = c.Seeds
	}
	c.draws = make([]draw, n)
	errs := make([]error, n)
	parallel(n, func(i int) {
		t, err := c.sideB(i)
		if err != nil {
			errs[i] = err
			return
		}
		d := &c.draws[i]
		s := c.survey.sum(t)
		d.rows, d.values, d.diffs = len(t.rows), c.values(s), c.apart(c.left, s)
		d.latencies, errs[i] = c.play(t)
	})
	return errors.Join(errs...)
}

func (c *comparison) values(s *summary) []float64 {
	v := make([]float64, len(c.measures))
	for i, m := range c.measures {
		if m.value != nil {
			v[i] = m.value(s)
		}
	}
	return v
}

func (c *comparison) apart(a, b *summary) []float64 {
	d := make([]float64, len(c.measures))
	for i := range c.measures {
		d[i] = c.measures[i].diff(a, b)
	}
	return d
}
