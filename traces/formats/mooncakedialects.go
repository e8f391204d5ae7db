package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// aiperf reads Mooncake rows with sessions, as AIPerf and Dynamo's simulator write
// them: later turns have a delay after the answer before them in place of a
// timestamp. What a turn's length is of, a row says by context_mode; one that does
// not is taken for a whole prompt, as Dynamo does. Rows with a text in place of a
// length have unknown prompt tokens.
var aiperf = Format{
	Name:     "aiperf",
	About:    "Mooncake rows with sessions and delays, as of AIPerf and Dynamo (JSONL)",
	Sniff:    sniffAIPerf,
	document: func(in *input, o *Options) (document, error) { return openTurns(in, o, "aiperf", fullDialect) },
}

// mooncakeDelta reads Mooncake rows of which later turns hold new input only.
var mooncakeDelta = Format{
	Name:     "mooncake-delta",
	About:    "Mooncake rows with sessions, whose later turns hold new input only, as of Dynamo (JSONL)",
	Sniff:    sniffDelta,
	document: func(in *input, o *Options) (document, error) { return openTurns(in, o, "mooncake-delta", deltaDialect) },
}

// agenticMooncake reads Mooncake rows that wait for others by request id.
var agenticMooncake = Format{
	Name:  "agentic_mooncake",
	About: "Mooncake rows that wait for one another, as of Dynamo (JSONL)",
	Sniff: sniffAgentic,
	document: func(in *input, o *Options) (document, error) {
		return openTurns(in, o, "agentic_mooncake", graphDialect)
	},
}

// turnKeys are the keys of the dialects' rows: a row with any other is of something else.
var turnKeys = map[string]bool{
	"timestamp": true, "created_time": true, "delay": true, "delay_ms": true, "session_id": true,
	"input_length": true, "input_tokens": true, "output_length": true, "output_tokens": true, "hash_ids": true, "output_token_ids": true,
	"text_input": true, "messages": true, "message_mode": true, "context_mode": true, "tools": true, "payload": true, "extra": true,
	"priority": true, "strict_priority": true, "policy_class": true, "routing_constraints": true,
	"request_id": true, "request_kind": true, "wait_for": true, "branches": true, "prefix_reset": true, "tool_wait_ms": true, "tool_events": true,
}

// sniffTurns takes the first row of any dialect.
func sniffTurns(head []byte) (map[string]json.Token, error) {
	keys, err := sniffKeys(head)
	if err != nil {
		return nil, err
	}
	if checkMooncake(keys) == nil {
		return nil, errors.New("the first row is of the published Mooncake traces")
	}
	for key := range keys {
		if !turnKeys[key] {
			return nil, fmt.Errorf("the first row has the key %q", key)
		}
	}
	for _, key := range []string{"timestamp", "delay"} {
		if _, isText := keys[key].(string); isText {
			return nil, fmt.Errorf("the key %q holds a text", key)
		}
	}
	for _, key := range []string{"input_length", "input_tokens", "text_input", "messages", "payload"} {
		if _, ok := keys[key]; ok {
			return keys, nil
		}
	}
	return nil, errors.New("the first row has neither input_length nor text_input, messages or payload")
}

// sniffSessions takes turns whose order is that of their session.
func sniffSessions(head []byte) (map[string]json.Token, error) {
	keys, err := sniffTurns(head)
	if err == nil && keys["request_id"] != nil {
		err = errors.New("the key \"request_id\" is of rows that may wait for one another")
	}
	return keys, err
}

func sniffAIPerf(head []byte) error {
	keys, err := sniffSessions(head)
	switch {
	case err != nil:
		return err
	case keys["context_mode"] == nil && holdsDeltas(head):
		return errors.New("no later turn of a session begins with the first id of the turn before it: turns hold new input only")
	}
	return nil
}

func sniffDelta(head []byte) error {
	keys, err := sniffSessions(head)
	switch {
	case err != nil:
		return err
	case keys["context_mode"] != nil:
		return errors.New("the key \"context_mode\" tells what a turn holds, as in AIPerf's rows")
	case !holdsDeltas(head):
		return errors.New("no sign in the ids that later turns hold new input only; if they do, name this format")
	}
	return nil
}

func sniffAgentic(head []byte) error {
	keys, err := sniffTurns(head)
	if err == nil && keys["request_id"] == nil {
		return errors.New("the first row lacks the key \"request_id\"")
	}
	return err
}

// holdsDeltas tells whether later turns hold new input only. Rows of both kinds have
// the same keys. But a prompt that contains the one before it begins with the same
// block: if none of the turns in head does, they are no whole prompts.
func holdsDeltas(head []byte) bool {
	first := make(map[string]uint64)
	later := 0
	for line := range bytes.Lines(head) {
		var v turnRow
		if decodeRow(line, &v) != nil || len(v.HashIDs.runs) == 0 {
			continue
		}
		session, id := string(unquote(v.Session)), v.HashIDs.runs[0].Start
		if before, ok := first[session]; ok && session != "" {
			if before == id {
				return false
			}
			later++
		}
		first[session] = id
	}
	return later > 0
}
