package formats

import (
	"bytes"
	"container/list"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"wavetank/traces"
)

// sglang reads what SGLang writes with --log-requests --log-requests-format json:
// a line when a request is received and one when it is finished. The line of the
// end has no start in it, but the latency.
//
// Memory grows with the number of sessions, in logs that name them.
var sglang = Format{
	Name:     "sglang",
	About:    "SGLang request logs in JSON: received and finished, joined by rid (JSONL)",
	Sniff:    sniffSGLang,
	document: openSGLang,
}

// maxPending bounds the requests that were received and not finished so far. Some
// never are: the client hung up, or the log leaves out requests that were fast.
const maxPending = 1 << 16

func sniffSGLang(head []byte) error {
	for line := range bytes.Lines(head) {
		keys, err := sniffKeys(line)
		if err == nil && (keys["event"] == "request.received" || keys["event"] == "request.finished") {
			return nil
		}
	}
	return errors.New("no line is a JSON object whose \"event\" is request.received or request.finished")
}

type sglangRow struct {
	Timestamp string          `json:"timestamp"`
	Event     string          `json:"event"`
	RID       json.RawMessage `json:"rid"` // of a batch, a list
	Obj       struct {
		Stream   *bool           `json:"stream"`
		Sampling json.RawMessage `json:"sampling_params"`
		Session  json.RawMessage `json:"session_params"`
	} `json:"obj"`
	Out struct {
		Meta sglangMeta `json:"meta_info"`
	} `json:"out"`
}

type sglangMeta struct {
	Prompt  json.RawMessage `json:"prompt_tokens"`
	Output  json.RawMessage `json:"completion_tokens"`
	Cached  json.RawMessage `json:"cached_tokens"`
	Latency json.RawMessage `json:"e2e_latency"`
	Queue   json.RawMessage `json:"queue_time"`
	Ended   json.RawMessage `json:"request_finished_ts"` // since the Unix epoch
	Finish  json.RawMessage `json:"finish_reason"`
}

type sglangLog struct {
	in      *input
	turns   turns
	pending map[string]*list.Element
	order   *list.List // of traces.Record, by arrival
	events  int64
}

var sglangEvents = map[string]func(*sglangLog, *sglangRow, int64, *outlet) error{
	"request.received": (*sglangLog).received,
	"request.finished": (*sglangLog).finished,
}

func openSGLang(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("sglang"); err != nil {
		return document{}, err
	}
	in.absolute = true
	in.meta.Vantage = "server"
	in.source.Stamps = "start and end"
	l := newSGLang(in)
	return document{parse: l.parse, finish: l.finish}, nil
}

func newSGLang(in *input) *sglangLog {
	return &sglangLog{in: in, turns: make(turns), pending: make(map[string]*list.Element), order: list.New()}
}

func (l *sglangLog) parse(line []byte, out *outlet) error {
	if !looksLikeJSON(line) {
		// The log may go to standard output, among all else that the server says there.
		out.skip(1)
		return nil
	}
	var row sglangRow
	if err := decodeRow(line, &row); err != nil {
		return err
	}
	handle := sglangEvents[row.Event]
	if handle == nil {
		out.skip(1)
		return nil
	}
	l.events++
	stamp, err := l.in.stamp("timestamp", row.Timestamp)
	if err != nil {
		return err
	}
	return handle(l, &row, stamp, out)
}

// received holds a request back until it is finished. A batch is received in one
// line and finished in as many as it has requests, so that its line counts as many rows.
func (l *sglangLog) received(row *sglangRow, stamp int64, out *outlet) error {
	rids, err := row.rids()
	if err != nil {
		return err
	}
	for _, rid := range rids {
		if isHealthCheck(rid) {
			out.skip(1)
			continue
		}
		rec, err := l.record(row, rid, stamp)
		if err != nil {
			return err
		}
		l.lose(rid, out) // whoever names requests may use a name twice
		if len(l.pending) >= maxPending {
			l.lose(l.order.Front().Value.(traces.Record).ID.V, out)
		}
		rec.SourceRow = traces.Some(uint64(l.in.lines.start))
		l.pending[rid] = l.order.PushBack(rec)
	}
	return nil
}

// lose emits a request that was received, if it is pending, as one whose end is not known.
func (l *sglangLog) lose(rid string, out *outlet) {
	if e := l.take(rid); e != nil {
		out.emit(e.Value.(traces.Record))
	}
}

func (l *sglangLog) take(rid string) *list.Element {
	e := l.pending[rid]
	if e != nil {
		delete(l.pending, rid)
		l.order.Remove(e)
	}
	return e
}

