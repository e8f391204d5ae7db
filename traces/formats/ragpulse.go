package formats

import (
	"encoding/json"
	"errors"
	"time"

	"wavetank/traces"
)

// ragpulse reads RAGPulse, the trace of a question-answering service, and from the
// files beside it how long the parts of a prompt are. Ids are of parts' contents.
// They do not become prefix blocks: a template puts 6 to 12 tokens between the
// parts, and nobody knows where. Memory grows with sessions and parts.
var ragpulse = Format{
	Name:  "ragpulse",
	About: "RAGPulse, with the lengths of the prompts' parts if its other files are beside it (JSONL)",
	Sniff: sniffRAGPulse,
	open:  openRAGPulse,
}

func sniffRAGPulse(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	if err := needKeys(keys, "timestamp", "input_length", "output_length", "hash_ids"); err != nil {
		return err
	}
	if keys["hash_ids"] != json.Delim('{') {
		return errors.New("the key \"hash_ids\" does not hold an object of lists")
	}
	return nil
}

type ragRow struct {
	Timestamp json.RawMessage     `json:"timestamp"`
	Input     json.RawMessage     `json:"input_length"`
	Output    json.RawMessage     `json:"output_length"`
	Session   json.RawMessage     `json:"session_id"`
	HashIDs   map[string][]uint32 `json:"hash_ids"`
}

type ragLog struct {
	in    *input
	turns turns
	parts []ragPart
	first int64
	last  int64
	rows  int64
}

func openRAGPulse(in *input, o *Options) (parser, error) {
	if err := o.onlyGeneric("ragpulse"); err != nil {
		return nil, err
	}
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "s", decimalGrammar
	parts, err := readRAGParts(in)
	if err != nil {
		return nil, err
	}
	r := &ragLog{in: in, turns: make(turns), parts: parts}
	return r.parse, nil
}

func (r *ragLog) parse(row []byte, rec *traces.Record) error {
	var v ragRow
	if err := decodeRow(row, &v); err != nil {
		return err
	}
	if err := setSizes(rec, v.Timestamp, v.Input, v.Output); err != nil {
		return err
	}
	if session := unquote(v.Session); !isUnknown(session) {
		if err := r.turns.set(rec, session); err != nil {
			return inField("session_id", err)
		}
	}
	rec.App = traces.Some("rag")
	r.setComponents(rec, v.HashIDs)
	r.checkClock(int64(rec.Arrival))
	return nil
}

// disorder is how far a clock may fall back because rows are not in order.
const disorder = int64(time.Minute)

// checkClock tells of a clock that starts anew. It is not cured here: whoever
// unwraps it must know by how much.
func (r *ragLog) checkClock(ns int64) {
	if r.rows == 0 {
		r.first = ns
	}
	if back := r.last - ns; back > disorder && back > (r.last-r.first)/2 {
		r.in.warn("the clock falls back by more than half of what it had run: what follows is of a later period, and overlays the earlier one until it is unwrapped")
	}
	r.last = ns
	r.rows++
}

func (r *ragLog) setComponents(rec *traces.Record, ids map[string][]uint32) {
	if r.parts == nil {
		return
	}
	components := make([]traces.Component, 0, len(r.parts))
	for _, p := range r.parts {
		list, ok := ids[p.key]
		if !ok {
			r.in.warn("hash_ids lacks a part")
			return
		}
		var sum int32
		for _, id := range list {
			n, ok := p.tokens[id]
			if !ok {
				r.in.warn("an id of hash_ids is not in the file of its part")
				return
			}
			sum += n
		}
		if len(list) > 0 {
			components = append(components, traces.Component{Kind: p.kind, Tokens: sum})
		}
	}
	rec.Components = components
}
