package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/fnv"
	"strconv"
	"time"

	"wavetank/traces"
)

// dynamo reads Dynamo's request traces. Its hashes of prefixes are 64 bits at
// random; they are numbered by first appearance, so that the new blocks of a
// prompt are one run. The numbers start at one that is the file's own: numbers from
// 0 would make equal prefixes of different ones where the shards of a trace are
// merged.
//
// Memory grows with the number of different blocks, and of sessions.
var dynamo = Format{
	Name:     "dynamo",
	About:    "Dynamo request traces, dynamo.request.trace.v1 (JSONL)",
	Sniff:    sniffDynamo,
	document: openDynamo,
}

const dynamoSchema = "dynamo.request.trace.v1"

func sniffDynamo(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	if keys["schema"] == dynamoSchema {
		return nil
	}
	// What is in the envelope may be longer than head.
	if keys["event"] == json.Delim('{') && bytes.Contains(firstLine(head), []byte(dynamoSchema)) {
		return nil
	}
	return errors.New("the first row is no event of schema " + dynamoSchema)
}

type dynamoRow struct {
	Schema string          `json:"schema"`
	Type   string          `json:"event_type"`
	Time   json.RawMessage `json:"event_time_unix_ms"`
	Agent  struct {
		Session string `json:"session_id"`
		Parent  string `json:"parent_session_id"`
	} `json:"agent_context"`
	Request *dynamoRequest  `json:"request"`
	Event   json.RawMessage `json:"event"` // of the envelope that some sinks put around an event
}

type dynamoRequest struct {
	ID       string          `json:"request_id"`
	Model    string          `json:"model"`
	Received json.RawMessage `json:"request_received_ms"`
	Input    json.RawMessage `json:"input_tokens"`
	Output   json.RawMessage `json:"output_tokens"`
	Cached   json.RawMessage `json:"cached_tokens"`
	Wait     json.RawMessage `json:"prefill_wait_time_ms"`
	Prefill  json.RawMessage `json:"prefill_time_ms"`
	TTFT     json.RawMessage `json:"ttft_ms"`
	Total    json.RawMessage `json:"total_time_ms"`
	Worker   struct {
		Prefill *uint64 `json:"prefill_worker_id"`
		Decode  *uint64 `json:"decode_worker_id"`
	} `json:"worker"`
	Finish struct {
		Reason string `json:"finish_reason"`
	} `json:"finish_reason_metadata"`
	Replay *dynamoReplay `json:"replay"`
}

type dynamoReplay struct {
	BlockSize int32           `json:"trace_block_size"`
	Input     json.RawMessage `json:"input_length"`
	Hashes    []uint64        `json:"input_sequence_hashes"`
}

// unwrap takes the envelope off.
func (r *dynamoRow) unwrap() error {
	if r.Schema != "" || len(r.Event) == 0 {
		return nil
	}
	event := r.Event
	*r = dynamoRow{}
	return decodeRow(event, r)
}

type dynamoLog struct {
	in       *input
	turns    turns
	base     uint64
	ids      map[uint64]uint64
	sessions map[string]dynamoEnd
}

// A dynamoEnd is the last request of a session that ended so far.
type dynamoEnd struct {
	seq uint64
	at  int64
}

func openDynamo(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("dynamo"); err != nil {
		return document{}, err
	}
	in.absolute = true
	in.meta.Vantage = "server"
	in.meta.BlockScope = traces.ScopeGlobal
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "ms", decimalGrammar
	l := &dynamoLog{in: in, turns: make(turns), ids: make(map[uint64]uint64), sessions: make(map[string]dynamoEnd)}
	return document{parse: l.parse}, nil
}

func (l *dynamoLog) parse(line []byte, out *outlet) error {
	if l.base == 0 {
		l.base = ownNumber(line)
	}
	var row dynamoRow
	if err := decodeRow(line, &row); err != nil {
		return err
	}
	if err := row.unwrap(); err != nil {
		return err
	}
	switch {
	case row.Schema == "":
		return inField("schema", rejectf(MissingField, "the row does not tell its schema"))
	case row.Schema != dynamoSchema:
		return inField("schema", rejectf(BadValue, "%q is not %s", clip(row.Schema), dynamoSchema))
	case row.Type != "request_end": // tools, and payloads, which are of requests that have a row of their own
		out.skip(1)
		return nil
	case row.Request == nil:
		return inField("request", rejectf(MissingField, "a request_end without its request"))
	}
	rec, err := l.record(&row)
	if err != nil {
		return err
	}
	if err := l.session(&row, &rec, out.seq()); err != nil {
		return err
	}
	out.emit(rec)
	return nil
}