func (l *sglangLog) finished(row *sglangRow, stamp int64, out *outlet) error {
	rids, err := row.rids()
	if err != nil {
		return err
	}
	if len(rids) != 1 {
		return inField("rid", rejectf(BadValue, "%d requests in one line that tells of the end of one", len(rids)))
	}
	if isHealthCheck(rids[0]) {
		out.skip(1)
		return nil
	}
	latency := l.in.elapsed("e2e_latency", row.Out.Meta.Latency, time.Second)
	var rec traces.Record
	if e := l.pending[rids[0]]; e != nil {
		rec = e.Value.(traces.Record)
	} else if !latency.Known {
		return inField("out.meta_info.e2e_latency", rejectf(MissingField, "the request was not seen to arrive, and nothing tells how long it took"))
	} else if rec, err = l.record(row, rids[0], stamp-int64(latency.V)); err != nil {
		return err
	}
	rec.Outcome.End = latency
	if err := row.Out.Meta.fill(l.in, &rec); err != nil {
		return err
	}
	if l.take(rids[0]) != nil {
		out.merge(1)
	}
	if ended, err := parseDecimal(row.Out.Meta.Ended, 1e9); err == nil && time.Duration(stamp-ended).Abs() > 10*time.Minute {
		l.in.warn("the line's time is far from its request_finished_ts: times without a zone are not of the zone that they are read in (--tz)")
	}
	rec.SourceRow = traces.Some(uint64(l.in.lines.start))
	out.emit(rec)
	return nil
}

// record makes a request of what both lines say of it.
func (l *sglangLog) record(row *sglangRow, rid string, arrival int64) (traces.Record, error) {
	var rec traces.Record
	rec.Arrival, rec.ID = time.Duration(arrival), traces.Some(rid)
	if row.Obj.Stream != nil {
		rec.Stream = traces.Some(*row.Obj.Stream)
	}
	var session struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(row.Obj.Session, &session) == nil && session.ID != "" {
		if err := l.turns.set(&rec, []byte(session.ID)); err != nil {
			return rec, err
		}
	}
	return rec, setSampling(&rec, row.Obj.Sampling)
}

// setSampling takes sampling_params apart. The lowest level of the log leaves them
// out, and those of a batch are a list, which is of no one request.
func setSampling(rec *traces.Record, raw json.RawMessage) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	rec.Params = sampling(fields)
	return setCount(&rec.MaxTokens, "obj.sampling_params.max_new_tokens", fields["max_new_tokens"])
}

func (m *sglangMeta) fill(in *input, rec *traces.Record) error {
	err := errors.Join(
		setCount(&rec.PromptTokens, "out.meta_info.prompt_tokens", m.Prompt),
		setCount(&rec.OutputTokens, "out.meta_info.completion_tokens", m.Output),
		setCount(&rec.Outcome.CachedTokens, "out.meta_info.cached_tokens", m.Cached))
	if err != nil {
		return err
	}
	usageSeen(rec)
	rec.Outcome.Queue = in.elapsed("queue_time", m.Queue, time.Second)
	var finish struct {
		Type string `json:"type"`
		Code int    `json:"status_code"`
	}
	if json.Unmarshal(m.Finish, &finish) != nil {
		return nil
	}
	setFinish(rec, finish.Type)
	if finish.Type != "abort" {
		return nil
	}
	rec.Outcome.Status = traces.Cancelled
	if finish.Code >= 400 {
		setHTTPFailure(&rec.Outcome, finish.Code)
	}
	return nil
}

func (l *sglangLog) finish(out *outlet) error {
	if l.events == 0 {
		return &SyntaxError{File: l.in.name, Err: errors.New("no line tells of a request: it takes --log-requests and --log-requests-format json")}
	}
	for l.order.Len() > 0 {
		l.lose(l.order.Front().Value.(traces.Record).ID.V, out)
	}
	return nil
}

// rids returns the names of the requests that a line is about.
func (r *sglangRow) rids() ([]string, error) {
	var one string
	if json.Unmarshal(r.RID, &one) == nil && one != "" {
		return []string{one}, nil
	}
	var many []string
	if json.Unmarshal(r.RID, &many) == nil && len(many) > 0 {
		return many, nil
	}
	return nil, inField("rid", rejectf(MissingField, "the row does not name its request"))
}

// isHealthCheck tells the requests that a server sends to itself.
func isHealthCheck(rid string) bool { return strings.HasPrefix(rid, "HEALTH_CHECK") }
