package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"wavetank/traces"
)

// claudeCode reads the session files of Claude Code. A record is written for each
// part of an answer when the part is whole, with the usage of the whole answer, or
// of as much as there was of it; so the records of one message are one request.
// Nothing tells when a request was sent: it is taken to have left when the last of
// its input was written, which is the user's prompt or the result of a tool.
//
// The file is held in memory, less its texts: history that was copied repeats
// messages anywhere.
var claudeCode = Format{
	Name:     "claude-code",
	About:    "Claude Code session files, ~/.claude/projects/*/*.jsonl (JSONL)",
	Sniff:    sniffClaude,
	document: openClaude,
}

func sniffClaude(head []byte) error {
	for line := range bytes.Lines(head) {
		keys, err := sniffKeys(line)
		if err != nil {
			continue
		}
		_, chained := keys["parentUuid"]
		_, side := keys["isSidechain"]
		if chained && side {
			return nil
		}
	}
	return errors.New("no line is a JSON object with the keys \"parentUuid\" and \"isSidechain\"")
}

const claudeNote = "claude-code: times are those at which records were written; a request is taken to leave when the last of its input was written, and to end with the last part of its answer"

type claudeRow struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	UUID      string          `json:"uuid"`
	Parent    string          `json:"parentUuid"`
	Before    string          `json:"logicalParentUuid"` // of what follows a compaction
	Time      string          `json:"timestamp"`
	Session   string          `json:"sessionId"`
	Agent     string          `json:"agentId"`
	Sidechain bool            `json:"isSidechain"`
	Failed    bool            `json:"isApiErrorMessage"`
	Status    json.RawMessage `json:"apiErrorStatus"`
	Error     json.RawMessage `json:"error"`
	Attempt   json.RawMessage `json:"retryAttempt"`
	RetryIn   json.RawMessage `json:"retryInMs"`
	Message   json.RawMessage `json:"message"`
}

type claudeMessage struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Stop    string          `json:"stop_reason"`
	Usage   claudeUsage     `json:"usage"`
	Content json.RawMessage `json:"content"`
}

type claudeUsage struct {
	Fresh   json.RawMessage `json:"input_tokens"` // neither read from the cache nor written to it
	Written json.RawMessage `json:"cache_creation_input_tokens"`
	Read    json.RawMessage `json:"cache_read_input_tokens"`
	Output  json.RawMessage `json:"output_tokens"`
}

// A claudeCall is a request, and a claudeStep what came after it and before the next.
type claudeCall struct {
	rec        traces.Record
	row        uint64
	from, step *claudeStep
	first, end int64 // when its first and last records were written
	retryOf    *claudeCall
	spawned    []*claudeChain
	index      uint64
}

// A claudeStep ends in the calls that have it as their input: one, but where the
// user went back and tried again.
type claudeStep struct {
	chain *claudeChain
	call  *claudeCall // that it follows; nil at the start of a chain
	input int64       // when the last of it was written; 0: never
	retry *claudeCall // the last of its calls that failed and was tried again
}

// A claudeChain is the conversation, or that of a subagent.
type claudeChain struct {
	root    string
	spawner *claudeCall // of a subagent, if it is in the file
	last    *claudeCall
}

type claudeLog struct {
	in       *input
	calls    []*claudeCall
	messages map[string]*claudeCall
	steps    map[string]*claudeStep // by the uuid of their records
	spawner  *claudeCall            // the last call that asked for a subagent
}

func openClaude(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("claude-code"); err != nil {
		return document{}, err
	}
	in.absolute = true
	in.meta.Vantage = "client"
	in.meta.Notes = append(in.meta.Notes, claudeNote)
	in.source.Stamps = "end"
	l := &claudeLog{in: in, messages: make(map[string]*claudeCall), steps: make(map[string]*claudeStep)}
	return document{parse: l.parse, finish: l.finish}, nil
}

func (l *claudeLog) parse(line []byte, out *outlet) error {
	var row claudeRow
	if err := decodeRow(line, &row); err != nil {
		return err
	}
	switch {
	case row.Type == "":
		return inField("type", rejectf(MissingField, "the row does not tell what it is"))
	case row.Failed, row.Type == "system" && row.Subtype == "api_error":
		return l.failure(&row)
	case row.Type == "assistant":
		return l.answer(&row, out)
	}
	return l.other(&row, out)
}

// claudeInputs are the types of records that the model gets to see. The program
// writes others of its own affairs, before and after them.
var claudeInputs = map[string]bool{"user": true, "attachment": true}

