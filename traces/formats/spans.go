package formats

import (
	"strings"

	"wavetank/traces"
)

// spanFormats are the formats whose rows are spans of OpenTelemetry.
var spanFormats = []Format{otlp, inferencePerf}

// An otelSpan is one span of any encoding.
type otelSpan struct {
	trace, id, parent string // id may be empty, and so is a root's parent
	name              string
	server            bool  // it was written by whoever was asked, not by whoever asks
	failed            bool  // its status is an error
	start, end        int64 // in nanoseconds since 1970; end is 0 where it is unknown
	attrs             attributes
	resource          attributes // what wrote it
	events            []spanEvent
}

// A spanEvent is an instant within a span.
type spanEvent struct {
	name  string
	at    int64 // in nanoseconds since 1970
	attrs attributes
}

// spanReader turns spans into requests. Every span is a row: a request, a part of
// one, or something else.
type spanReader struct {
	in    *input
	genAI *genAI
	tree  *spanTree
	rows  uint64
}

func newSpanReader(in *input) *spanReader {
	in.absolute = true
	in.source.Stamps = "start"
	return &spanReader{in: in, genAI: newGenAI(in), tree: newSpanTree()}
}

// take counts a span and holds it back until its trace is whole. text stands for
// it if it is rejected.
func (r *spanReader) take(text []byte, sp *otelSpan, err error, out *outlet) error {
	r.rows++
	if err == nil {
		err = checkSpan(sp)
	}
	if err != nil {
		return out.reject(text, err)
	}
	n := &spanNode{id: sp.id, parent: sp.parent, start: sp.start, end: sp.end}
	if err := r.genAI.identify(n, sp); err != nil {
		return out.reject(text, err)
	}
	what := r.genAI.whatIs(sp)
	if !what.request {
		out.skip(1)
		return r.tree.add(sp.trace, n, out)
	}
	rec, err := r.genAI.record(sp, what)
	if err != nil {
		return out.reject(text, err)
	}
	rec.SourceRow = traces.Some(r.rows)
	n.rec, n.server = &rec, isServer(sp)
	n.said, n.heard = conversation(sp.attrs)
	return r.tree.add(sp.trace, n, out)
}

func (r *spanReader) finish(out *outlet) error {
	err := r.tree.finish(out)
	r.in.meta.Vantage = r.tree.vantage()
	return err
}

func checkSpan(sp *otelSpan) error {
	if sp.trace == "" {
		return inField("traceId", rejectf(MissingField, "span %q is of no trace", clip(sp.id)))
	}
	if !sinceEpoch(sp.start) {
		return rejectf(BadTime, "span %q starts at %d ns since 1970, which is no wall clock of this century", clip(sp.id), sp.start)
	}
	if sp.end != 0 && sp.end < sp.start {
		return rejectf(BadTime, "span %q ends before it starts", clip(sp.id))
	}
	return nil
}

// attributes are those attributes of a span that mean something here. A value is
// a string, a json.Number, a bool, or a list of such.
type attributes map[string]any

// text returns the first of the named attributes that is known, as text, and its
// name. Of a list it is the first element.
func (a attributes) text(names ...string) (text, name string) {
	for _, name := range names {
		if t := attrText(a[name]); !isUnknown([]byte(strings.TrimSpace(t))) {
			return t, name
		}
	}
	return "", ""
}
