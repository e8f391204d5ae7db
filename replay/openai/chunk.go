package openai

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"wavetank/traces"
)

// A chunk is what one event of an answer says, or a whole answer that is not
// streamed.
type chunk struct {
	output    bool   // content, refusal, text or a tool call, and not an empty one
	reasoning bool   // the like of reasoning
	finish    string // the finish reason; "" is none
	failed    bool   // an error stands in the place of an answer

	hasUsage                   bool
	prompt, completion, cached traces.Opt[int32]
}

// parse reads a chunk. The plain ones, which are nearly all, are scanned in place;
// whatever is unusual about the others is left to encoding/json.
func parse(data []byte) (chunk, error) {
	ch, sure := scan(data)
	if !sure {
		var err error
		if ch, err = decode(data); err != nil {
			return chunk{}, errMalformed
		}
	}
	if ch.failed {
		return chunk{}, errStream
	}
	return ch, nil
}

// decode reads a chunk with encoding/json.
func decode(data []byte) (chunk, error) {
	var v struct {
		Object  lenient[string]
		Error   present
		Choices lenient[[]choice]
		Usage   lenient[*usage]
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return chunk{}, err
	}
	ch := chunk{failed: bool(v.Error) || v.Object.v == "error"}
	for _, c := range v.Choices.v {
		for _, m := range []message{c.Delta.v, c.Message.v} {
			ch.output = ch.output || bool(m.Content) || bool(m.Refusal) || bool(m.ToolCalls)
			ch.reasoning = ch.reasoning || bool(m.Reasoning) || bool(m.ReasoningContent)
		}
		ch.output = ch.output || bool(c.Text)
		if c.FinishReason.v != "" {
			ch.finish = c.FinishReason.v
		}
	}
	if u := v.Usage.v; u != nil {
		ch.hasUsage = true
		ch.prompt, ch.completion, ch.cached = u.Prompt.Opt, u.Completion.Opt, u.Details.v.Cached.Opt
	}
	return ch, nil
}

type choice struct {
	Delta        lenient[message] `json:"delta"`
	Message      lenient[message] `json:"message"`
	Text         present          `json:"text"`
	FinishReason lenient[string]  `json:"finish_reason"`
}

type message struct {
	Content          present   `json:"content"`
	Refusal          present   `json:"refusal"`
	Reasoning        present   `json:"reasoning"`
	ReasoningContent present   `json:"reasoning_content"`
	ToolCalls        toolCalls `json:"tool_calls"`
}

type usage struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
	Details    lenient[struct {
		Cached count `json:"cached_tokens"`
	}] `json:"prompt_tokens_details"`
}

// lenient is a T, or nothing where the JSON is of another type: a field that one
// server writes in its own way must not lose the answer.
type lenient[T any] struct{ v T }

// UnmarshalJSON implements json.Unmarshaler.
func (l *lenient[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		l.v = v
	}
	return nil
}

// present is whether a value is there and not null, false, "", [] or {}.
type present bool

// UnmarshalJSON implements json.Unmarshaler.
func (p *present) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "null", "false", `""`, "[]", "{}":
		*p = false
	default:
		*p = true
	}
	return nil
}

// toolCalls is whether a call's name or arguments are there.
type toolCalls bool

// UnmarshalJSON implements json.Unmarshaler.
func (t *toolCalls) UnmarshalJSON(data []byte) error {
	var calls lenient[[]lenient[struct {
		Function lenient[struct{ Name, Arguments present }]
	}]]
	if err := json.Unmarshal(data, &calls); err != nil {
		return err
	}
	for _, c := range calls.v {
		if f := c.v.Function.v; bool(f.Name) || bool(f.Arguments) {
			*t = true
		}
	}
	return nil
}

// count is a number of tokens, unknown where it is none.
type count struct{ traces.Opt[int32] }

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(data []byte) error {
	*c = count{}
	if n, err := strconv.ParseFloat(string(bytes.TrimSpace(data)), 64); err == nil && n >= 0 && n <= math.MaxInt32 && n == math.Trunc(n) {
		c.Opt = traces.Some(int32(n))
	}
	return nil
}
