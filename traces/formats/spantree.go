package formats

import (
	"cmp"
	"container/list"
	"iter"
	"slices"
	"time"

	"wavetank/traces"
)

// heldSpans is how many spans are held back at most, in the traces that had one
// last. A request takes about 1.5 KB and any other span a tenth of that.
const heldSpans = 65_536

// A spanTree holds spans back until their traces are whole, since what a span is
// shows in those around it: a request that was seen by an application, a gateway
// and an engine is three spans of one trace, and one request. Of a trace that is
// quiet while heldSpans others come, what comes later is a trace of its own.
type spanTree struct {
	traces map[string]*spanTrace
	quiet  *list.List // of *spanTrace, the one that had no span for longest first
	held   int
	limit  int
	turns  turns

	servers, clients int64 // requests emitted, by who saw them
}

type spanTrace struct {
	id    string
	nodes []*spanNode
	byID  map[string]*spanNode
	at    *list.Element
}

// A spanNode is a span in its trace.
type spanNode struct {
	id, parent    string
	start, end    int64
	session, user traces.Opt[string]
	rec           *traces.Record // nil: no request
	server        bool           // the request was seen by whoever was asked

	said  uint64      // a hash of the answer; 0: unknown
	heard []uint64    // hashes of the answers that its prompt holds
	after []*spanNode // requests that must have ended before
	seq   uint64

	wraps  bool // the request is that of a span inside
	inside int  // innermost requests inside, of one that wraps
}

func newSpanTree() *spanTree {
	return &spanTree{traces: make(map[string]*spanTrace), quiet: list.New(), limit: heldSpans, turns: make(turns)}
}

// add holds a span back. One that comes twice, as from an exporter that tried
// again, counts once.
func (t *spanTree) add(trace string, n *spanNode, out *outlet) error {
	tr := t.trace(trace)
	if n.id != "" {
		if tr.byID[n.id] != nil {
			if n.rec != nil {
				out.merge(1)
			}
			return nil
		}
		tr.byID[n.id] = n
	}
	tr.nodes = append(tr.nodes, n)
	t.held++
	for t.held > t.limit {
		if err := t.emit(t.resolve(t.quietest(), out), out); err != nil {
			return err
		}
	}
	return nil
}

// trace returns the trace of an id, which is not quiet now.
func (t *spanTree) trace(id string) *spanTrace {
	tr := t.traces[id]
	if tr == nil {
		tr = &spanTrace{id: id, byID: make(map[string]*spanNode)}
		tr.at = t.quiet.PushBack(tr)
		t.traces[id] = tr
	}
	t.quiet.MoveToBack(tr.at)
	return tr
}

func (t *spanTree) quietest() *spanTrace { return t.quiet.Front().Value.(*spanTrace) }

func (t *spanTree) finish(out *outlet) error {
	var all []*spanNode
	for t.quiet.Len() > 0 {
		all = append(all, t.resolve(t.quietest(), out)...)
	}
	return t.emit(all, out)
}

// resolve takes a trace out of the tree and returns its requests in the order of
// their starts.
func (t *spanTree) resolve(tr *spanTrace, out *outlet) []*spanNode {
	delete(t.traces, tr.id)
	t.quiet.Remove(tr.at)
	t.held -= len(tr.nodes)
	requests := tr.requests(out)
	for _, n := range requests {
		tr.lookUp(n)
	}
	slices.SortStableFunc(requests, byStart)
	if len(requests) > 1 {
		for _, n := range requests {
			n.session = traces.Some(n.session.Or(tr.id))
		}
	}
	follow(requests)
	return requests
}

func byStart(a, b *spanNode) int { return cmp.Compare(a.start, b.start) }

// requests returns the innermost requests: they are nearest to the engine, and
// what a replay sends. Those around them are parts of them.
func (tr *spanTrace) requests(out *outlet) (innermost []*spanNode) {
	for _, n := range tr.nodes {
		for up := range tr.above(n) {
			up.wraps = up.wraps || up.hasInside(n)
		}
	}
	for _, n := range tr.nodes {
		switch {
		case n.wraps:
			out.merge(1)
		case n.rec != nil:
			innermost = append(innermost, n)
			for up := range tr.above(n) {
				if up.hasInside(n) {
					up.inside++
				}
			}
		}
	}
	return innermost
}

