package formats

import (
	"encoding/json"
	"errors"
	"time"

	"wavetank/traces"
)

// count takes the usage of an answer. Rows that report limits and not an answer
// repeat it, or have an estimate after a compaction: the running total tells.
func (l *codexLog) count(info *codexInfo, stamp int64, out *outlet) error {
	repeated := info.Total == l.total
	switch {
	case repeated && l.merges:
		out.merge(1)
		return nil
	case l.copied && !repeated:
		l.in.warn("usage that was copied from the parent's session, and left out")
		l.ready(stamp)
		fallthrough
	case repeated, info.Last.isZero(): // all zero: the context was too long to send
		l.total, l.merges = info.Total, false
		out.skip(1)
		return nil
	}
	rec := l.record(stamp)
	if err := info.Last.fill(&rec); err != nil {
		return err
	}
	rec.Outcome.Status = traces.OK
	if rec.OutputTokens == traces.Some[int32](0) {
		rec.Outcome.Status = traces.Empty
	}
	l.total, l.merges = info.Total, true
	return l.emit(rec, stamp, out)
}

// abort takes a turn that the user, or another prompt, broke off amid an answer.
func (l *codexLog) abort(stamp int64, out *outlet) error {
	rec := l.record(stamp)
	rec.Outcome.Status = traces.Cancelled
	rec.Cancel = rec.Outcome.End
	return l.emit(rec, stamp, out)
}

// record makes the request of which the answer ended at stamp.
func (l *codexLog) record(stamp int64) (rec traces.Record) {
	start := l.input
	if start == 0 || start > stamp {
		l.in.warn("no input was written before the answer: the arrival is that of its usage")
		start = stamp
	} else {
		rec.Outcome.End = since(start, stamp)
	}
	rec.Arrival = time.Duration(start)
	if l.end.Known {
		rec.Think = since(l.end.V, start)
	}
	rec.App = traces.Some("coding-agent")
	rec.Params = l.params
	rec.Model = textOf(l.model)
	return rec
}

func (l *codexLog) emit(rec traces.Record, end int64, out *outlet) error {
	if l.session != "" {
		if err := l.turns.set(&rec, []byte(l.session)); err != nil {
			return err
		}
	}
	l.end = traces.Some(end)
	l.ready(end)
	out.emit(rec)
	return nil
}

// ready makes what came during an answer the input of the next request, which does
// not leave before the answer's end.
func (l *codexLog) ready(end int64) {
	if !l.answering {
		return
	}
	l.input = 0
	if l.later > 0 {
		l.input = max(l.later, end)
	}
	l.later, l.answering = 0, false
}

func (u *codexUsage) isZero() bool {
	var rec traces.Record
	return u.fill(&rec) == nil && rec.PromptTokens.V == 0 && rec.OutputTokens.V == 0
}

func (u *codexUsage) fill(rec *traces.Record) error {
	const at = "payload.info.last_token_usage."
	err := errors.Join(
		setCount(&rec.PromptTokens, at+"input_tokens", json.RawMessage(u.Input)),
		setCount(&rec.Outcome.CachedTokens, at+"cached_input_tokens", json.RawMessage(u.Cached)),
		setCount(&rec.OutputTokens, at+"output_tokens", json.RawMessage(u.Output)),
		setCount(&rec.ReasoningTokens, at+"reasoning_output_tokens", json.RawMessage(u.Reasoning)))
	usageSeen(rec)
	return err
}
