package openai

// scan reads a plain chunk in place, at a small part of what encoding/json takes.
// sure is false when anything is not as plain as expected, and then nothing is
// said: not even whether data is JSON.
func scan(data []byte) (ch chunk, sure bool) {
	s := scanner{data: data}
	var seen fields
	for s.open('{'); s.more('}'); {
		switch string(s.key()) {
		case "choices":
			s.once(&seen, 0)
			if s.orNull('[') {
				for s.open('['); s.more(']'); {
					s.choice(&ch)
				}
			}
		case "usage":
			s.once(&seen, 1)
			if s.orNull('{') {
				s.usage(&ch)
			}
		case "error":
			s.once(&seen, 2)
			s.literal("null")
		case "object":
			s.once(&seen, 3)
			if string(s.text()) == "error" {
				s.unsure = true
			}
		default:
			s.skip()
		}
	}
	return ch, s.ended()
}

func (s *scanner) choice(ch *chunk) {
	var seen fields
	for s.open('{'); s.more('}'); {
		switch string(s.key()) {
		case "delta":
			s.once(&seen, 0)
			s.message(ch)
		case "message":
			s.once(&seen, 1)
			s.message(ch)
		case "text":
			s.once(&seen, 2)
			s.nonEmpty(&ch.output)
		case "finish_reason":
			s.once(&seen, 3)
			if !s.orNull('"') {
				continue
			}
			if reason := s.text(); len(reason) > 0 {
				ch.finish = string(reason)
			}
		default:
			s.skip()
		}
	}
}

func (s *scanner) message(ch *chunk) {
	if !s.orNull('{') {
		return
	}
	var seen fields
	for s.open('{'); s.more('}'); {
		switch string(s.key()) {
		case "content":
			s.once(&seen, 0)
			s.nonEmpty(&ch.output)
		case "refusal":
			s.once(&seen, 1)
			s.nonEmpty(&ch.output)
		case "reasoning":
			s.once(&seen, 2)
			s.nonEmpty(&ch.reasoning)
		case "reasoning_content":
			s.once(&seen, 3)
			s.nonEmpty(&ch.reasoning)
		case "tool_calls":
			s.once(&seen, 4)
			s.literal("null")
		default:
			s.skip()
		}
	}
}

func (s *scanner) usage(ch *chunk) {
	ch.hasUsage = true
	var seen fields
	for s.open('{'); s.more('}'); {
		switch string(s.key()) {
		case "prompt_tokens":
			s.once(&seen, 0)
			ch.prompt = s.number()
		case "completion_tokens":
			s.once(&seen, 1)
			ch.completion = s.number()
		case "prompt_tokens_details":
			s.once(&seen, 2)
			if s.orNull('{') {
				s.details(ch)
			}
		default:
			s.skip()
		}
	}
}

func (s *scanner) details(ch *chunk) {
	var seen fields
	for s.open('{'); s.more('}'); {
		if string(s.key()) != "cached_tokens" {
			s.skip()
			continue
		}
		s.once(&seen, 0)
		ch.cached = s.number()
	}
}
