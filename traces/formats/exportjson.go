package formats

import (
	"strconv"
	"time"

	"wavetank/traces"
)

var lengths = []string{"prompt_tokens", "output_tokens"}

// mooncakeExport writes the four keys of the published Mooncake traces. Who reads
// them must be told the tokens of a block.
var mooncakeExport = Export{
	Name:    "mooncake",
	About:   "Mooncake rows: timestamp in whole ms, lengths, hash_ids (JSONL)",
	Columns: []string{"arrival_ns", "prompt_tokens", "output_tokens", "blocks"},
	Needs:   lengths,
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		x.noteBlocks(mooncakeBlock)
		return func(rec *traces.Record) error {
			x.line = append(x.line[:0], '{')
			x.number("timestamp", x.rounded("arrival_ns", rec.Arrival, time.Millisecond))
			return x.lengths(rec)
		}, nil
	},
}

// lengths writes what all Mooncake dialects have in common, and the row's end.
func (x *Exporter) lengths(rec *traces.Record) error {
	x.number("input_length", int64(rec.PromptTokens.V))
	x.number("output_length", int64(rec.OutputTokens.V))
	if err := x.maybeIDs("hash_ids", rec.Blocks); err != nil {
		return err
	}
	if rec.Blocks == nil {
		x.bare++
	} else if covered(rec.Blocks, x.meta.BlockTokens) < int64(rec.PromptTokens.V) && x.meta.BlockTokens > 0 {
		x.short++
	}
	x.line = append(x.line, '}')
	return x.emit()
}

// covered returns the tokens that blocks stand for.
func covered(runs []traces.BlockRun, size int32) (n int64) {
	for _, run := range runs {
		n += int64(run.Len) * int64(size)
	}
	return n
}

// aiperfExport writes Mooncake rows with sessions. A later turn of which the pause
// is known has it as its delay, after the end of the turn before. Its prompt is whole:
// AIPerf would put the session's earlier turns and their live answers in front of it,
// did not each of the session's rows have the mode in which it does not.
var aiperfExport = Export{
	Name:    "aiperf",
	About:   "Mooncake rows with session_id, timestamp and delay in ms, as AIPerf and Dynamo read them (JSONL)",
	Columns: []string{"arrival_ns", "session", "turn", "think_ns", "prompt_tokens", "output_tokens", "blocks"},
	Needs:   lengths,
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		x.noteBlocks(mooncakeBlock)
		turns, later := make(map[string]int32), false
		return func(rec *traces.Record) error {
			x.line = append(x.line[:0], '{')
			if rec.Session.Known {
				x.text("session_id", rec.Session.V)
				x.text("context_mode", "message_array_with_responses")
			}
			x.decimal("timestamp", rec.Arrival, time.Millisecond)
			turn := turns[rec.Session.V]
			turns[rec.Session.V]++
			x.checkTurn(rec, turn)
			if rec.Session.Known && turn > 0 && !later {
				later = true
				x.note("a later turn has its whole prompt, as context_mode says: a release of AIPerf that does not know that key puts the turns before in front once more")
			}
			switch {
			case rec.Session.Known && turn > 0 && rec.Think.V >= 0:
				x.maybeDecimal("delay", rec.Think, time.Millisecond)
			case rec.Think.Known:
				x.lose("think_ns", "no turn of its session is before it")
			}
			return x.lengths(rec)
		}, nil
	},
}

// checkTurn counts turns that are other than their place in the session tells.
func (x *Exporter) checkTurn(rec *traces.Record, turn int32) {
	if rec.Turn.Known && (!rec.Session.Known || rec.Turn.V != turn) {
		x.lose("turn", "counted anew")
	}
}

// bailianExport writes chats, each by the Seq of its request, with the chat that
// it continues: the first of those that it waits for, or the turn before it.
var bailianExport = Export{
	Name:    "bailian",
	About:   "Qwen-Bailian rows: timestamp in s, chats and their parents, hash_ids (JSONL)",
	Columns: []string{"arrival_ns", "app", "session", "turn", "after", "prompt_tokens", "output_tokens", "blocks"},
	Needs:   lengths,
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		x.noteBlocks(bailianBlock)
		x.note("chat_id is the number of the request in the trace: sessions have lost their names")
		last := make(map[string]uint64)
		return func(rec *traces.Record) error {
			x.line = append(x.line[:0], '{')
			x.number("chat_id", int64(rec.Seq))
			x.number("parent_chat_id", x.parentOf(rec, last))
			x.decimal("timestamp", rec.Arrival, time.Second)
			x.text("type", rec.App.V)
			if rec.Turn.Known {
				x.number("turn", int64(rec.Turn.V)+1)
			}
			return x.lengths(rec)
		}, nil
	},
}

// parentOf returns the chat that a row continues, or -1. It keeps the last chat of
// each session.
func (x *Exporter) parentOf(rec *traces.Record, last map[string]uint64) int64 {
	before, later := last[rec.Session.V]
	if rec.Session.Known {
		last[rec.Session.V] = rec.Seq
	}
	if len(rec.After) > 1 {
		x.lose("after", "all but the first")
	}
	switch {
	case len(rec.After) > 0:
		return int64(rec.After[0])
	case rec.After == nil && rec.Session.Known && later:
		return int64(before)
	case rec.Session.Known && later:
		x.lose("session", "cut where a request waits for no other")
	}
	return -1
}

