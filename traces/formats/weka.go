package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"wavetank/traces"
)

// weka reads the coding-agent sessions of kv-cache-tester, one JSON object each,
// and collections of them, one a line. Nobody recorded when a session began, so
// that all of them start at 0. Ids mean something inside one session only, its
// subagents included; they stay as they are. So that this holds, a subagent's
// requests are of its session, and After says what waits for what. A session is
// held in memory.
var weka = Format{
	Name:     "weka",
	About:    "kv-cache-tester coding-agent sessions with subagents (JSON, or one a line)",
	Sniff:    sniffWeka,
	document: openWeka,
}

func sniffWeka(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	if err := needKeys(keys, "id", "block_size", "requests"); err != nil {
		return err
	}
	if keys["requests"] != json.Delim('[') {
		return errors.New("the key \"requests\" does not hold a list")
	}
	return nil
}

type wekaSession struct {
	ID        string            `json:"id"`
	BlockSize int32             `json:"block_size"`
	Scope     string            `json:"hash_id_scope"`
	Compact   string            `json:"scope"` // of our own compaction
	Requests  []json.RawMessage `json:"requests"`
}

type wekaRequest struct {
	Type    string          `json:"type"`
	T       json.RawMessage `json:"t"`
	Model   string          `json:"model"`
	In      json.RawMessage `json:"in"`
	Out     json.RawMessage `json:"out"`
	Stop    string          `json:"stop"`
	APITime json.RawMessage `json:"api_time"`
	Think   json.RawMessage `json:"think_time"`
	TTFT    json.RawMessage `json:"ttft"`
	HashIDs blockIDs        `json:"hash_ids"`
	Runs    [][2]uint64     `json:"runs"` // of our own compaction: first id and how many follow

	Status   string            `json:"status"` // of a subagent
	Requests []json.RawMessage `json:"requests"`
}

// wekaScopes are the scopes of ids, by their names in the files.
var wekaScopes = map[string]string{"local": traces.ScopeSession, "global": traces.ScopeGlobal}

type wekaLog struct {
	in    *input
	words words
}

func openWeka(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("weka"); err != nil {
		return document{}, err
	}
	if o.MaxLine == defaultMaxLine {
		in.lines.max = maxDocument // a session is one line, and the long ones are what these files are about
	}
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "s", decimalGrammar
	in.meta.Notes = []string{"arrivals count from each session's own start, which nobody recorded: all sessions start at once"}
	w := &wekaLog{in: in}
	return document{parse: w.parse}, nil
}

func (w *wekaLog) parse(doc []byte, out *outlet) error {
	var v wekaSession
	if err := decodeRow(doc, &v); err != nil {
		return err
	}
	if err := w.setScope(&v); err != nil {
		return err
	}
	s := &wekaTree{log: w, out: out}
	if err := s.main(v.Requests); err != nil {
		return err
	}
	for turn, rec := range s.ordered(out.seq()) {
		rec.Session, rec.Turn = traces.Some(v.ID), traces.Some(int32(turn))
		out.emit(rec)
	}
	return nil
}

// setScope notes what is true of the whole log, and rejects a session that differs.
func (w *wekaLog) setScope(v *wekaSession) error {
	scope, ok := wekaScopes[v.Scope+v.Compact]
	switch {
	case v.ID == "":
		return inField("id", rejectf(MissingField, "the session has no name"))
	case !ok:
		return inField("hash_id_scope", rejectf(BadValue, "%q is neither local nor global", clip(v.Scope)))
	case v.BlockSize <= 0:
		return inField("block_size", rejectf(BadNumber, "%d tokens a block", v.BlockSize))
	}
	m := &w.in.meta
	if m.BlockTokens == 0 {
		m.BlockTokens, m.BlockScope = v.BlockSize, scope
	}
	if m.BlockTokens != v.BlockSize || m.BlockScope != scope {
		return inField("block_size", rejectf(BadValue, "blocks of %d tokens, scope %s, where the first session has %d, %s: convert them apart",
			v.BlockSize, scope, m.BlockTokens, m.BlockScope))
	}
	return nil
}

// request makes a record of a request whose times count from zero.
func (w *wekaLog) request(v *wekaRequest, zero int64) (wekaNode, error) {
	var n wekaNode
	t, err := parseRounded(unquote(v.T), 1e9)
	if err != nil {
		return n, inField("t", err)
	}
	n.start, n.rec.Arrival = zero+t, time.Duration(zero+t)
	if err := setTokens(&n.rec.PromptTokens, unquote(v.In)); err != nil {
		return n, inField("in", err)
	}
	if err := setTokens(&n.rec.OutputTokens, unquote(v.Out)); err != nil {
		return n, inField("out", err)
	}
	for _, d := range []struct {
		field string
		raw   json.RawMessage
		to    *traces.Opt[time.Duration]
	}{
		{"api_time", v.APITime, &n.rec.Outcome.End}, {"ttft", v.TTFT, &n.rec.Outcome.FirstToken}, {"think_time", v.Think, &n.think},
	} {
		if err := setSeconds(d.to, d.raw); err != nil {
			return n, inField(d.field, err)
		}
	}
	if err := w.words.set(&n.rec.Model, []byte(v.Model)); err != nil {
		return n, inField("model", err)
	}
	n.rec.App, n.rec.Stream = traces.Some("coding-agent"), traces.Some(v.Type == "s")
	if err := w.setBlocks(&n.rec, v); err != nil {
		return n, err
	}
	w.setStop(&n.rec, v.Stop)
	return n, nil
}

// setStop takes a stop reason for a whole answer. Without one nobody knows: streams
// that were given up have none, and neither have many that were not.
func (w *wekaLog) setStop(rec *traces.Record, stop string) {
	if stop != "" {
		rec.Outcome.Status, rec.Outcome.FinishReason = traces.OK, traces.Some(stop)
		return
	}
	if rec.OutputTokens.V == 0 {
		w.in.warn("neither output nor a stop reason: given up, or failed")
	}
}

func (w *wekaLog) setBlocks(rec *traces.Record, v *wekaRequest) error {
	runs, n := v.HashIDs.runs, uint64(v.HashIDs.n)
	for _, run := range v.Runs {
		if run[1] == 0 || run[1] > maxTokens || run[0]+run[1] < run[0] {
			return inField("runs", rejectf(BadValue, "%d ids from %d", run[1], run[0]))
		}
		runs, n = appendRun(runs, run[0], uint32(run[1])), n+run[1]
	}
	if v.HashIDs.known || v.Runs != nil {
		rec.Blocks = append([]traces.BlockRun{}, runs...) // known, be there none
	}
	if n != uint64(rec.PromptTokens.V/w.in.meta.BlockTokens) {
		w.in.warn(fmt.Sprintf("the number of hash_ids is not in/%d, rounded down", w.in.meta.BlockTokens))
	}
	return nil
}

func setSeconds(o *traces.Opt[time.Duration], raw json.RawMessage) error {
	b := unquote(raw)
	if isUnknown(b) {
		return nil
	}
	ns, err := parseRounded(b, 1e9)
	*o = traces.Opt[time.Duration]{V: time.Duration(ns), Known: err == nil}
	return err
}
