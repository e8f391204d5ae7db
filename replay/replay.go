// Package replay plays a trace against a target, each request at its own
// instant, and writes what came back as a run: the same rows with their outcomes.
package replay

import (
	"context"
	"errors"

	"wavetank/traces"
)

// A Target is what a trace is played against. There are two phases because at
// its deadline nothing should be left to do for a request but to leave.
//
// Prepare makes a request ready ahead of its time: rendered, and whatever else
// need not wait. It must not fail; what cannot be sent is a Call whose outcome is
// Dropped. req stays as it is until the Call's Wait has returned. When ctx ends,
// a Call that is in flight hangs up, with a Cancelled outcome of error class
// "interrupted", and one that was not sent holds nothing any more.
type Target interface {
	Prepare(ctx context.Context, req *traces.Request) Call
}

// A Call is one prepared request. Send is called once, at the deadline, by a
// goroutine that all requests share: it starts the request and returns at once.
// Wait is called after Send, blocks until the outcome, and returns it with exactly
// one Status and its times counted from Send. Due and Sent are not the Call's to
// set: a target that queues must not hide its own queue.
//
// Call is an alias so that a Target may name this type without importing replay.
type Call = interface {
	Send()
	Wait() traces.Outcome
}

// A Result counts the rows of a run. What they say is for a report.
type Result struct {
	Read       int64 // rows taken from the trace: Offered + NotOffered
	Offered    int64 // rows whose turn came: sent, skipped or dropped
	Written    int64 // rows of the run; Offered unless writing failed
	NotOffered int64 // rows whose turn did not come before the run was stopped
	Partial    bool  // the run was stopped before its end
}

// Run plays src against t and writes every row that was offered to dst, in the
// order of completion and from one goroutine. A row keeps its request as it was
// read; its Outcome is the Target's, with Due and Sent: both since the run's
// start, Sent stamped just before Send.
//
// The run starts when the requests of the first Options.Ahead are prepared. A row
// that asks for nothing that could be sent is written as Skipped, with the reason
// as its error class: gateway_cache, no_output_wanted (a recorded failure, not a
// request for one token), output_unknown, no_prompt, prompt_unknown. Rows whose
// body was kept need no token counts.
//
// When Options.Drain is closed no more requests are offered and those in flight
// have Options.Grace to end; when ctx ends they are hung up at once. Either makes
// the Result Partial and is no error. What the target does is an outcome; errors
// are of src, of dst and of the options alone. Rows of src must be in the order
// of their arrival. Memory is bounded by the requests in flight and by 64 MiB of
// prepared ones, however long the trace.
func Run(ctx context.Context, t Target, src traces.Reader, dst traces.Writer, o Options) (Result, error) {
	if err := o.check(); err != nil {
		return Result{}, err
	}
	r := newRun(ctx, t, o)
	defer r.hangUp()
	go r.pacer.Run(r.ctx)
	go r.watch()

	written := make(chan error)
	go func() { written <- r.write(dst) }()
	readErr := r.feed(src)
	if readErr != nil {
		r.stop()
	}
	r.endOfFeed()
	r.settle()
	close(r.ended)
	writeErr := <-written
	if readErr == nil {
		readErr = r.countRest(src)
	}
	r.result.NotOffered = r.result.Read - r.result.Offered
	return r.result, errors.Join(writeErr, readErr)
}
