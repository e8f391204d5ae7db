package formats

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"wavetank/traces"
)

var (
	finishAttrs = []string{"gen_ai.response.finish_reasons", "gen_ai.response.finish_reason", "llm.response.finish_reason", "llm.response.stop_reason", "ai.response.finishReason"}
	codeAttrs   = []string{"http.response.status_code", "http.status_code"}
	errorAttrs  = []string{"error.type"}

	exceptionAttrs = []string{"exception.type"} // of the event "exception"
)

var endingAttrs = slices.Concat(finishAttrs, codeAttrs, errorAttrs, exceptionAttrs)

// finishWords are the vendors' words for why an answer ended, in the words of
// OpenAI's API. Others stay as they are.
var finishWords = map[string]string{
	"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls", "tool_call": "tool_calls",
	"tool-calls": "tool_calls", "content-filter": "content_filter",
}

// errorWords are parts of the names of errors, in lower case.
var errorWords = []struct {
	part   string
	status traces.Status
	class  string
}{
	{"ratelimit", traces.Rejected, "http_429"},
	{"rate_limit", traces.Rejected, "http_429"},
	{"timeout", traces.Timeout, "timeout"},
	{"timedout", traces.Timeout, "timeout"},
	{"deadline", traces.Timeout, "timeout"},
	{"cancel", traces.Cancelled, ""},
	{"abort", traces.Cancelled, ""},
	{"connect", traces.Error, "connect"},
}

// setEnding tells how a request ended. A span that ended, whose status is not an
// error, and that names none, is an answer.
func setEnding(rec *traces.Record, sp *otelSpan) {
	forgetZeros(rec)
	o := &rec.Outcome
	finish := finishReason(sp.attrs)
	if finish != "" {
		o.FinishReason = traces.Some(finish)
	}
	cause := causeOf(sp)
	o.HTTPStatus = codeOf(sp, cause)
	switch {
	case o.HTTPStatus.V >= 400:
		o.Status, o.Error = failureOfCode(o.HTTPStatus.V)
	case sp.failed || cause != "":
		o.Status, o.Error = failureOfName(cause)
	case finish == "abort":
		o.Status = traces.Cancelled
	case rec.OutputTokens == traces.Some[int32](0) && rec.Endpoint.V != "embeddings":
		o.Status = traces.Empty
	case sp.end == 0 && finish == "":
		o.Status = traces.Unknown // it may be still running
	default:
		o.Status = traces.OK
	}
}

// forgetZeros makes unknown the counts of a span in which nobody counted, as in
// most of those that failed: no prompt has no tokens.
func forgetZeros(rec *traces.Record) {
	if rec.PromptTokens != traces.Some[int32](0) {
		return
	}
	rec.PromptTokens, rec.Outcome.PromptTokensSeen = traces.Opt[int32]{}, traces.Opt[int32]{}
	if rec.OutputTokens.V == 0 {
		rec.OutputTokens, rec.Outcome.OutputTokensSeen = traces.Opt[int32]{}, traces.Opt[int32]{}
		rec.Outcome.TokenBasis = traces.Opt[string]{}
	}
}

// causeOf returns the name of a span's error, or that of the exception in it.
func causeOf(sp *otelSpan) string {
	if text, name := sp.attrs.text(errorAttrs...); name != "" {
		return text
	}
	if !sp.failed {
		return ""
	}
	for _, e := range sp.events {
		if text, name := e.attrs.text(exceptionAttrs...); name != "" {
			return text
		}
	}
	return ""
}

// codeOf returns the status code of HTTP, which may be the name of the error.
func codeOf(sp *otelSpan, cause string) traces.Opt[int32] {
	text, _ := sp.attrs.text(codeAttrs...)
	for _, text := range []string{cause, text} {
		if n, ok := digits([]byte(text)); ok && n >= 100 && n < 600 {
			return traces.Some(int32(n))
		}
	}
	return traces.Opt[int32]{}
}

func failureOfCode(code int32) (traces.Status, traces.Opt[string]) {
	switch {
	case code == 429:
		return traces.Rejected, traces.Some("http_429")
	case code == 499: // nginx and others: the client hung up
		return traces.Cancelled, traces.Opt[string]{}
	}
	return traces.Error, traces.Some("http_" + strconv.Itoa(int(code/100)) + "xx")
}

// failureOfName tells a failure by the name of its error, which is most often a
// class of some program.
func failureOfName(cause string) (traces.Status, traces.Opt[string]) {
	lower := strings.ToLower(cause)
	for _, w := range errorWords {
		if strings.Contains(lower, w.part) {
			return w.status, traces.Opt[string]{V: w.class, Known: w.class != ""}
		}
	}
	if lower == "" || lower == "_other" {
		return traces.Error, traces.Some(ErrorFailed)
	}
	return traces.Error, traces.Some(strings.ToValidUTF8(clip(cause), ""))
}

// finishReason returns why the first answer ended. SGLang writes the list as text.
func finishReason(attrs attributes) string {
	text, _ := attrs.text(finishAttrs...)
	var list []string
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) == nil {
		if text = ""; len(list) > 0 {
			text = list[0]
		}
	}
	text = strings.ToLower(strings.ToValidUTF8(clip(text), ""))
	if word, ok := finishWords[text]; ok {
		return word
	}
	return text
}
