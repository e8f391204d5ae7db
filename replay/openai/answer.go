package openai

import (
	"errors"
	"io"
	"time"

	"wavetank/traces"
)

// How an answer ends before its stream does.
var (
	errDone      = errors.New("the answer ended with [DONE]")
	errStream    = errors.New("the server put an error into the answer")
	errMalformed = errors.New("an event is not what the API sends")
)

// maxWhole bounds an answer that is not streamed.
const maxWhole = 64 << 20

// An answer is what has come so far of one, and when.
type answer struct {
	sent      time.Time
	hangUpAt  traces.Opt[int32] // after so many tokens the client hangs up
	keepGaps  bool
	out       traces.Outcome
	sse       events
	now       time.Time // when the bytes at hand arrived
	last      time.Time // of the last token-bearing event
	events    int32     // token-bearing
	usages    int32     // events with usage
	countedAt int32     // events at the time of the last usage
	finished  bool      // a finish reason came, and no token after it
	tokens    bool      // some token came
	streamed  bool
}

func (c *call) newAnswer() *answer {
	return &answer{sent: c.sent, hangUpAt: c.req.CancelTokens, keepGaps: c.t.o.KeepGaps, out: c.out}
}

// readStream takes a streamed answer. It returns how the stream ended: errDone,
// io.EOF without it, errHungUp, or what went wrong.
func (a *answer) readStream(body io.Reader) error {
	a.streamed = true
	if a.hangUpAt.Known && a.hangUpAt.V <= 0 {
		a.now = time.Now()
		return errHungUp
	}
	buf := make([]byte, 4<<10)
	for {
		n, err := body.Read(buf)
		a.now = time.Now()
		if err := a.sse.feed(buf[:n], a.event); err != nil {
			return err
		}
		if err == io.EOF {
			if err := a.sse.end(a.event); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// event takes the data of one event.
func (a *answer) event(data []byte) error {
	if string(data) == "[DONE]" {
		return errDone
	}
	if len(data) == 0 {
		return nil
	}
	ch, err := parse(data)
	if err != nil {
		return err
	}
	if ch.output || ch.reasoning {
		a.token(ch.output)
	}
	a.finish(ch)
	a.usage(ch)
	if !a.finished && a.hangUpAt.Known && a.events >= a.hangUpAt.V {
		return errHungUp
	}
	return nil
}

// token notes a token-bearing event.
func (a *answer) token(output bool) {
	at := traces.Some(a.now.Sub(a.sent))
	if a.events == 0 {
		a.out.FirstToken = at
	} else {
		gap := a.now.Sub(a.last)
		a.out.MaxGap = traces.Some(max(gap, a.out.MaxGap.V))
		if a.keepGaps {
			a.out.Gaps = append(a.out.Gaps, gap)
		}
	}
	if output && !a.out.FirstOutput.Known {
		a.out.FirstOutput = at
	}
	a.out.LastToken = at
	a.last = a.now
	a.events++
	a.tokens, a.finished = true, false
}

func (a *answer) finish(ch chunk) {
	if ch.finish != "" {
		a.finished = true
		a.out.FinishReason = traces.Some(ch.finish)
	}
}

// usage notes what the server says that it counted. A count that came before the
// last token is of another moment and is not kept for output.
func (a *answer) usage(ch chunk) {
	if !ch.hasUsage {
		return
	}
	a.usages++
	a.countedAt = a.events
	a.out.PromptTokensSeen = ch.prompt
	a.out.CachedTokens = ch.cached
	a.out.OutputTokensSeen = ch.completion
}

// readWhole takes an answer that is not streamed. When its tokens came is not
// known.
func (a *answer) readWhole(body io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(body, maxWhole))
	a.now = time.Now()
	if err != nil {
		return err
	}
	ch, err := parse(data)
	if err != nil {
		return err
	}
	a.tokens = ch.output || ch.reasoning
	a.finish(ch)
	a.usage(ch)
	return io.EOF
}

// count says how many tokens were generated and how that is known.
func (a *answer) count() {
	if a.streamed {
		a.out.Events = traces.Some(a.events)
	}
	switch current := a.countedAt == a.events; {
	case current && a.out.OutputTokensSeen.Known && a.usages > 1 && a.usages >= a.events:
		a.out.TokenBasis = traces.Some(traces.BasisUsageStream)
	case current && a.out.OutputTokensSeen.Known:
		a.out.TokenBasis = traces.Some(traces.BasisUsage)
	case a.streamed:
		a.out.OutputTokensSeen = a.out.Events
		a.out.TokenBasis = traces.Some(traces.BasisEvents)
	}
}

// outcome says how an answer ended, given why we broke it off, if we did, and what
// reading it returned.
func (a *answer) outcome(cause, err error) traces.Outcome {
	a.count()
	a.out.End = traces.Some(a.now.Sub(a.sent))
	a.out.Status, a.out.Error = a.status(cause, err)
	return a.out
}

func (a *answer) status(cause, err error) (traces.Status, traces.Opt[string]) {
	var none traces.Opt[string]
	switch {
	case err == errStream:
		return traces.Error, traces.Some("stream_error")
	case err == errMalformed, err == errEventTooLong:
		return traces.Error, traces.Some("malformed")
	case (a.finished || err == errDone) && a.tokens:
		return traces.OK, none
	case a.finished || err == errDone:
		return traces.Empty, none
	case err == errHungUp:
		return traces.Cancelled, none
	case cause != nil:
		return broken(cause, a.events > 0)
	case err == io.EOF:
		return traces.Truncated, none
	}
	return traces.Truncated, traces.Some("reset")
}
