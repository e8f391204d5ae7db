package openai

import (
	"bytes"
	"encoding/json"
	"slices"

	"wavetank/traces/jsonscan"
)

// speaks tells whether a kept body is one of an API. A gateway's log has those of
// others too, and a server's answer to them is no measurement: Gemini's have contents
// for messages, and in Converse's messages no part has a type.
var speaks = map[API]func(body []byte) bool{
	Chat:        func(body []byte) bool { return hasField(body, "messages", messages) },
	Completions: func(body []byte) bool { return hasField(body, "prompt", (*jsonscan.Scanner).Skip) },
}

// hasField tells whether body is a JSON object with a field that take takes.
func hasField(body []byte, name string, take func(*jsonscan.Scanner)) bool {
	has, s := false, jsonscan.New(body)
	for s.Open('{'); s.More('}'); {
		if string(s.Key()) != name {
			s.Skip()
			continue
		}
		has = true
		take(&s)
	}
	return has && s.End()
}

func messages(s *jsonscan.Scanner) {
	for s.Open('['); s.More(']'); {
		hasRole := false
		for s.Open('{'); s.More('}'); {
			switch string(s.Key()) {
			case "role":
				hasRole = len(s.Text()) > 0
			case "content":
				parts(s)
			default:
				s.Skip()
			}
		}
		if !hasRole {
			s.Fail()
		}
	}
}

func parts(s *jsonscan.Scanner) {
	if s.Peek() != '[' {
		s.Skip()
		return
	}
	for s.Open('['); s.More(']'); {
		hasType := false
		for s.Open('{'); s.More('}'); {
			hasType = string(s.Key()) == "type" || hasType
			s.Skip()
		}
		if !hasType {
			s.Fail()
		}
	}
}

// renameModel puts name in place of the value of a JSON object's "model", and
// leaves every other byte as it is. An object without one stays so.
func renameModel(body []byte, name string) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	if _, err := d.Token(); err != nil {
		return nil, errBody
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, errModel
	}
	for name != "" && d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, errBody
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errBody
		}
		if end := d.InputOffset(); key == "model" {
			return slices.Concat(body[:end-int64(len(value))], quoted, body[end:]), nil
		}
	}
	return body, nil
}