// other takes a record that is no part of an answer.
func (l *claudeLog) other(row *claudeRow, out *outlet) error {
	if row.UUID != "" && l.steps[row.UUID] == nil {
		step := l.stepOf(row)
		l.steps[row.UUID] = step
		if claudeInputs[row.Type] {
			stamp, err := l.in.stamp("timestamp", row.Time)
			if err != nil {
				return err
			}
			// Whatever failed before was of other input.
			step.input, step.retry = max(step.input, stamp), nil
		}
	}
	out.skip(1)
	return nil
}

// link makes a record the parent of others.
func (l *claudeLog) link(uuid string, step *claudeStep) {
	if uuid != "" && l.steps[uuid] == nil {
		l.steps[uuid] = step
	}
}

// stepOf returns the step to which a record belongs by its parent, which stands
// before it in the file.
func (l *claudeLog) stepOf(row *claudeRow) *claudeStep {
	for _, parent := range []string{row.Parent, row.Before} {
		if step := l.steps[parent]; step != nil {
			return step
		}
	}
	chain := &claudeChain{root: row.UUID}
	if row.Sidechain && l.spawner != nil {
		chain.spawner = l.spawner
		l.spawner.spawned = append(l.spawner.spawned, chain)
	}
	return &claudeStep{chain: chain}
}

// answer takes a part of an answer.
func (l *claudeLog) answer(row *claudeRow, out *outlet) error {
	if len(row.Message) == 0 {
		return inField("message", rejectf(MissingField, "an answer without its message"))
	}
	var m claudeMessage
	if err := decodeRow(row.Message, &m); err != nil {
		return err
	}
	if m.Model == "<synthetic>" { // the program speaks for itself: nothing was sent
		return l.other(row, out)
	}
	stamp, err := l.in.stamp("timestamp", row.Time)
	if err != nil {
		return err
	}
	seen, err := m.usage()
	if err != nil {
		return err
	}
	id := m.ID
	if id == "" {
		id = row.UUID
	}
	call := l.messages[id]
	if call == nil {
		call = l.call(row, stamp)
		l.messages[id] = call
		call.rec.ID = textOf(m.ID)
		l.link(row.UUID, call.step)
	} else {
		out.merge(1)
		l.again(row, call, stamp)
	}
	call.add(&m, &seen)
	if m.spawns() {
		l.spawner = call
	}
	return nil
}

// again takes a further record of a message. A part of the answer follows on
// another, or on the input, and moves its end; anything else is of a copy of the
// history, which goes its own way from here.
func (l *claudeLog) again(row *claudeRow, call *claudeCall, stamp int64) {
	on := l.steps[row.Parent]
	isPart := l.steps[row.UUID] == nil && (on == call.step || on == call.from)
	if isPart {
		call.end = max(call.end, stamp)
		l.link(row.UUID, call.step)
		return
	}
	l.link(row.UUID, &claudeStep{chain: call.step.chain, call: call})
}

// call makes the request that a record is the first of.
func (l *claudeLog) call(row *claudeRow, stamp int64) *claudeCall {
	from := l.stepOf(row)
	call := &claudeCall{from: from, first: stamp, end: stamp, row: uint64(l.in.lines.start)}
	call.step = &claudeStep{chain: from.chain, call: call}
	call.retryOf, from.retry = from.retry, nil
	call.arrive(from.input)
	if row.Session != "" {
		call.rec.Session = traces.Some(row.Session)
	}
	if row.Sidechain {
		name := row.Agent
		if name == "" {
			name = from.chain.root
		}
		call.rec.Session = traces.Some(row.Session + "/" + name)
	}
	l.calls = append(l.calls, call)
	return call
}

// arrive takes the request to have left at input. Where that is not known, or after
// the answer, all that is known is when there was an answer.
func (c *claudeCall) arrive(input int64) {
	if input == 0 || input > c.first {
		input = c.first
	}
	c.rec.Arrival = time.Duration(input)
}

// spawns tells whether the part of an answer calls a subagent.
func (m *claudeMessage) spawns() bool {
	var parts []struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	if !bytes.Contains(m.Content, []byte("tool_use")) || json.Unmarshal(m.Content, &parts) != nil {
		return false
	}
	for _, p := range parts {
		if p.Type == "tool_use" && (p.Name == "Task" || p.Name == "Agent") {
			return true
		}
	}
	return false
}
