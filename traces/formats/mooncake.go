package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"wavetank/traces"
)

// mooncake reads Mooncake traces. An id stands for the whole prefix up to its
// block of 512 tokens and is the same prefix in every row. Memory grows with the
// number of sessions, in the dialect that names them.
var mooncake = Format{
	Name:  "mooncake",
	About: "Mooncake traces: arrivals in ms, lengths, ids of 512-token prefix blocks (JSONL)",
	Sniff: sniffMooncake,
	open:  openMooncake,
}

const (
	mooncakeBlock  = 512
	decimalGrammar = "decimal number"
)

func sniffMooncake(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	return checkMooncake(keys)
}

// checkMooncake takes the keys of the published traces.
func checkMooncake(keys map[string]json.Token) error {
	if err := needKeys(keys, "timestamp", "input_length", "output_length", "hash_ids"); err != nil {
		return err
	}
	if _, ok := keys["chat_id"]; ok {
		return errors.New("the key \"chat_id\" is of the Bailian traces, whose times are seconds and whose blocks are 16 tokens")
	}
	for _, name := range []string{"session_id", "request_id", "delay", "delay_ms"} {
		if _, ok := keys[name]; ok {
			return fmt.Errorf("the key %q is of a dialect with sessions", name)
		}
	}
	if keys["hash_ids"] != json.Delim('[') {
		return errors.New("the key \"hash_ids\" does not hold a list")
	}
	if _, ok := keys["timestamp"].(float64); !ok {
		return errors.New("the key \"timestamp\" does not hold a number")
	}
	return nil
}

func openMooncake(in *input, o *Options) (parser, error) {
	if err := o.onlyGeneric("mooncake"); err != nil {
		return nil, err
	}
	in.meta.BlockTokens, in.meta.BlockScope = mooncakeBlock, traces.ScopeGlobal
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "ms", decimalGrammar
	in.inOrder = make(turns).count
	in.fork = func(in *input) parser {
		m := new(moonRow)
		return func(row []byte, rec *traces.Record) error { return m.parse(in, row, rec) }
	}
	return in.fork(in), nil
}

// A moonRow is a row taken apart. Its fields alias the row.
type moonRow struct {
	stamp, input, output, session []byte

	runs    []traces.BlockRun
	ids     int
	haveIDs bool

	sessions words
}

func (m *moonRow) parse(in *input, row []byte, rec *traces.Record) error {
	if !m.scan(row) {
		if err := m.unmarshal(row); err != nil {
			return err
		}
	}
	if err := m.fill(rec); err != nil {
		return err
	}
	m.check(in, rec.PromptTokens.V)
	return inField("session_id", m.sessions.set(&rec.Session, m.session))
}

func (m *moonRow) reset() { *m = moonRow{runs: m.runs[:0], sessions: m.sessions} }

// resetIDs starts the list of ids, and once more if a row has it twice.
func (m *moonRow) resetIDs() { m.runs, m.ids, m.haveIDs = m.runs[:0], 0, true }

// add appends an id to the runs.
func (m *moonRow) add(id uint64) {
	m.ids++
	if n := len(m.runs); n > 0 {
		// The id 0 follows on no other, though 2^64-1 plus one is 0.
		if last := &m.runs[n-1]; last.Start+uint64(last.Len) == id && id > 0 {
			last.Len++
			return
		}
	}
	m.runs = append(m.runs, traces.BlockRun{Start: id, Len: 1})
}

func (m *moonRow) fill(rec *traces.Record) error {
	ns, err := parseDecimal(m.stamp, 1e6)
	if err != nil {
		return inField("timestamp", err)
	}
	rec.Arrival = time.Duration(ns)
	if err := setTokens(&rec.PromptTokens, m.input); err != nil {
		return inField("input_length", err)
	}
	if err := setTokens(&rec.OutputTokens, m.output); err != nil {
		return inField("output_length", err)
	}
	if m.haveIDs {
		rec.Blocks = append(make([]traces.BlockRun, 0, len(m.runs)), m.runs...)
	}
	return nil
}

// check counts rows whose ids do not cover their prompt.
func (m *moonRow) check(in *input, prompt int32) {
	switch {
	case !m.haveIDs:
		in.warn("no hash_ids")
	case m.ids != (int(prompt)+mooncakeBlock-1)/mooncakeBlock:
		in.warn("the number of hash_ids is not input_length/512, rounded up: are the blocks of another size?")
	}
}

// unmarshal takes apart what scan does not: dialects with more keys, escapes,
// numbers in quotes.
func (m *moonRow) unmarshal(row []byte) error {
	m.reset()
	var v struct {
		Timestamp    json.RawMessage `json:"timestamp"`
		InputLength  json.RawMessage `json:"input_length"`
		OutputLength json.RawMessage `json:"output_length"`
		SessionID    json.RawMessage `json:"session_id"`
		HashIDs      *[]uint64       `json:"hash_ids"`
	}
	if err := json.Unmarshal(row, &v); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field != "" {
			return inField(kind.Field, rejectf(BadValue, "a %s where a list of ids must be", kind.Value))
		}
		return rejectf(BadJSON, "%w", err)
	}
	m.stamp, m.input, m.output, m.session = unquote(v.Timestamp), unquote(v.InputLength), unquote(v.OutputLength), unquote(v.SessionID)
	if v.HashIDs == nil {
		return nil
	}
	m.resetIDs()
	for _, id := range *v.HashIDs {
		m.add(id)
	}
	return nil
}

// unquote returns the text of a JSON string, and any other value as it is written.
func unquote(raw json.RawMessage) []byte {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	return raw
}
