package formats

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The published example: 25 records of answers are 10 requests, and the first of
// them has 2,892 tokens that were not cached out of 32,272.
func TestClaudeExample(t *testing.T) {
	recs, meta := collect(t, fixture("claude-code", "tracelab_example.jsonl"), Options{})
	src := meta.Sources[0]
	if len(recs) != 10 || src.Emitted+src.Merged != 25 || src.Read != 64 {
		t.Errorf("%d requests of %d records of answers in %d rows; want 10 of 25 in 64", len(recs), src.Emitted+src.Merged, src.Read)
	}
	if first := recs[0]; first.PromptTokens.V != 32272 || first.Outcome.CachedTokens.V != 27217 || first.OutputTokens.V != 931 {
		t.Errorf("first request: %+v", first)
	}
	for i, r := range recs {
		if r.Turn.V != int32(i) || !r.Outcome.End.Known || i > 0 && (!r.Think.Known || !reflect.DeepEqual(r.After, []uint64{uint64(i - 1)})) {
			t.Errorf("request %d: %+v", i, r)
		}
		if i > 0 && recs[i-1].Arrival+recs[i-1].Outcome.End.V+r.Think.V != r.Arrival {
			t.Errorf("request %d does not leave its pause after the end of the one before", i)
		}
	}
}

// History that was copied into the file, under its old names or under new ones, is
// no further request and makes none longer.
func TestClaudeCopiedHistory(t *testing.T) {
	b, err := os.ReadFile(fixture("claude-code", "tracelab_example.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	log := string(b)
	want, _, err := read(log, Options{})
	if err != nil {
		t.Fatal(err)
	}
	later := func(s string) string { return strings.ReplaceAll(s, "2026-06-01T", "2026-06-02T") }
	for name, rename := range map[string]func(string) string{
		"as it was": func(s string) string { return s },
		"later":     later,
		"renamed": func(s string) string {
			return strings.NewReplacer(`"uuid": "`, `"uuid": "x`, `"parentUuid": "`, `"parentUuid": "x`).Replace(later(s))
		},
	} {
		got, meta, err := read(log+rename(log), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || meta.Sources[0].Merged != 15+25 {
			t.Errorf("%s: %d requests, %d rows merged; want the same as without", name, len(got), meta.Sources[0].Merged)
		}
	}
}

// A subagent is a session of its own, whether it is in the file of its parent or in
// one of its own; only in the former is it known who waits for whom.
func TestClaudeSubagents(t *testing.T) {
	inside, _ := collect(t, fixture("claude-code", "session.jsonl"), Options{})
	alone, _ := collect(t, fixture("claude-code", "subagent.jsonl"), Options{})
	if !reflect.DeepEqual(inside[1].After, []uint64{0}) || !reflect.DeepEqual(inside[3].After, []uint64{0, 2}) || alone[0].After != nil {
		t.Errorf("the subagent waits for %v, its parent for %v, and alone it waits for %v", inside[1].After, inside[3].After, alone[0].After)
	}
	for i, r := range alone {
		in := inside[i+1]
		if r.Turn != in.Turn || r.PromptTokens != in.PromptTokens || r.Outcome.End != in.Outcome.End || in.Session == inside[0].Session {
			t.Errorf("turn %d: %+v, in the parent's file %+v", i, r, in)
		}
	}
	if alone[0].Session.V != inside[0].Session.V+"/a46e7b2c" {
		t.Errorf("session %q", alone[0].Session.V)
	}
}

// An answer grows while it comes: the largest counts are those of the whole, in
// whatever order its records stand.
func TestClaudeGrowingUsage(t *testing.T) {
	const row = `{"type":"assistant","uuid":"%u","parentUuid":"p","isSidechain":false,"timestamp":"2026-03-02T09:00:01Z","message":{"id":"m","stop_reason":%s,"usage":{"input_tokens":3,"output_tokens":%n}}}` + "\n"
	of := func(uuid, stop, n string) string {
		return strings.NewReplacer("%u", uuid, "%s", stop, "%n", n).Replace(row)
	}
	early, late := of("a", "null", "1"), of("b", `"end_turn"`, "250")
	for _, log := range []string{early + late, late + early, late} {
		if r := one(t, log, Options{}); r.OutputTokens.V != 250 || r.Outcome.FinishReason.V != "stop" || r.Outcome.Status != "ok" {
			t.Errorf("%+v", r)
		}
	}
	r := one(t, early, Options{})
	if r.Outcome.Status != "unknown" {
		t.Errorf("status %s of an answer that nobody saw the end of", r.Outcome.Status)
	}
}

// A request that is tried again leaves when it is, and not when its input came.
func TestClaudeRetries(t *testing.T) {
	recs, _ := collect(t, fixture("claude-code", "session.jsonl"), Options{})
	first, second, answered := recs[3], recs[4], recs[5]
	if first.Outcome.RetryOf.Known || second.Outcome.RetryOf.V != first.Seq || answered.Outcome.RetryOf.V != second.Seq || answered.Outcome.Attempt.V != 3 {
		t.Errorf("%+v\n%+v\n%+v", first.Outcome, second.Outcome, answered.Outcome)
	}
	if pause := second.Arrival - first.Arrival - first.Outcome.End.V; pause != 500*time.Millisecond || first.Turn != answered.Turn {
		t.Errorf("the second try came %v after the first failed, in turn %v of %v", pause, second.Turn, first.Turn)
	}
}

// The first lines of a session are of the program's own affairs, and may be many.
func TestClaudeSniff(t *testing.T) {
	b, err := os.ReadFile(fixture("claude-code", "tracelab_example.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		b = append([]byte(`{"type":"file-history-snapshot","messageId":"m","isSnapshotUpdate":false}`+"\n"), b...)
	}
	if err := sniffClaude(b); err != nil {
		t.Error(err)
	}
	if cut := bytes.Index(b, []byte(`"promptId"`)); sniffClaude(b[:cut]) != nil {
		t.Error("a first prompt that is longer than what sniffing gets to see")
	}
}
