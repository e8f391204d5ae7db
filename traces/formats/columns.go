package formats

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"wavetank/traces"
)

// A Column is a column of a trace that a field of a csv or jsonl log can fill.
type Column struct {
	Name  string // as in the trace file; without _ns where it is a time
	Alias string // another name that it goes by; may be empty
	Kind  Kind

	set func(rec *traces.Record, v value) error // nil: arrival
}

// Kind says what a Column takes.
type Kind string

// The kinds of a Column.
const (
	Stamp    Kind = "time"     // a wall clock, or a number of a unit
	Duration Kind = "duration" // a number, whose unit its field's name or the mapping tells
	Count    Kind = "count"    // a whole number
	Text     Kind = "text"
	Bool     Kind = "bool"
	Object   Kind = "object" // a JSON object
	Body     Kind = "body"   // JSON as it stands in the log, or the text of a string; only with Options.KeepBodies
)

// Columns lists the columns to which Options.Map can map a field.
var Columns = []Column{
	{"arrival", "", Stamp, nil},
	text("id", func(r *traces.Record) *traces.Opt[string] { return &r.ID }),
	text("app", func(r *traces.Record) *traces.Opt[string] { return &r.App }),
	text("tenant", func(r *traces.Record) *traces.Opt[string] { return &r.Tenant }),
	text("user", func(r *traces.Record) *traces.Opt[string] { return &r.User }),
	text("session", func(r *traces.Record) *traces.Opt[string] { return &r.Session }),
	count("turn", func(r *traces.Record) *traces.Opt[int32] { return &r.Turn }),
	span("think", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Think }),
	text("model", func(r *traces.Record) *traces.Opt[string] { return &r.Model }),
	text("endpoint", func(r *traces.Record) *traces.Opt[string] { return &r.Endpoint }),
	tokens("prompt_tokens", func(r *traces.Record) *traces.Opt[int32] { return &r.PromptTokens }),
	tokens("output_tokens", func(r *traces.Record) *traces.Opt[int32] { return &r.OutputTokens }),
	tokens("reasoning_tokens", func(r *traces.Record) *traces.Opt[int32] { return &r.ReasoningTokens }),
	tokens("max_tokens", func(r *traces.Record) *traces.Opt[int32] { return &r.MaxTokens }),
	truth("stream", func(r *traces.Record) *traces.Opt[bool] { return &r.Stream }),
	{"params", "", Object, setParams},
	span("cancel", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Cancel }),
	tokens("cancel_tokens", func(r *traces.Record) *traces.Opt[int32] { return &r.CancelTokens }),
	span("timeout", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Timeout }),
	{"body", "", Body, setBody},

	{"status", "", Text, setStatus},
	text("error", func(r *traces.Record) *traces.Opt[string] { return &r.Outcome.Error }),
	count("http_status", func(r *traces.Record) *traces.Opt[int32] { return &r.Outcome.HTTPStatus }),
	text("finish_reason", func(r *traces.Record) *traces.Opt[string] { return &r.Outcome.FinishReason }),
	span("first_token", "ttft", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Outcome.FirstToken }),
	span("first_output", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Outcome.FirstOutput }),
	span("last_token", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Outcome.LastToken }),
	span("end", "e2e", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Outcome.End }),
	span("queue", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Outcome.Queue }),
	span("prefill", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Outcome.Prefill }),
	span("decode", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Outcome.Decode }),
	tokens("prompt_tokens_seen", func(r *traces.Record) *traces.Opt[int32] { return &r.Outcome.PromptTokensSeen }),
	tokens("cached_tokens", func(r *traces.Record) *traces.Opt[int32] { return &r.Outcome.CachedTokens }),
	tokens("output_tokens_seen", func(r *traces.Record) *traces.Opt[int32] { return &r.Outcome.OutputTokensSeen }),
	text("token_basis", func(r *traces.Record) *traces.Opt[string] { return &r.Outcome.TokenBasis }),
	count("events", func(r *traces.Record) *traces.Opt[int32] { return &r.Outcome.Events }),
	span("max_gap", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Outcome.MaxGap }),
	count("attempt", func(r *traces.Record) *traces.Opt[int32] { return &r.Outcome.Attempt }),
	text("worker", func(r *traces.Record) *traces.Opt[string] { return &r.Outcome.Worker }),
	truth("gateway_cache", func(r *traces.Record) *traces.Opt[bool] { return &r.Outcome.GatewayCache }),
}

// A value is a known value of a field, as text.
type value struct {
	b     []byte
	unit  int64 // of a time, in nanoseconds
	words *words
}

func text(name string, of func(*traces.Record) *traces.Opt[string]) Column {
	return Column{name, "", Text, func(rec *traces.Record, v value) error {
		return v.words.set(of(rec), v.b)
	}}
}

func count(name string, of func(*traces.Record) *traces.Opt[int32]) Column {
	return number(name, of, parseCount)
}

func tokens(name string, of func(*traces.Record) *traces.Opt[int32]) Column {
	return number(name, of, parseTokens)
}

// number makes a column of whole numbers, in which -1 is the usual way to say
// that a number is not known.
func number(name string, of func(*traces.Record) *traces.Opt[int32], parse func([]byte) (int32, error)) Column {
	return Column{name, "", Count, func(rec *traces.Record, v value) error {
		if string(v.b) == "-1" {
			return nil
		}
		n, err := parse(v.b)
		if err != nil {
			return err
		}
		*of(rec) = traces.Some(n)
		return nil
	}}
}

func span(name, alias string, of func(*traces.Record) *traces.Opt[time.Duration]) Column {
	return Column{name, alias, Duration, func(rec *traces.Record, v value) error {
		ns, err := parseDecimal(v.b, v.unit)
		if err != nil {
			return err
		}
		*of(rec) = traces.Some(time.Duration(ns))
		return nil
	}}
}

var bools = map[string]bool{"true": true, "True": true, "1": true, "false": false, "False": false, "0": false}

func truth(name string, of func(*traces.Record) *traces.Opt[bool]) Column {
	return Column{name, "", Bool, func(rec *traces.Record, v value) error {
		is, ok := bools[string(v.b)]
		if !ok {
			return rejectf(BadValue, "%q is neither true nor false", clip(v.b))
		}
		*of(rec) = traces.Some(is)
		return nil
	}}
}

func setParams(rec *traces.Record, v value) error {
	if !json.Valid(v.b) || !bytes.HasPrefix(bytes.TrimSpace(v.b), []byte("{")) {
		return rejectf(BadValue, "%q is not a JSON object", clip(v.b))
	}
	rec.Params = traces.Some(string(v.b))
	return nil
}

func setBody(rec *traces.Record, v value) error {
	rec.Body = bytes.Clone(v.b)
	return nil
}

// takes tells whether a column is to be filled: bodies are users' text, and kept
// only on purpose.
func (o *Options) takes(c *Column) bool { return c.Kind != Body || o.KeepBodies }

// statusWords are the words for a status that are not our own.
var statusWords = map[string]traces.Status{"success": traces.OK, "failure": traces.Error, "failed": traces.Error}

func setStatus(rec *traces.Record, v value) error {
	word := strings.ToLower(string(v.b))
	if status, ok := statusWords[word]; ok {
		rec.Outcome.Status = status
		return nil
	}
	for _, status := range traces.Statuses {
		if word == string(status) {
			rec.Outcome.Status = status
			return nil
		}
	}
	return rejectf(BadValue, "%q is not a status: %v", clip(v.b), traces.Statuses)
}