// above yields the spans around a span, the nearest first.
func (tr *spanTrace) above(n *spanNode) iter.Seq[*spanNode] {
	return func(yield func(*spanNode) bool) {
		const deep = 256 // ends those that go round in a circle, too
		up := n
		for range deep {
			// byID holds no empty id, so that a root has nothing above it.
			if up = tr.byID[up.parent]; up == nil || up == n || !yield(up) {
				return
			}
		}
	}
}

// hasInside tells whether two requests, of which one is above the other, may be
// one. A chat around an embedding is two, and so is what had ended before.
func (n *spanNode) hasInside(inner *spanNode) bool {
	if n.rec == nil || inner.rec == nil || n.ended(inner.start) {
		return false
	}
	a, b := n.rec.Endpoint, inner.rec.Endpoint
	return !a.Known || !b.Known || a == b
}

// ended tells whether a span is known to have ended by a time.
func (n *spanNode) ended(by int64) bool { return n.end != 0 && n.end <= by }

// lookUp learns from the spans above a request: who asked, and for what. One that
// had ended before was waited for.
func (tr *spanTrace) lookUp(n *spanNode) {
	for up := range tr.above(n) {
		n.session, n.user = orElse(n.session, up.session), orElse(n.user, up.user)
		switch {
		case n.hasPart(up):
			lend(n.rec, up.rec, up.inside == 1)
		case up.rec != nil && up.ended(n.start) && len(n.after) == 0:
			n.after = append(n.after, up)
		}
	}
}

// hasPart tells whether a request above n is a part of n.
func (n *spanNode) hasPart(up *spanNode) bool { return up.wraps && up.hasInside(n) }

// lend fills in what an outer span knows of the request and the inner one does
// not. Times are not lent, since they were taken elsewhere; counts only by a span
// that has no other request inside.
func lend(to, from *traces.Record, alone bool) {
	to.App = orElse(to.App, from.App)
	to.Model = orElse(to.Model, from.Model)
	to.Endpoint = orElse(to.Endpoint, from.Endpoint)
	to.Stream = orElse(to.Stream, from.Stream)
	to.MaxTokens = orElse(to.MaxTokens, from.MaxTokens)
	to.Params = orElse(to.Params, from.Params)
	o, f := &to.Outcome, &from.Outcome
	if !alone {
		return
	}
	o.FinishReason = orElse(o.FinishReason, f.FinishReason)
	if to.PromptTokens.Known || to.OutputTokens.Known {
		return
	}
	to.PromptTokens, to.OutputTokens, to.ReasoningTokens = from.PromptTokens, from.OutputTokens, from.ReasoningTokens
	o.PromptTokensSeen, o.OutputTokensSeen = f.PromptTokensSeen, f.OutputTokensSeen
	o.CachedTokens, o.TokenBasis = f.CachedTokens, f.TokenBasis
}

func orElse[T any](a, b traces.Opt[T]) traces.Opt[T] {
	if a.Known {
		return a
	}
	return b
}

// emit writes requests in the order of their starts.
func (t *spanTree) emit(requests []*spanNode, out *outlet) error {
	slices.SortStableFunc(requests, byStart)
	for i, n := range requests {
		n.seq = out.seq() + uint64(i)
	}
	out.s.queue = slices.Grow(out.s.queue, len(requests))
	for _, n := range requests {
		if n.rec.User = n.user; n.session.Known {
			if err := t.turns.set(n.rec, []byte(n.session.V)); err != nil {
				return err
			}
		}
		if n.server {
			t.servers++
		} else {
			t.clients++
		}
		n.wait()
		out.emit(*n.rec)
	}
	return nil
}

// vantage tells where the times were taken, if it was the same for all requests.
func (t *spanTree) vantage() string {
	switch {
	case t.clients == 0 && t.servers > 0:
		return "server"
	case t.servers == 0 && t.clients > 0:
		return "client"
	}
	return ""
}

// wait sets what the request waited for, and how long it took to leave after that.
func (n *spanNode) wait() {
	if len(n.after) == 0 {
		return
	}
	var ended int64
	for _, before := range n.after {
		n.rec.After = append(n.rec.After, before.seq)
		ended = max(ended, before.end)
	}
	slices.Sort(n.rec.After)
	n.rec.Think = traces.Some(time.Duration(n.start - ended))
}
