package formats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"wavetank/traces"
)

// usage reads the counts of a record. All that the model attends to is what came
// fresh, what was written to the cache and what was read from it.
func (m *claudeMessage) usage() (rec traces.Record, err error) {
	var fresh, written, read traces.Opt[int32]
	for _, c := range []struct {
		field string
		n     json.RawMessage
		to    *traces.Opt[int32]
	}{
		{"input_tokens", m.Usage.Fresh, &fresh},
		{"cache_creation_input_tokens", m.Usage.Written, &written},
		{"cache_read_input_tokens", m.Usage.Read, &read},
		{"output_tokens", m.Usage.Output, &rec.OutputTokens},
	} {
		if err := setCount(c.to, "message.usage."+c.field, c.n); err != nil {
			return rec, err
		}
	}
	if !fresh.Known {
		return rec, nil
	}
	total := fresh.V + written.V + read.V // each at most 100 million
	if total > maxTokens {
		return rec, inField("message.usage", rejectf(TooLarge, "%d is over the limit of %d tokens", total, maxTokens))
	}
	rec.PromptTokens, rec.Outcome.CachedTokens = traces.Some(total), read
	return rec, nil
}

// add takes what a record says of the answer: of its counts the largest, since
// the records that are written while the answer comes have those of its start.
func (c *claudeCall) add(m *claudeMessage, seen *traces.Record) {
	rec := &c.rec
	rec.Model = textOf(m.Model)
	if seen.PromptTokens.Known && seen.PromptTokens.V >= rec.PromptTokens.V {
		rec.PromptTokens, rec.Outcome.CachedTokens = seen.PromptTokens, seen.Outcome.CachedTokens
	}
	if seen.OutputTokens.Known && seen.OutputTokens.V >= rec.OutputTokens.V {
		rec.OutputTokens = seen.OutputTokens
	}
	setFinish(rec, cmp.Or(finishWords[m.Stop], m.Stop))
}

// failure takes an error of the API: one after which the request is tried again, or
// the one with which it was given up.
func (l *claudeLog) failure(row *claudeRow) error {
	stamp, err := l.in.stamp("timestamp", row.Time)
	if err != nil {
		return err
	}
	var attempt traces.Opt[int32]
	if err := setCount(&attempt, "retryAttempt", row.Attempt); err != nil {
		return err
	}
	call := l.call(row, stamp)
	call.rec.Outcome.Attempt = attempt
	row.fail(&call.rec.Outcome)
	if row.Subtype != "api_error" {
		l.link(row.UUID, call.step)
		return nil
	}
	// The next try is of the same input, and leaves after the pause.
	again := l.in.elapsed("retryInMs", row.RetryIn, time.Millisecond)
	call.from.retry, call.from.input = call, stamp+int64(again.V)
	l.link(row.UUID, call.from)
	return nil
}

// fail tells how a request failed.
func (r *claudeRow) fail(o *traces.Outcome) {
	var e struct {
		Status int `json:"status"`
		Cause  struct {
			Code string `json:"code"`
		} `json:"cause"`
	}
	code, err := parseCount(unquote(r.Status))
	switch {
	case json.Unmarshal(r.Error, &e) == nil: // of the last failure it is a word
		setHTTPFailure(o, e.Status)
	case err == nil:
		setHTTPFailure(o, int(code))
	default:
		setHTTPFailure(o, r.textStatus())
	}
	if e.Cause.Code != "" {
		o.Error = traces.Some("connect")
	}
}

// textStatus finds the status in the text that older versions put in place of an
// answer: API Error: 529 {...}.
func (r *claudeRow) textStatus() (code int) {
	var m struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(r.Message, &m) == nil && len(m.Content) > 0 {
		if _, err := fmt.Sscanf(m.Content[0].Text, "API Error: %d", &code); err != nil {
			return 0
		}
	}
	return code
}

// finish emits the calls in the order in which they were first seen.
func (l *claudeLog) finish(out *outlet) error {
	base := out.seq()
	turns := make(turns)
	for i, c := range l.calls {
		c.index = base + uint64(i)
		c.step.chain.last = c
	}
	for _, c := range l.calls {
		if err := l.complete(c, turns); err != nil {
			return err
		}
		out.emit(c.rec)
	}
	return nil
}

func (l *claudeLog) complete(c *claudeCall, turns turns) error {
	rec := &c.rec
	rec.SourceRow = traces.Some(c.row)
	rec.App = traces.Some("coding-agent")
	rec.Endpoint = traces.Some("messages")
	usageSeen(rec)
	start := int64(rec.Arrival)
	if start == c.first {
		l.in.warn("no input was written before the answer: the arrival is that of its first part")
	} else {
		rec.Outcome.End = since(start, c.end)
	}
	if rec.Outcome.Status == "" {
		l.in.warn("no record of the answer tells how it ended: its status is unknown, and its output_tokens may be those of its start")
	}
	c.wait(start)
	if r := c.retryOf; r != nil {
		rec.Outcome.RetryOf, rec.Turn = traces.Some(r.index), r.rec.Turn
		if r.rec.Outcome.Attempt.Known && !rec.Outcome.Attempt.Known {
			rec.Outcome.Attempt = traces.Some(r.rec.Outcome.Attempt.V + 1)
		}
		return nil
	}
	if rec.Session.Known {
		return turns.set(rec, []byte(rec.Session.V))
	}
	return nil
}

// wait sets what the request waited for: the call before it and the subagents that
// that one spawned and that had ended; for a subagent's first, whoever spawned it;
// for another try, the one that failed.
func (c *claudeCall) wait(start int64) {
	before := cmp.Or(c.retryOf, c.from.call, c.from.chain.spawner)
	if before == nil {
		return
	}
	c.rec.After = []uint64{before.index}
	end := before.end
	if before == c.from.call {
		for _, chain := range before.spawned {
			if last := chain.last; last != nil && last.end <= start {
				c.rec.After = append(c.rec.After, last.index)
				end = max(end, last.end)
			}
		}
		before.spawned = nil // they are waited for once, whatever else is tried from there
	}
	c.rec.Think = since(end, start)
}
