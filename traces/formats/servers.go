package formats

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"wavetank/traces"
)

// servers are the logs of inference servers, and of agents on their clients' side.
var servers = []Format{sglang, dynamo, claudeCode, codex, sagemaker}

// setCount sets a count of tokens, or nothing where the log has none.
func setCount(o *traces.Opt[int32], field string, n json.RawMessage) error {
	return inField(field, setUnlessNull(o, n))
}

// textOf is a text of a log, where an empty one tells nothing.
func textOf(s string) traces.Opt[string] {
	return traces.Opt[string]{V: s, Known: s != ""}
}

// samplingParams are the parameters of a request that a trace keeps. Others may
// hold what the user wrote: schemas, grammars, tools.
var samplingParams = []string{
	"temperature", "top_p", "top_k", "min_p", "n", "stop", "seed", "frequency_penalty", "presence_penalty",
	"repetition_penalty", "reasoning_effort", "priority",
}

// sampling returns the parameters among the fields of a request as one JSON object.
func sampling(fields map[string]json.RawMessage) traces.Opt[string] {
	params := make(map[string]json.RawMessage)
	for _, name := range samplingParams {
		if v := fields[name]; v != nil && string(v) != "null" {
			params[name] = v
		}
	}
	if text, err := json.Marshal(params); err == nil && len(params) > 0 {
		return traces.Some(string(text))
	}
	return traces.Opt[string]{}
}

// usageSeen makes the counts of an answered request those that the server reported.
func usageSeen(rec *traces.Record) {
	rec.Outcome.PromptTokensSeen, rec.Outcome.OutputTokensSeen = rec.PromptTokens, rec.OutputTokens
	if rec.OutputTokens.Known {
		rec.Outcome.TokenBasis = traces.Some(traces.BasisUsage)
	}
}

// setFinish sets how an answer ended; one that did without a token was empty.
func setFinish(rec *traces.Record, reason string) {
	if reason == "" {
		return
	}
	rec.Outcome.FinishReason = traces.Some(reason)
	rec.Outcome.Status = traces.OK
	if rec.OutputTokens == traces.Some[int32](0) {
		rec.Outcome.Status = traces.Empty
	}
}

// refusals are the codes by which servers also refuse for load: no log tells
// whether Retry-After came with a 503, and 529 is Anthropic's own.
var refusals = map[int]bool{503: true, 529: true}

// setHTTPFailure tells of a failure by its HTTP status, or of one without.
func setHTTPFailure(o *traces.Outcome, code int) {
	if code < 400 || code > 599 {
		o.Status, o.Error = traces.Error, traces.Some(ErrorFailed)
		return
	}
	o.HTTPStatus = traces.Some(int32(code))
	o.Status, o.Error = failureOfCode(int32(code))
	if refusals[code] {
		o.Status = traces.Rejected
	}
}

// elapsed reads a duration that a server measured. One that no clock can have
// shown is unknown, and counted: it is no reason to lose the request.
func (in *input) elapsed(field string, n json.RawMessage, unit time.Duration) traces.Opt[time.Duration] {
	text := unquote(n)
	if isUnknown(text) {
		return traces.Opt[time.Duration]{}
	}
	const year = 365 * 24 * time.Hour
	f, err := strconv.ParseFloat(string(text), 64) // 53 bits hold a hundred days in nanoseconds
	ns := math.Round(f * float64(unit))
	if err != nil || !(ns >= 0 && ns <= float64(year)) {
		in.warn(field + " is negative or over a year, and is taken for unknown")
		return traces.Opt[time.Duration]{}
	}
	return traces.Some(time.Duration(ns))
}

// stamp reads a date and time.
func (in *input) stamp(field, s string) (int64, error) {
	if s == "" {
		return 0, inField(field, rejectf(MissingField, "the row has no time"))
	}
	ns, err := in.clock.parse([]byte(s))
	return ns, inField(field, err)
}

// since returns the time from a to b where that is not negative.
func since(a, b int64) traces.Opt[time.Duration] {
	if b < a {
		return traces.Opt[time.Duration]{}
	}
	return traces.Some(time.Duration(b - a))
}
