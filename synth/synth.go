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
	For   time.Duration // length of the trace; 0: unlimited where Count is set, else the longest window
	Count int64         // requests at most; 0: no limit
	Rate  float64       // requests a second of all parts together, the mean over the trace; 0: the profiles' own
	Seed  uint64
}

func (o Options) check() error {
	switch {
	case o.For < 0:
		return fmt.Errorf("a trace cannot last %v", o.For)
	case o.Count < 0:
		return fmt.Errorf("a trace cannot have %d requests", o.Count)
	case o.Rate < 0 || math.IsNaN(o.Rate) || math.IsInf(o.Rate, 0):
		return fmt.Errorf("%g requests a second is no rate", o.Rate)
	}
	return nil
}

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
	return o
}

// span is about how long the trace will be.
func (o Options) span(parts []Part) time.Duration {
	rate := o.Rate
	for _, p := range parts {
		if o.Rate == 0 {
			rate += ownRate(p.Profile)
		}
	}
	return time.Duration(min(float64(o.For), max(1, float64(o.Count)/rate*float64(time.Second))))
}

// A Generator is a traces.Reader of synthetic requests in the order of arrival. It
// holds one source an app and no request, however long the trace. Equal parts and
// options give equal requests.
//
// A synthetic request is one that is asked for: the failures that a profile counts
// are not made again, for whether a request fails is up to the server.
type Generator struct {
	sources queue
	seq     uint64
	end     time.Duration
	left    int64 // requests still allowed
	notes   []string
}

// New makes a Generator of parts. Each app draws from random streams of its own, so
// that adding a part or an app, or changing one, leaves the others' requests as they were.
func New(parts []Part, o Options) (*Generator, error) {
	if err := errors.Join(o.check(), checkParts(parts)); err != nil {
		return nil, err
	}
	o = o.resolve(parts)
	g := &Generator{end: o.For, left: o.Count}
	span := o.span(parts)
	scales, err := scales(parts, o, span)
	if err != nil {
		return nil, err
	}
	for i, scale := range scales {
		p := parts[i]
		g.notes = append(g.notes, notes(p, span, o.Rate)...)
		for _, name := range sorted(p.Profile.Apps) {
			g.sources = append(g.sources, newSource(p, name, len(parts) > 1, scale, o.Seed))
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
	if g.left == 0 || next.at >= g.end {
		return io.EOF
	}
	next.request(rec)
	rec.Seq = g.seq
	g.seq++
	g.left--
	next.advance()
	heap.Fix(&g.sources, 0)
	return nil
}

// queue is a heap of sources by their next arrival; at equal times the first named goes first.
type queue []*source

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].rank < q[j].rank
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*source)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
