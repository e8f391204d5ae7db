package formats

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"wavetank/traces"
)

// A Column is a column of a trace that a field of a csv or jsonl log can fill.
type Column struct {
	Name  string // as in the trace file; without _ns where it is a time
	Alias string // another name that it goes by; may be empty
	Kind  Kind

	read  func(value, *traces.Cell) error // nil: arrival
	store func(*traces.Record, traces.Cell, *words)
}

// set fills the column of rec, of which w keeps the words.
func (c *Column) set(rec *traces.Record, v value, w *words) error {
	err := c.read(v, &w.cell)
	if err == nil && w.cell.Known {
		c.store(rec, w.cell, w)
	}
	return err
}

// fileName is the column's name in the trace file.
func (c *Column) fileName() string {
	if c.Kind == Stamp || c.Kind == Duration {
		return c.Name + "_ns"
	}
	return c.Name
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
	{Name: "arrival", Kind: Stamp, store: storeArrival},
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
	{"params", "", Object, readParams, storeParams},
	span("cancel", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Cancel }),
	tokens("cancel_tokens", func(r *traces.Record) *traces.Opt[int32] { return &r.CancelTokens }),
	span("timeout", "", func(r *traces.Record) *traces.Opt[time.Duration] { return &r.Timeout }),
	{"body", "", Body, readBody, storeBody},

	{"status", "", Text, readStatus, storeStatus},
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
	b    []byte
	unit int64 // of a time, in nanoseconds
	utf8 bool  // b is known to be
}

func storeArrival(rec *traces.Record, c traces.Cell, _ *words) { rec.Arrival = time.Duration(c.N) }

func text(name string, of func(*traces.Record) *traces.Opt[string]) Column {
	return Column{name, "", Text, readText, func(rec *traces.Record, c traces.Cell, w *words) {
		*of(rec) = traces.Some(w.keep(c.Text))
	}}
}

func readText(v value, c *traces.Cell) error {
	c.Known = !isUnknown(v.b)
	if c.Text = v.b; c.Known && !v.utf8 && !utf8.Valid(v.b) {
		return rejectf(BadValue, "%q is not UTF-8", clip(v.b))
	}
	return nil
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
	read := func(v value, c *traces.Cell) error {
		if c.Known = string(v.b) != "-1"; !c.Known {
			return nil
		}
		n, err := parse(v.b)
		c.N = int64(n)
		return err
	}
	return Column{name, "", Count, read, func(rec *traces.Record, c traces.Cell, _ *words) {
		*of(rec) = traces.Some(int32(c.N))
	}}
}

func span(name, alias string, of func(*traces.Record) *traces.Opt[time.Duration]) Column {
	return Column{name, alias, Duration, readSpan, func(rec *traces.Record, c traces.Cell, _ *words) {
		*of(rec) = traces.Some(time.Duration(c.N))
	}}
}

func readSpan(v value, c *traces.Cell) (err error) {
	c.Known = true
	c.N, err = parseDecimal(v.b, v.unit)
	return err
}

var bools = map[string]bool{"true": true, "True": true, "1": true, "false": false, "False": false, "0": false}

func truth(name string, of func(*traces.Record) *traces.Opt[bool]) Column {
	return Column{name, "", Bool, readTruth, func(rec *traces.Record, c traces.Cell, _ *words) {
		*of(rec) = traces.Some(c.N != 0)
	}}
}

func readTruth(v value, c *traces.Cell) error {
	is, ok := bools[string(v.b)]
	if !ok {
		return rejectf(BadValue, "%q is neither true nor false", clip(v.b))
	}
	c.Known, c.N = true, 0
	if is {
		c.N = 1
	}
	return nil
}

func readParams(v value, c *traces.Cell) error {
	if !json.Valid(v.b) || !bytes.HasPrefix(bytes.TrimSpace(v.b), []byte("{")) {
		return rejectf(BadValue, "%q is not a JSON object", clip(v.b))
	}
	c.Known, c.Text = true, v.b
	return nil
}

func storeParams(rec *traces.Record, c traces.Cell, _ *words) {
	rec.Params = traces.Some(string(c.Text))
}

func readBody(v value, c *traces.Cell) error {
	c.Known, c.Text = v.b != nil, v.b
	return nil
}

func storeBody(rec *traces.Record, c traces.Cell, _ *words) { rec.Body = bytes.Clone(c.Text) }

// takes tells whether a column is to be filled: bodies are users' text, and kept
// only on purpose.
func (o *Options) takes(c *Column) bool { return c.Kind != Body || o.KeepBodies }

// statusWords are the words for a status: our own, and others.
var statusWords = func() map[string][]byte {
	words := map[string][]byte{
		"success": []byte(traces.OK), "failure": []byte(traces.Error), "failed": []byte(traces.Error),
	}
	for _, status := range traces.Statuses {
		words[string(status)] = []byte(status)
	}
	return words
}()

func readStatus(v value, c *traces.Cell) error {
	status, ok := statusWords[strings.ToLower(string(v.b))]
	if !ok {
		return rejectf(BadValue, "%q is not a status: %v", clip(v.b), traces.Statuses)
	}
	c.Known, c.Text = true, status
	return nil
}

func storeStatus(rec *traces.Record, c traces.Cell, w *words) {
	rec.Outcome.Status = traces.Status(w.keep(c.Text))
}