func (l *dynamoLog) record(row *dynamoRow) (rec traces.Record, err error) {
	q := row.Request
	o := &rec.Outcome
	rec.ID = textOf(q.ID)
	rec.Model = textOf(q.Model)
	o.End = l.in.elapsed("total_time_ms", q.Total, time.Millisecond)
	o.FirstToken = l.in.elapsed("ttft_ms", q.TTFT, time.Millisecond)
	o.Queue = l.in.elapsed("prefill_wait_time_ms", q.Wait, time.Millisecond)
	o.Prefill = l.in.elapsed("prefill_time_ms", q.Prefill, time.Millisecond)
	if err := row.arrive(&rec); err != nil {
		return rec, err
	}
	err = errors.Join(
		setCount(&rec.PromptTokens, "request.input_tokens", q.Input),
		setCount(&rec.OutputTokens, "request.output_tokens", q.Output),
		setCount(&o.CachedTokens, "request.cached_tokens", q.Cached),
		l.blocks(q.Replay, &rec))
	if err != nil {
		return rec, err
	}
	usageSeen(&rec)
	setFinish(&rec, q.Finish.Reason)
	for _, id := range []*uint64{q.Worker.Prefill, q.Worker.Decode} {
		if id != nil {
			o.Worker = traces.Some(strconv.FormatUint(*id, 10))
		}
	}
	return rec, nil
}

// arrive sets the arrival, and where only it and the end are known, the duration.
func (r *dynamoRow) arrive(rec *traces.Record) error {
	received, ended := unquote(r.Request.Received), unquote(r.Time)
	if isUnknown(received) && (isUnknown(ended) || !rec.Outcome.End.Known) {
		return inField("request.request_received_ms", rejectf(MissingField, "nothing tells when the request came"))
	}
	end, err := parseDecimal(ended, 1e6)
	if err != nil && !isUnknown(ended) {
		return inField("event_time_unix_ms", err)
	}
	start := end - int64(rec.Outcome.End.V)
	if !isUnknown(received) {
		if start, err = parseDecimal(received, 1e6); err != nil {
			return inField("request.request_received_ms", err)
		}
	}
	if !sinceEpoch(start) {
		return inField("request.request_received_ms", rejectf(BadTime, "the request came at no wall clock of this century"))
	}
	rec.Arrival = time.Duration(start)
	if !isUnknown(ended) && !rec.Outcome.End.Known {
		rec.Outcome.End = since(start, end)
	}
	return nil
}

// blocks numbers the hashes. The first row decides on the size of blocks: ids of
// another size say nothing about equal prefixes.
func (l *dynamoLog) blocks(r *dynamoReplay, rec *traces.Record) error {
	if r == nil {
		return nil
	}
	if !rec.PromptTokens.Known {
		if err := setCount(&rec.PromptTokens, "request.replay.input_length", r.Input); err != nil {
			return err
		}
	}
	if r.Hashes == nil || r.BlockSize <= 0 {
		return nil
	}
	if l.in.meta.BlockTokens == 0 {
		l.in.meta.BlockTokens = r.BlockSize
	}
	size := int64(l.in.meta.BlockTokens)
	if int64(r.BlockSize) != size {
		l.in.warn("blocks of another size than the first row's are left out")
		return nil
	}
	if int64(len(r.Hashes)) != (int64(rec.PromptTokens.V)+size-1)/size {
		l.in.warn("the number of hashes is not that of the prompt's blocks, rounded up")
	}
	rec.Blocks = []traces.BlockRun{}
	for _, hash := range r.Hashes {
		rec.Blocks = appendBlock(rec.Blocks, l.id(hash))
	}
	return nil
}

func (l *dynamoLog) id(hash uint64) uint64 {
	id, ok := l.ids[hash]
	if !ok {
		id = l.base + uint64(len(l.ids))
		l.ids[hash] = id
	}
	return id
}

// ownNumber makes a number of the first row, which has a time and a request's id
// in it. It has 52 bits, so that tools that read ids as floats do not ruin them.
func ownNumber(row []byte) uint64 {
	h := fnv.New64a()
	h.Write(row)
	return h.Sum64()>>12 | 1
}

// appendBlock adds an id to runs.
func appendBlock(runs []traces.BlockRun, id uint64) []traces.BlockRun {
	if n := len(runs); n > 0 && runs[n-1].Start+uint64(runs[n-1].Len) == id {
		runs[n-1].Len++
		return runs
	}
	return append(runs, traces.BlockRun{Start: id, Len: 1})
}

// session numbers the turn. The first of a session that another one spawned waits
// for what that one had ended last; for which of its later requests the parent
// waited, no row tells.
func (l *dynamoLog) session(row *dynamoRow, rec *traces.Record, seq uint64) error {
	if row.Agent.Session == "" {
		return nil
	}
	if err := l.turns.set(rec, []byte(row.Agent.Session)); err != nil {
		return inField("agent_context.session_id", err)
	}
	start := int64(rec.Arrival)
	last, seen := l.sessions[row.Agent.Session]
	if !seen {
		if last, seen = l.sessions[row.Agent.Parent]; seen && last.at <= start {
			rec.After = []uint64{last.seq}
		}
	}
	if seen {
		rec.Think = since(last.at, start)
	}
	delete(l.sessions, rec.Session.V)
	if rec.Outcome.End.Known {
		l.sessions[rec.Session.V] = dynamoEnd{seq, start + int64(rec.Outcome.End.V)}
	}
	return nil
}
