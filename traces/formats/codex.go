package formats

import (
	"encoding/json"
	"errors"
	"strings"

	"wavetank/traces"
)

// codex reads the rollout files of Codex. The usage of an answer stands in a row of
// its own, once or twice, beside the running total; the session of a subagent may
// begin with a copy of its parent's. Nothing tells when a request was sent: it is
// taken to have left when the last of its input was written.
var codex = Format{
	Name:     "codex",
	About:    "Codex rollout files, ~/.codex/sessions/Y/M/D/rollout-*.jsonl (JSONL)",
	Sniff:    sniffCodex,
	document: openCodex,
}

const codexNote = "codex: times are those at which rows were written; a request is taken to leave when the last of its input was written, and to end with its usage"

func sniffCodex(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	kind, _ := keys["type"].(string)
	if codexRows[kind] == nil || keys["payload"] != json.Delim('{') {
		return errors.New("the first row has no \"payload\" of a \"type\" like session_meta")
	}
	return nil
}

type codexRow struct {
	Time    string          `json:"timestamp"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

type codexUsage struct {
	Input     json.Number `json:"input_tokens"` // cached tokens included
	Cached    json.Number `json:"cached_input_tokens"`
	Output    json.Number `json:"output_tokens"` // reasoning included
	Reasoning json.Number `json:"reasoning_output_tokens"`
	Total     json.Number `json:"total_tokens"`
}

type codexInfo struct {
	Total codexUsage `json:"total_token_usage"`
	Last  codexUsage `json:"last_token_usage"`
}

// A codexLog is a session. What is known of the next request is when its input
// came, and whether its answer has begun; input that comes after that is of the one
// after it.
type codexLog struct {
	in      *input
	turns   turns
	session string
	copied  bool // the rows are those of the session that it was forked from
	model   string
	params  traces.Opt[string]

	input, later int64 // 0: none so far
	answering    bool
	total        codexUsage
	merges       bool              // the total has a Record
	end          traces.Opt[int64] // of the last answer
}

func openCodex(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("codex"); err != nil {
		return document{}, err
	}
	in.absolute = true
	in.meta.Vantage = "client"
	in.meta.Notes = append(in.meta.Notes, codexNote)
	in.source.Stamps = "end"
	l := &codexLog{in: in, turns: make(turns)}
	return document{parse: l.parse}, nil
}

// codexRows are the types of rows that mean something.
var codexRows = map[string]func(*codexLog, json.RawMessage, int64, *outlet) error{
	"session_meta":  (*codexLog).meta,
	"turn_context":  (*codexLog).turn,
	"response_item": (*codexLog).item,
	"event_msg":     (*codexLog).event,
	"compacted":     (*codexLog).heard,
}

func (l *codexLog) parse(line []byte, out *outlet) error {
	var row codexRow
	if err := decodeRow(line, &row); err != nil {
		return err
	}
	if row.Type == "" {
		return inField("type", rejectf(MissingField, "the row does not tell what it is"))
	}
	take := codexRows[row.Type]
	if take == nil {
		out.skip(1)
		return nil
	}
	stamp, err := l.in.stamp("timestamp", row.Time)
	if err != nil {
		return err
	}
	if len(row.Payload) == 0 {
		return inField("payload", rejectf(MissingField, "the row is empty"))
	}
	return take(l, row.Payload, stamp, out)
}

// meta takes the first row: others like it were copied from another session.
func (l *codexLog) meta(payload json.RawMessage, _ int64, out *outlet) error {
	out.skip(1)
	if l.session != "" {
		return nil
	}
	var m struct {
		ID     string `json:"id"`
		Forked string `json:"forked_from_id"`
		Parent string `json:"parent_thread_id"`
	}
	if json.Unmarshal(payload, &m) != nil {
		return nil
	}
	var by struct {
		Source struct {
			Subagent struct {
				Spawn struct {
					Parent string `json:"parent_thread_id"`
				} `json:"thread_spawn"`
			} `json:"subagent"`
		} `json:"source"`
	}
	// The source of a session that no agent started is a word.
	spawned := json.Unmarshal(payload, &by) == nil && by.Source.Subagent.Spawn.Parent != ""
	l.session, l.copied = m.ID, m.Forked != "" || m.Parent != "" || spawned
	return nil
}

// turn takes the settings of the requests to come.
func (l *codexLog) turn(payload json.RawMessage, stamp int64, out *outlet) error {
	var t struct {
		ID     string `json:"turn_id"`
		Model  string `json:"model"`
		Effort string `json:"effort"`
	}
	if err := decodeRow(payload, &t); err != nil {
		return err
	}
	l.begin(t.ID)
	l.model, l.params = t.Model, traces.Opt[string]{}
	if effort, err := json.Marshal(t.Effort); err == nil && t.Effort != "" {
		l.params = traces.Some(`{"reasoning_effort":` + string(effort) + `}`)
	}
	return l.heard(nil, stamp, out)
}

// begin ends what was copied at the first turn of the session's own. Sessions and
// turns are named by UUIDs of version 7, the order of which is that in which they
// were made, so that a turn that is older than the session is another session's.
func (l *codexLog) begin(turn string) {
	if !l.copied {
		return
	}
	if isUUID7(turn) && isUUID7(l.session) && turn < l.session {
		return
	}
	l.copied, l.answering, l.input, l.later = false, false, 0, 0
	if isUUID7(turn) && isUUID7(l.session) {
		return
	}
	l.in.warn("the session was forked and its turns do not tell their age: what it copied from its parent is counted with its own")
}

func isUUID7(s string) bool { return len(s) == 36 && s[14] == '7' }

// item takes what the model heard and said.
func (l *codexLog) item(payload json.RawMessage, stamp int64, out *outlet) error {
	var i struct {
		Type string `json:"type"`
		Role string `json:"role"`
	}
	if err := decodeRow(payload, &i); err != nil {
		return err
	}
	if strings.HasSuffix(i.Type, "_output") || i.Type == "message" && i.Role != "assistant" {
		return l.heard(nil, stamp, out)
	}
	l.answering = true
	out.skip(1)
	return nil
}

// heard notes that input came.
func (l *codexLog) heard(_ json.RawMessage, stamp int64, out *outlet) error {
	out.skip(1)
	if l.answering {
		l.later = stamp
		return nil
	}
	l.input = stamp
	return nil
}

// event takes the rows that are no part of the conversation.
func (l *codexLog) event(payload json.RawMessage, stamp int64, out *outlet) error {
	var e struct {
		Type string     `json:"type"`
		Turn string     `json:"turn_id"`
		Info *codexInfo `json:"info"`
	}
	if err := decodeRow(payload, &e); err != nil {
		return err
	}
	switch {
	case e.Type == "token_count" && e.Info != nil:
		return l.count(e.Info, stamp, out)
	case e.Type == "turn_aborted" && l.answering && !l.copied:
		return l.abort(stamp, out)
	case e.Type == "task_started":
		l.begin(e.Turn)
	case e.Type != "user_message":
		out.skip(1)
		return nil
	}
	return l.heard(nil, stamp, out)
}
