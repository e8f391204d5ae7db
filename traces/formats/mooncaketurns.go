package formats

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"time"

	"wavetank/traces"
)

// A turnRow is a row of any Mooncake dialect with sessions.
type turnRow struct {
	ID        json.RawMessage `json:"request_id"`
	Session   json.RawMessage `json:"session_id"`
	Timestamp json.RawMessage `json:"timestamp"`
	Created   json.RawMessage `json:"created_time"`
	Delay     json.RawMessage `json:"delay"`
	DelayMS   json.RawMessage `json:"delay_ms"`
	Input     json.RawMessage `json:"input_length"`
	InTokens  json.RawMessage `json:"input_tokens"`
	Output    json.RawMessage `json:"output_length"`
	OutTokens json.RawMessage `json:"output_tokens"`
	HashIDs   blockIDs        `json:"hash_ids"`
	Context   json.RawMessage `json:"context_mode"`
	WaitFor   []string        `json:"wait_for"`
	ToolWait  json.RawMessage `json:"tool_wait_ms"`

	Extra    map[string]json.RawMessage `json:"extra"`
	Priority json.RawMessage            `json:"priority"`
	Strict   json.RawMessage            `json:"strict_priority"`
	Policy   json.RawMessage            `json:"policy_class"`
}

// The dialects.
const (
	fullDialect    = iota // every turn holds its whole prompt
	deltaDialect          // later turns hold what is new, the answer before them included
	answersDialect        // later turns hold what is new, and the answers come before it
	graphDialect          // rows say what they wait for
)

// contextModes are AIPerf's words for what a turn holds.
var contextModes = map[string]int{
	"message_array_with_responses": fullDialect, "deltas_with_responses": deltaDialect, "deltas_without_responses": answersDialect,
}

type turnLog struct {
	in       *input
	dialect  int
	threads  threads
	requests map[string]awaited
	chain    *chain
	deltas   map[string]*delta
}

// An awaited row is one that others may wait for.
type awaited struct {
	seq uint64
	at  int64
}

func openTurns(in *input, o *Options, name string, dialect int) (document, error) {
	if err := o.onlyGeneric(name); err != nil {
		return document{}, err
	}
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "ms", decimalGrammar
	in.meta.Notes = []string{noteThreads}
	if dialect == deltaDialect {
		in.meta.Notes = append(in.meta.Notes, "a later turn holds new input only: its prompt is all of its session's input so far")
	}
	t := &turnLog{in: in, dialect: dialect, threads: make(threads), requests: make(map[string]awaited), chain: newChain(), deltas: make(map[string]*delta)}
	if dialect != deltaDialect {
		t.chain.blocks = 1 << 62 // apart from the ids of whole prompts in the same log
	}
	return document{parse: t.parse}, nil
}

func (t *turnLog) parse(row []byte, out *outlet) error {
	var v turnRow
	if err := decodeRow(row, &v); err != nil {
		return err
	}
	var rec traces.Record
	if err := t.setTokens(&rec, &v); err != nil {
		return err
	}
	if err := setText(&rec.ID, unquote(v.ID)); err != nil {
		return inField("request_id", err)
	}
	if err := setExtra(&rec, &v); err != nil {
		return err
	}
	dialect, err := t.dialectOf(&v)
	if err != nil {
		return err
	}
	if err := t.setArrival(&rec, &v); err != nil {
		return err
	}
	if rec.ID.Known {
		t.requests[rec.ID.V] = awaited{seq: out.seq(), at: int64(rec.Arrival)}
	}
	if !rec.PromptTokens.Known {
		t.in.warn("a text in place of input_length: count its tokens with the model's own tokenizer")
	}
	if rec.Turn.V > 0 && dialect == fullDialect && v.Context == nil {
		t.in.warn("input_length was taken for a whole prompt: AIPerf, unless context_mode says so, puts the turns and answers before it in front of it")
	}
	t.setBlocks(&rec, &v, dialect)
	out.emit(rec)
	return nil
}

// either returns a field that has two spellings; nil if the row has neither.
func either(a, b json.RawMessage) []byte {
	for _, raw := range []json.RawMessage{a, b} {
		if text := unquote(raw); !isUnknown(text) {
			return text
		}
	}
	return nil
}

func (t *turnLog) setTokens(rec *traces.Record, v *turnRow) error {
	if in := either(v.Input, v.InTokens); in != nil {
		if err := setTokens(&rec.PromptTokens, in); err != nil {
			return inField("input_length", err)
		}
	}
	if output := either(v.Output, v.OutTokens); output != nil {
		return inField("output_length", setTokens(&rec.OutputTokens, output))
	}
	return nil
}

// setExtra keeps what a server is told beside the prompt.
func setExtra(rec *traces.Record, v *turnRow) error {
	params := make(map[string]json.RawMessage)
	for key, raw := range v.Extra {
		params[key] = raw
	}
	for key, raw := range map[string]json.RawMessage{"priority": v.Priority, "strict_priority": v.Strict, "policy_class": v.Policy} {
		if !isUnknown(raw) {
			params[key] = raw
		}
	}
	if len(params) == 0 {
		return nil
	}
	text, err := json.Marshal(params)
	rec.Params = traces.Some(string(text))
	return err
}