// dynamoExport writes request_end events. Those of a relative trace have to have
// some wall clock.
var dynamoExport = Export{
	Name:  "dynamo",
	About: "Dynamo request traces, " + dynamoSchema + ": request_end events with replay metadata (JSONL)",
	Columns: []string{"arrival_ns", "id", "session", "turn", "model", "prompt_tokens", "output_tokens", "blocks", "status", "finish_reason",
		"first_token_ns", "end_ns", "queue_ns", "prefill_ns", "prompt_tokens_seen", "cached_tokens", "output_tokens_seen", "token_basis"},
	Needs: lengths,
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		d := &dynamoRows{x: x, start: time.Duration(x.clock().UnixNano()), turns: make(map[string]int32)}
		if x.meta.BlockTokens == 0 {
			x.note("the trace does not tell the tokens of a block, without which a row can have no replay metadata")
		}
		x.finish = d.mixed
		return d.row, nil
	},
}

type dynamoRows struct {
	x              *Exporter
	start          time.Duration // wall clock, since the Unix epoch
	turns          map[string]int32
	alone, endless int64
}

func (d *dynamoRows) row(rec *traces.Record) error {
	x, received := d.x, d.x.rounded("arrival_ns", d.start+rec.Arrival, time.Millisecond)
	o := &rec.Outcome
	x.line = append(x.line[:0], `{"schema":"`+dynamoSchema+`","event_type":"request_end"`...)
	if o.End.Known {
		x.number("event_time_unix_ms", received+int64(o.End.V.Round(time.Millisecond)/time.Millisecond))
	} else {
		d.endless++
	}
	d.session(rec)
	x.key("request")
	x.line = append(x.line, '{')
	x.text("request_id", rec.ID.Or(strconv.FormatUint(rec.Seq, 10))) // it must have one
	x.maybeText("model", rec.Model)
	x.number("request_received_ms", received)
	x.number("input_tokens", int64(rec.PromptTokens.V))
	x.number("output_tokens", int64(rec.OutputTokens.V))
	x.maybeNumber("cached_tokens", o.CachedTokens)
	x.maybeDecimal("prefill_wait_time_ms", o.Queue, time.Millisecond)
	x.maybeDecimal("prefill_time_ms", o.Prefill, time.Millisecond)
	x.maybeDecimal("ttft_ms", o.FirstToken, time.Millisecond)
	x.maybeDecimal("total_time_ms", o.End, time.Millisecond)
	d.finish(rec)
	if err := d.replay(rec); err != nil {
		return err
	}
	x.line = append(x.line, "}}"...)
	return x.emit()
}

func (d *dynamoRows) session(rec *traces.Record) {
	if !rec.Session.Known {
		d.x.checkTurn(rec, 0)
		d.alone++
		return
	}
	d.x.checkTurn(rec, d.turns[rec.Session.V])
	d.turns[rec.Session.V]++
	d.x.key("agent_context")
	d.x.line = append(d.x.line, '{')
	d.x.text("session_id", rec.Session.V)
	d.x.line = append(d.x.line, '}')
}

// finish writes why the answer ended. Only the end of a whole answer has a place.
func (d *dynamoRows) finish(rec *traces.Record) {
	o, x := &rec.Outcome, d.x
	if o.FinishReason.Known {
		x.key("finish_reason_metadata")
		x.line = append(x.line, '{')
		x.text("finish_reason", o.FinishReason.V)
		x.line = append(x.line, '}')
	}
	if !isUnknownStatus(rec) && (o.Status != traces.OK || !o.FinishReason.Known) {
		x.lose("status", "no place for it but that of a finish reason")
	}
	for column, seen := range map[string][2]traces.Opt[int32]{
		"prompt_tokens_seen": {o.PromptTokensSeen, rec.PromptTokens}, "output_tokens_seen": {o.OutputTokensSeen, rec.OutputTokens},
	} {
		if seen[0].Known && seen[0] != seen[1] {
			x.lose(column, "no place for other tokens than the request's")
		}
	}
	if b := o.TokenBasis; b.Known && b.V != traces.BasisUsage {
		x.lose("token_basis", "taken for usage")
	}
}

func (d *dynamoRows) replay(rec *traces.Record) error {
	x := d.x
	if rec.Blocks == nil {
		return nil
	}
	if x.meta.BlockTokens == 0 {
		x.lose("blocks", "no place for blocks of unknown size")
		return nil
	}
	x.key("replay")
	x.line = append(x.line, '{')
	x.number("trace_block_size", int64(x.meta.BlockTokens))
	x.number("input_length", int64(rec.PromptTokens.V))
	err := x.maybeIDs("input_sequence_hashes", rec.Blocks)
	x.line = append(x.line, '}')
	return err
}

// mixed notes what Dynamo's own replay refuses.
func (d *dynamoRows) mixed() error {
	if d.alone > 0 && d.alone < d.x.rows {
		d.x.note("%d of %d rows have no session: Dynamo replays traces of which all rows have one, or none", d.alone, d.x.rows)
	}
	if d.endless > 0 {
		d.x.note("%d of %d rows do not tell when they ended, which Dynamo needs to put turns after one another", d.endless, d.x.rows)
	}
	return nil
}
