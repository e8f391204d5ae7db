package formats

import (
	"encoding/json"
	"errors"
	"time"

	"wavetank/traces"
)

// tracelab reads TraceLab, coding-agent sessions of Claude Code and Codex, one call
// of a model a row. Its times are those at which the agent wrote its transcript: a
// request leaves when the last of what it answers was written, and its answer ends
// with the last part of it, or with the usage that is told after it; when the first token came was not recorded. Rows that
// are twice in a release stay twice. Memory grows with sessions.
var tracelab = Format{
	Name:     "tracelab",
	About:    "TraceLab coding-agent rounds (JSONL)",
	Sniff:    sniffTracelab,
	document: openTracelab,
}

func sniffTracelab(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	if err := needKeys(keys, "session_id", "round_index", "input_tokens_total", "output_tokens", "timing_events"); err != nil {
		return err
	}
	if keys["timing_events"] != json.Delim('[') {
		return errors.New("the key \"timing_events\" does not hold a list")
	}
	return nil
}

type tracelabRow struct {
	Session   json.RawMessage `json:"session_id"`
	Round     json.RawMessage `json:"round_index"`
	ID        json.RawMessage `json:"round_id"`
	User      json.RawMessage `json:"user"`
	Model     json.RawMessage `json:"model"`
	Input     json.RawMessage `json:"input_tokens_total"`
	Prefix    json.RawMessage `json:"prefix_tokens"`
	Output    json.RawMessage `json:"output_tokens"`
	Reasoning json.RawMessage `json:"reasoning_output_tokens"`
	Events    []struct {
		Type      string `json:"event_type"`
		Timestamp string `json:"timestamp"`
	} `json:"timing_events"`
}

// tracelabEvents tells what was sent from what came back.
var tracelabEvents = map[string]int{
	"user_message": sentEvent, "tool_result": sentEvent,
	"reasoning": answerEvent, "text": answerEvent, "tool_call": answerEvent, "usage_report": usageEvent,
}

const (
	sentEvent = 1 + iota
	answerEvent
	usageEvent // comes with the end of an answer
)

type tracelabLog struct {
	in    *input
	words words
	last  map[string]tracelabRound
}

// A tracelabRound is the last row of a session.
type tracelabRound struct {
	seq uint64
	end int64
}

func openTracelab(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("tracelab"); err != nil {
		return document{}, err
	}
	in.absolute = true
	in.source.Stamps, in.meta.Vantage = "start", "client"
	t := &tracelabLog{in: in, last: make(map[string]tracelabRound)}
	return document{parse: t.parse}, nil
}

func (t *tracelabLog) parse(row []byte, out *outlet) error {
	var v tracelabRow
	if err := decodeRow(row, &v); err != nil {
		return err
	}
	var rec traces.Record
	if err := t.setTokens(&rec, &v); err != nil {
		return err
	}
	for _, text := range []struct {
		field string
		raw   json.RawMessage
		to    *traces.Opt[string]
	}{{"session_id", v.Session, &rec.Session}, {"round_id", v.ID, &rec.ID}, {"user", v.User, &rec.User}} {
		if err := setText(text.to, unquote(text.raw)); err != nil {
			return inField(text.field, err)
		}
	}
	if err := t.words.set(&rec.Model, unquote(v.Model)); err != nil {
		return inField("model", err)
	}
	turn, err := parseCount(unquote(v.Round))
	if err != nil {
		return inField("round_index", err)
	}
	rec.Turn, rec.App = traces.Some(turn), traces.Some("coding-agent")
	end, err := t.setTimes(&rec, &v)
	if err != nil {
		return inField("timing_events", err)
	}
	t.follow(&rec, end, out.seq())
	out.emit(rec)
	return nil
}

// setTimes finds when a request left and when its answer ended.
func (t *tracelabLog) setTimes(rec *traces.Record, v *tracelabRow) (end int64, err error) {
	var sent, first int64
	for _, e := range v.Events {
		kind := tracelabEvents[e.Type]
		if kind == 0 || e.Timestamp == "" {
			continue
		}
		ns, err := t.in.clock.parse([]byte(e.Timestamp))
		if err != nil {
			return 0, err
		}
		switch kind {
		case sentEvent:
			sent = max(sent, ns)
			continue
		case answerEvent:
			if first == 0 || ns < first {
				first = ns
			}
		}
		end = max(end, ns)
	}
	switch {
	case sent == 0 && first == 0:
		return 0, rejectf(MissingField, "no event says when the request left")
	case sent == 0:
		t.in.warn("nothing says when they left, so that the first part of their answer stands for it")
		sent, end = first, 0
	}
	if end >= sent {
		rec.Outcome.End = traces.Some(time.Duration(end - sent))
		rec.Outcome.Status = traces.OK
	}
	rec.Arrival = time.Duration(sent)
	return end, nil
}

func (t *tracelabLog) setTokens(rec *traces.Record, v *tracelabRow) error {
	if err := setTokens(&rec.PromptTokens, unquote(v.Input)); err != nil {
		return inField("input_tokens_total", err)
	}
	if err := setTokens(&rec.OutputTokens, unquote(v.Output)); err != nil {
		return inField("output_tokens", err)
	}
	if err := setUnlessNull(&rec.ReasoningTokens, v.Reasoning); err != nil {
		return inField("reasoning_output_tokens", err)
	}
	return inField("prefix_tokens", setUnlessNull(&rec.Outcome.CachedTokens, v.Prefix))
}

// follow ties a round to the one before it in its session, unless the two overlap.
func (t *tracelabLog) follow(rec *traces.Record, end int64, seq uint64) {
	if !rec.Session.Known {
		return
	}
	start := int64(rec.Arrival)
	before, ok := t.last[rec.Session.V]
	switch {
	case !ok:
		rec.After = noPredecessor
	case before.end == 0 || before.end > start:
		t.in.warn("they left before the round before them had ended, or nobody knows when it did: what they waited for is unknown")
	default:
		rec.After = []uint64{before.seq}
		rec.Think = traces.Some(time.Duration(start - before.end))
	}
	t.last[rec.Session.V] = tracelabRound{seq: seq, end: end}
}
