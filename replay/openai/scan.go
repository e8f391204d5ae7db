package openai

import (
	"math"

	"wavetank/traces"
	"wavetank/traces/jsonscan"
)

// A scanner reads a plain chunk in place, at a small part of what encoding/json
// takes.
type scanner struct{ jsonscan.Scanner }

// scan reads a plain chunk. sure is false when anything is not as plain as
// expected, and then nothing is said: not even whether data is JSON.
func scan(data []byte) (ch chunk, sure bool) {
	s := scanner{jsonscan.New(data)}
	var seen jsonscan.Seen
	for s.Open('{'); s.More('}'); {
		switch key := s.Key(); string(key) {
		case "choices":
			s.Once(&seen, 0)
			if s.orNull('[') {
				for s.Open('['); s.More(']'); {
					s.choice(&ch)
				}
			}
		case "usage":
			s.Once(&seen, 1)
			if s.orNull('{') {
				s.usage(&ch)
			}
		case "error":
			s.Once(&seen, 2)
			s.nothing()
		case "object":
			s.Once(&seen, 3)
			if string(s.Text()) == "error" {
				s.Fail()
			}
		default:
			s.pass(key)
		}
	}
	return ch, s.End()
}

func (s *scanner) choice(ch *chunk) {
	var seen jsonscan.Seen
	for s.Open('{'); s.More('}'); {
		switch key := s.Key(); string(key) {
		case "delta":
			s.Once(&seen, 0)
			s.message(ch)
		case "message":
			s.Once(&seen, 1)
			s.message(ch)
		case "text":
			s.Once(&seen, 2)
			s.nonEmpty(&ch.output)
		case "finish_reason":
			s.Once(&seen, 3)
			if !s.orNull('"') {
				continue
			}
			if reason := s.Text(); len(reason) > 0 {
				ch.finish = string(reason)
			}
		default:
			s.pass(key)
		}
	}
}

func (s *scanner) message(ch *chunk) {
	if !s.orNull('{') {
		return
	}
	var seen jsonscan.Seen
	for s.Open('{'); s.More('}'); {
		switch key := s.Key(); string(key) {
		case "content":
			s.Once(&seen, 0)
			s.nonEmpty(&ch.output)
		case "refusal":
			s.Once(&seen, 1)
			s.nonEmpty(&ch.output)
		case "reasoning":
			s.Once(&seen, 2)
			s.nonEmpty(&ch.reasoning)
		case "reasoning_content":
			s.Once(&seen, 3)
			s.nonEmpty(&ch.reasoning)
		case "tool_calls":
			s.Once(&seen, 4)
			s.nothing()
		default:
			s.pass(key)
		}
	}
}

func (s *scanner) usage(ch *chunk) {
	ch.hasUsage = true
	var seen jsonscan.Seen
	for s.Open('{'); s.More('}'); {
		switch key := s.Key(); string(key) {
		case "prompt_tokens":
			s.Once(&seen, 0)
			ch.prompt = s.count()
		case "completion_tokens":
			s.Once(&seen, 1)
			ch.completion = s.count()
		case "prompt_tokens_details":
			s.Once(&seen, 2)
			if s.orNull('{') {
				s.details(ch)
			}
		default:
			s.pass(key)
		}
	}
}

func (s *scanner) details(ch *chunk) {
	var seen jsonscan.Seen
	for s.Open('{'); s.More('}'); {
		if key := s.Key(); string(key) != "cached_tokens" {
			s.pass(key)
			continue
		}
		s.Once(&seen, 0)
		ch.cached = s.count()
	}
}

// pass passes over the value of an unknown key, but is unsure of one that
// encoding/json might fold into a known one.
func (s *scanner) pass(key []byte) {
	for _, c := range key {
		if c >= 0x80 || c >= 'A' && c <= 'Z' {
			s.Fail()
		}
	}
	s.Skip()
}

// nothing takes null, and is unsure of all else.
func (s *scanner) nothing() {
	if !s.Null() {
		s.Fail()
	}
}

// orNull reports whether what comes begins with c, and otherwise takes null.
func (s *scanner) orNull(c byte) bool {
	if s.Peek() == c {
		return true
	}
	s.nothing()
	return false
}

// nonEmpty takes a string or null and sets *is when it is a string that is not "".
func (s *scanner) nonEmpty(is *bool) {
	if s.orNull('"') && len(s.Value().Raw) > len(`""`) {
		*is = true
	}
}

// count takes a whole number, or null, which is unknown.
func (s *scanner) count() (n traces.Opt[int32]) {
	if s.Null() {
		return n
	}
	v := s.Uint()
	if v > math.MaxInt32 {
		s.Fail()
	}
	return traces.Some(int32(v))
}
