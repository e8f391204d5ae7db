package formats

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
)

var (
	inputAttrs  = []string{"gen_ai.input.messages"}
	outputAttrs = []string{"gen_ai.output.messages", "gen_ai.output.text"}
)

var messageAttrs = slices.Concat(inputAttrs, outputAttrs)

// A message is one of a conversation, in the shape of OpenAI's API or in that of
// the semantic conventions.
type message struct {
	Role      string
	Content   json.RawMessage // text, or a list of parts
	Parts     []messagePart
	ToolCalls []messagePart `json:"tool_calls"`
}

type messagePart struct {
	Type, ID, Text string
	Content        json.RawMessage
}

// conversation returns what a span said, and what it was told that others had
// said before: hashes of answers, and never a word of them.
func conversation(attrs attributes) (said uint64, heard []uint64) {
	text, _ := attrs.text(outputAttrs...)
	messages, isList := readMessages(text)
	if !isList {
		messages = []message{{Content: textJSON(text)}}
	}
	for _, m := range messages {
		said = m.hash()
	}
	text, _ = attrs.text(inputAttrs...)
	messages, _ = readMessages(text)
	for _, m := range messages {
		if h := m.hash(); h != 0 && m.Role == "assistant" {
			heard = append(heard, h)
		}
	}
	return said, heard
}

func readMessages(text string) (messages []message, ok bool) {
	if !strings.HasPrefix(text, "[") {
		return nil, false
	}
	ok = json.Unmarshal([]byte(text), &messages) == nil
	return messages, ok
}

func textJSON(s string) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return text
}

// hash returns a number that two messages have in common if they say the same, by
// their texts and the ids of their tool calls, and 0 if they say nothing.
func (m *message) hash() uint64 {
	h := fnv.New64a()
	empty := true
	say := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			empty = false
			h.Write([]byte(text)) // never fails
		}
	}
	say(contentText(m.Content))
	for _, p := range m.Parts {
		say(p.Text + contentText(p.Content))
		if p.Type == "tool_call" {
			say(p.ID)
		}
	}
	for _, p := range m.ToolCalls {
		say(p.ID)
	}
	if empty {
		return 0
	}
	return h.Sum64()
}

// contentText returns the text of a message's content, which may be in parts.
func contentText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []messagePart
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Text)
	}
	return all.String()
}

// follow finds out which requests of a trace, in the order of their starts, waited
// for which: a prompt that holds an answer of another was sent after it had come.
// Of those that are known to have come, only the last ones are kept: whatever
// they had waited for themselves came before.
func follow(requests []*spanNode) {
	said := make(map[uint64][]int)
	waited := make([][]int, len(requests))
	at := make(map[*spanNode]int)
	for i, n := range requests {
		at[n] = i
	}
	for i, n := range requests {
		for _, before := range n.after {
			if j, ok := at[before]; ok {
				waited[i] = append(waited[i], j)
			}
		}
		for _, h := range n.heard {
			if j := lastEnded(requests, said[h], n.start); j >= 0 {
				waited[i] = append(waited[i], j)
			}
		}
		if n.said != 0 {
			said[n.said] = append(said[n.said], i)
		}
		n.after = nil
		for _, j := range newest(waited, i) {
			n.after = append(n.after, requests[j])
		}
		n.heard = nil
	}
}

// lastEnded returns the last of the candidates that had ended by a time, or -1.
func lastEnded(requests []*spanNode, candidates []int, by int64) int {
	for k := len(candidates) - 1; k >= 0; k-- {
		if end := requests[candidates[k]].end; end != 0 && end <= by {
			return candidates[k]
		}
	}
	return -1
}

// newest returns those that request i waited for and that none of the others had
// waited for.
func newest(waited [][]int, i int) (kept []int) {
	covered := make(map[int]bool)
	slices.Sort(waited[i])
	for _, j := range slices.Backward(slices.Compact(waited[i])) {
		if covered[j] {
			continue
		}
		kept = append(kept, j)
		covered[j] = true
		for _, k := range waited[j] {
			covered[k] = true
		}
	}
	return kept
}
