package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"wavetank/synth/prompt"
)

// maxBody is the largest request body that the server reads.
const maxBody = 64 << 20

// A body is what the server reads of a request's JSON; it ignores the rest.
type body struct {
	Model               string     `json:"model"`
	Messages            []message  `json:"messages"`
	Prompt              promptText `json:"prompt"`
	MaxTokens           *int32     `json:"max_tokens"`
	MaxCompletionTokens *int32     `json:"max_completion_tokens"`
	MinTokens           int32      `json:"min_tokens"`
	IgnoreEOS           bool       `json:"ignore_eos"`
	N                   *int32     `json:"n"`
	Stream              bool       `json:"stream"`
	StreamOptions       struct {
		IncludeUsage         bool `json:"include_usage"`
		ContinuousUsageStats bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
}

type message struct {
	Content content `json:"content"`
}

// content is the text of a message: a string, null, or a list of parts.
type content []string

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case 'n': // null: an assistant's turn of tool calls alone
		return nil
	case '"':
		*c = make(content, 1)
		return json.Unmarshal(b, &(*c)[0])
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return errors.New("content must be a string, null or a list of parts")
	}
	for _, p := range parts {
		*c = append(*c, p.Text)
	}
	return nil
}

// promptText is the prompt of a completion: text, or token ids.
type promptText struct {
	text string
	ids  []uint32
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *promptText) UnmarshalJSON(b []byte) error {
	if b[0] == 'n' {
		return nil
	}
	if b[0] == '"' {
		return json.Unmarshal(b, &p.text)
	}
	if json.Unmarshal(b, &p.ids) == nil {
		return nil
	}
	var one []json.RawMessage
	if err := json.Unmarshal(b, &one); err != nil || len(one) != 1 || one[0][0] == '{' {
		return errors.New("prompt must be one string or one list of token ids")
	}
	// A list of one prompt. Its nesting ends here: an element that is a list again
	// must be token ids.
	if one[0][0] == '"' {
		return json.Unmarshal(one[0], &p.text)
	}
	return json.Unmarshal(one[0], &p.ids)
}

// tokens ranges over the identities of the tokens of b: one a word, or the ids.
func (b *body) tokens() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, id := range b.Prompt.ids {
			if !yield(mix(uint64(id))) {
				return
			}
		}
		for text := range b.texts {
			for word := range prompt.Words(text) {
				if !yield(hash(word)) {
					return
				}
			}
		}
	}
}

func (b *body) texts(yield func(string) bool) {
	if !yield(b.Prompt.text) {
		return
	}
	for _, m := range b.Messages {
		for _, text := range m.Content {
			if !yield(text) {
				return
			}
		}
	}
}

// limit returns the most tokens that b lets the answer have, or ok false.
func (b *body) limit() (limit int32, ok bool) {
	for _, l := range []*int32{b.MaxCompletionTokens, b.MaxTokens} {
		if l != nil {
			return *l, true
		}
	}
	return 0, false
}

func (b *body) check() error {
	limit, limited := b.limit()
	switch {
	case b.N != nil && *b.N != 1:
		return fmt.Errorf("n is %d; this server gives one choice", *b.N)
	case limited && limit < 1:
		return fmt.Errorf("max_tokens is %d; it must be at least 1", limit)
	case b.MinTokens < 0 || limited && b.MinTokens > limit:
		return fmt.Errorf("min_tokens is %d; it must be between 0 and max_tokens", b.MinTokens)
	}
	return nil
}

// readBody parses and checks the request's body of at most limit bytes.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) (*body, error) {
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	return parseBody(buf.Bytes())
}

func parseBody(raw []byte) (*body, error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, errors.New("the body is not a request in JSON: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	return &b, b.check()
}
