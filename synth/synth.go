// Package synth turns profiles into traces: requests that come and are as long as
// the profiles say, of one profile or of a mix.
package synth

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"wavetank/fit"
	"wavetank/traces"
)

// A Part is a profile and its share of a mix.
type Part struct {
	Name    string // distinct in a mix; it is also the app of a profile with one app
	Profile *fit.Profile
	Share   float64 // of the requests, relative to the other parts'; 0 in all parts: each at its own rate
}

// Options say how much to make. The zero value makes as long a trace as the longest
// window that a part was fitted on, at the profiles' own rates, with seed 0.
type Options struct {
	For    time.Duration // length of the trace; 0: unlimited where Count is set, else the longest window
	Count  int64         // requests at most; 0: no limit
	Rate   float64       // requests a second of all parts together, the mean over the trace, by more users or fewer; 0: the profiles' own
	Users  float64       // times as many as were recorded: independent ones, each as bursty as before; 0: 1
	Faster float64       // times as fast as recorded: the same users, whose pauses shrink; 0: 1
	Mode   Mode          // empty: Reproduce
	Select int           // spans of a compact model that are drawn, to keep the one nearest to what was recorded; 0: as the profile says
	Seed   uint64
}

// Mode says how a trace goes on in time.
type Mode string

// The modes.
const (
	Reproduce Mode = "reproduce" // what was recorded in an order comes in that order
	Extend    Mode = "extend"    // beyond the recorded window, in any order of what was recorded
)

const (
	minFactor = 1e-4 // of ten thousand requests that are drawn one is kept
	maxFactor = 1e6
	maxSelect = 1024
)

func (o Options) check() error {
	switch {
	case o.For < 0:
		return fmt.Errorf("a trace cannot last %v", o.For)
	case o.Count < 0:
		return fmt.Errorf("a trace cannot have %d requests", o.Count)
	case o.Rate < 0 || math.IsNaN(o.Rate) || math.IsInf(o.Rate, 0):
		return fmt.Errorf("%g requests a second is no rate", o.Rate)
	case !isFactor(o.Users) || !isFactor(o.Faster):
		return fmt.Errorf("%g times the users and %g times as fast: each may be %g to %g", o.Users, o.Faster, minFactor, maxFactor)
	case o.Users > 0 && o.Rate > 0:
		return errors.New("a rate and a number of users are both asked for: each decides the other")
	case o.Mode != "" && o.Mode != Reproduce && o.Mode != Extend:
		return fmt.Errorf("there is no mode %q; it is reproduce or extend", o.Mode)
	case o.Select < 0 || o.Select > maxSelect:
		return fmt.Errorf("the best of %d spans is asked for; it may be of 1 to %d", o.Select, maxSelect)
	}
	return nil
}

// isFactor accepts 0, for which 1 stands.
func isFactor(f float64) bool { return f == 0 || f >= minFactor && f <= maxFactor }

// resolve replaces the zero values by what they stand for.
func (o Options) resolve(parts []Part) Options {
	if o.For == 0 && o.Count == 0 {
		o.For = longest(parts)
	}
	if o.For == 0 {
		o.For = math.MaxInt64
	}
	if o.Count == 0 {
		o.Count = math.MaxInt64
	}
	if o.Users == 0 {
		o.Users = 1
	}
	if o.Faster == 0 {
		o.Faster = 1
	}
	return o
}

// span is about how long the trace will be, on the clock of what was recorded.
func (o Options) span(parts []Part) time.Duration {
	rate := o.Rate / o.Faster
	for _, p := range parts {
		if o.Rate == 0 {
			rate += o.Users * ownRate(p.Profile)
		}
	}
	return time.Duration(min(float64(o.For)*o.Faster, max(1, float64(o.Count)/rate*float64(time.Second)), math.MaxInt64))
}

// A Generator is a traces.Reader of synthetic requests in the order of arrival. It
// holds its sources and, of an app with a compact model of arrivals, one window of
// those, however long the trace. Equal parts and options give equal requests.
//
// A synthetic request is one that is asked for: the failures that a profile counts
// are not made again, for whether a request fails is up to the server.
type Generator struct {
	sources queue
	seq     uint64
	end     time.Duration
	left    int64 // requests still allowed
	faster  float64
	notes   []string
}

// New makes a Generator of parts. Each app draws from random streams of its own, so
// that adding a part or an app, or changing one, leaves the others' requests as they were.
func New(parts []Part, o Options) (*Generator, error) {
	if err := errors.Join(o.check(), checkParts(parts)); err != nil {
		return nil, err
	}
	o = o.resolve(parts)
	g := &Generator{end: o.For, left: o.Count, faster: o.Faster}
	span := o.span(parts)
	scales, err := scales(parts, o, span)
	if err != nil {
		return nil, err
	}
	for i, scale := range scales {
		p := parts[i]
		g.notes = append(g.notes, notes(p, span, o, scale)...)
		for _, name := range sorted(p.Profile.Apps) {
			g.sources = append(g.sources, newSources(p, name, len(parts) > 1, scale, o)...)
		}
	}
	heap.Init(&g.sources)
	return g, nil
}

// Notes say what a reader of the trace's figures must know, such as that a recorded
// curve was repeated.
func (g *Generator) Notes() []string { return g.notes }

// Read makes the next request. It returns io.EOF when the trace is long enough.
func (g *Generator) Read(rec *traces.Record) error {
	next := g.sources[0]
	at := next.at
	if g.faster != 1 {
		at = time.Duration(min(float64(at)/g.faster, math.MaxInt64))
	}
	if g.left == 0 || at >= g.end {
		return io.EOF
	}
	next.request(rec)
	rec.Arrival = at
	rec.Seq = g.seq
	g.seq++
	g.left--
	next.advance()
	heap.Fix(&g.sources, 0)
	return nil
}

// queue is a heap of sources by their next arrival; at equal times the first named goes first.
type queue []*source

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].rank < q[j].rank
}

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(*source)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