// setArrival places a row by its timestamp, or else by what it waits for.
func (t *turnLog) setArrival(rec *traces.Record, v *turnRow) error {
	var session traces.Opt[string]
	if err := setText(&session, unquote(v.Session)); err != nil {
		return inField("session_id", err)
	}
	arrival, err := optionalMS(either(v.Timestamp, v.Created), "timestamp")
	if err != nil {
		return err
	}
	delay, err := optionalMS(either(v.Delay, v.DelayMS), "delay")
	if err != nil {
		return err
	}
	tool, err := optionalMS(unquote(v.ToolWait), "tool_wait_ms")
	if err != nil {
		return err
	}
	think := traces.Opt[time.Duration]{V: time.Duration(delay.V + tool.V), Known: delay.Known || tool.Known}
	switch earliest := t.waitFor(rec, v, think); {
	case !arrival.Known:
		arrival = earliest
	case t.dialect == graphDialect && rec.After == nil:
		rec.After, think = noPredecessor, traces.Opt[time.Duration]{}
	}
	fresh := !session.Known || t.threads[session.V] == nil
	if fresh && !arrival.Known {
		t.in.warn(warnNoArrival)
		arrival = traces.Some[int64](0)
	}
	rec.Arrival = time.Duration(arrival.V)
	if session.Known {
		t.threads.turn(rec, session.V, arrival, think)
	}
	if rec.After != nil {
		rec.Think = think // of what it waits for, which may be of other sessions
	}
	return nil
}

// waitFor sets After, and returns the earliest that what a row waits for allows.
func (t *turnLog) waitFor(rec *traces.Record, v *turnRow, think traces.Opt[time.Duration]) (earliest traces.Opt[int64]) {
	for _, id := range v.WaitFor {
		r, ok := t.requests[id]
		if !ok {
			t.in.warn("they wait for a request that is not before them in the log, and so for one less")
			continue
		}
		rec.After = append(rec.After, r.seq)
		earliest = traces.Some(max(earliest.V, r.at+int64(think.V)))
	}
	return earliest
}

// optionalMS reads a number of milliseconds that a row may lack.
func optionalMS(b []byte, field string) (traces.Opt[int64], error) {
	if isUnknown(b) {
		return traces.Opt[int64]{}, nil
	}
	ns, err := parseRounded(b, 1e6)
	return traces.Opt[int64]{V: ns, Known: err == nil}, inField(field, err)
}

// dialectOf returns what a row's turn holds.
func (t *turnLog) dialectOf(v *turnRow) (int, error) {
	mode := unquote(v.Context)
	if isUnknown(mode) {
		return t.dialect, nil
	}
	dialect, ok := contextModes[string(mode)]
	if !ok {
		return 0, inField("context_mode", rejectf(BadValue, "%q is no context mode", clip(mode)))
	}
	return dialect, nil
}

// setBlocks takes ids as those of prefixes, or chains them to the turns before.
func (t *turnLog) setBlocks(rec *traces.Record, v *turnRow, dialect int) {
	if v.HashIDs.known {
		t.setBlockSize(rec.PromptTokens, v.HashIDs.n)
	}
	if dialect != deltaDialect && dialect != answersDialect {
		rec.Blocks = v.HashIDs.runs
		return
	}
	d := t.deltas[rec.Session.V]
	if d == nil || !rec.Session.Known {
		d = &delta{prefix: chainStart}
		t.deltas[rec.Session.V] = d
	}
	d.add(t.chain, v.HashIDs, rec.PromptTokens, t.in.meta.BlockTokens)
	rec.PromptTokens = d.tokens()
	if !d.broken {
		rec.Blocks = append([]traces.BlockRun{}, d.blocks...)
	}
	if dialect == answersDialect {
		d.answer(t.chain, rec.OutputTokens, t.in.meta.BlockTokens)
	}
}

// setBlockSize finds the tokens of a block, which no row tells: the one power of two
// of which so many ids make so long a prompt, rounded up; 512 if there is none, or
// only one id to see. The first row with ids decides, and rows that contradict it
// are counted.
func (t *turnLog) setBlockSize(prompt traces.Opt[int32], ids int) {
	m := &t.in.meta
	if m.BlockTokens == 0 {
		m.BlockTokens, m.BlockScope = mooncakeBlock, traces.ScopeGlobal
		if prompt.V > 0 && ids > 1 {
			size := int32(1) << bits.Len32(uint32(prompt.V-1)/uint32(ids))
			if blocksOf(prompt.V, size) == ids {
				m.BlockTokens = size
			}
		}
	}
	if prompt.Known && ids != blocksOf(prompt.V, m.BlockTokens) {
		t.in.warn(fmt.Sprintf("the number of hash_ids is not input_length/%d, rounded up", m.BlockTokens))
	}
}

// blocksOf returns how many blocks hold so many tokens.
func blocksOf(tokens, block int32) int { return (int(tokens) + int(block) - 1) / int(block) }
