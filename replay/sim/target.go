package sim

import (
	"context"
	"errors"
	"time"

	"wavetank/traces"
)

// A Target is an engine in this process and in real time, or in a bubble of
// testing/synctest: a replay's target without a network. It knows of prompts
// what their token counts and Blocks say.
type Target struct {
	live        *live
	blockTokens int64
}

// NewTarget starts an engine. blockTokens is what the trace's Meta.BlockTokens
// says; 0 means that Blocks are of no use. Close ends it.
func NewTarget(c Config, blockTokens int32) (*Target, error) {
	l, err := newLive(c)
	if err != nil {
		return nil, err
	}
	return &Target{l, int64(blockTokens)}, nil
}

// Close ends the engine; calls that still wait end with Error "closed".
func (t *Target) Close() { t.live.close() }

// Counters returns the engine's account so far.
func (t *Target) Counters() Counters { return t.live.counters() }

// Prepare makes the call of req. When ctx ends, the client hangs up.
func (t *Target) Prepare(ctx context.Context, req *traces.Request) interface {
	Send()
	Wait() traces.Outcome
} {
	c := &localCall{target: t, ctx: ctx, skip: unplayable(req, &traces.Outcome{})}
	c.Prompt, c.Output = req.PromptTokens.V, req.OutputTokens.V
	if t.blockTokens > 0 {
		c.Keys = traceKeys(nil, req.Blocks, t.blockTokens, int64(c.Prompt), int64(t.live.engine.cfg.BlockTokens))
	}
	return c
}

// A localCall is one request to a Target.
type localCall struct {
	call
	target *Target
	ctx    context.Context
	skip   string // why it is not sent
	sent   time.Time
	err    error
}

// Send hands the request to the engine.
func (c *localCall) Send() {
	c.sent = time.Now()
	if c.skip == "" {
		c.err = c.target.live.submit(&c.call)
	}
}

// Wait returns the outcome when the answer has ended. Its times are the client's
// own, except for Queue, Prefill and Decode, which are on the engine's clock.
func (c *localCall) Wait() (o traces.Outcome) {
	if c.skip != "" {
		o.Status, o.Error = traces.Skipped, traces.Some(c.skip)
		return o
	}
	if c.err != nil {
		return failed(c.err)
	}
	defer c.target.live.abort(&c.call)
	return c.follow()
}

func failed(err error) (o traces.Outcome) {
	switch {
	case errors.Is(err, errClosed):
		o.Status, o.Error = traces.Error, traces.Some("closed")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		o.Status = traces.Cancelled
	default:
		refuse(&o)
	}
	return o
}

func (c *localCall) follow() (o traces.Outcome) {
	var first, last, gap time.Duration
	for n := int32(0); n < c.Output; {
		got, err := c.target.live.wait(c.ctx, &c.call, n+1)
		now := time.Since(c.sent)
		if err != nil {
			o = failed(err)
			o.End = traces.Some(now)
			return o
		}
		if n == 0 {
			first = now
		} else {
			gap = max(gap, now-last)
		}
		n, last = got, now
	}
	c.report(&o)
	o.FirstToken, o.FirstOutput = traces.Some(first), traces.Some(first)
	o.LastToken, o.End = traces.Some(last), traces.Some(last)
	if o.MaxGap.Known {
		o.MaxGap.V = gap
	}
	return o
}
