package formats

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// What the requests of a session use is what the session says that it used.
func TestCodexTotals(t *testing.T) {
	recs, _ := collect(t, fixture("codex", "tracelab_example.jsonl"), Options{})
	var prompt, cached, output, reasoning int32
	for i, r := range recs {
		prompt += r.PromptTokens.V
		cached += r.Outcome.CachedTokens.V
		output += r.OutputTokens.V
		reasoning += r.ReasoningTokens.V
		if r.Turn.V != int32(i) || !r.Outcome.End.Known || i > 0 && recs[i-1].Arrival+recs[i-1].Outcome.End.V+r.Think.V != r.Arrival {
			t.Errorf("request %d: %+v", i, r)
		}
	}
	if got, want := [...]int32{prompt, cached, output, reasoning}, [...]int32{95819, 79488, 1912, 581}; got != want || len(recs) != 9 {
		t.Errorf("%d requests, %v in all; want 9, and %v as the last total says", len(recs), got, want)
	}
}

// Usage that is told again is of no further request.
func TestCodexRepeatedUsage(t *testing.T) {
	b, err := os.ReadFile(fixture("codex", "tracelab_example.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := read(string(b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for line := range strings.Lines(string(b)) {
		log.WriteString(line)
		if strings.Contains(line, `"token_count"`) {
			log.WriteString(line)
		}
	}
	got, meta, err := read(log.String(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i].SourceRow = want[i].SourceRow
	}
	if !reflect.DeepEqual(got, want) || meta.Sources[0].Merged != int64(len(want)) {
		t.Errorf("%d requests, %d rows merged; want %d", len(got), meta.Sources[0].Merged, len(want))
	}
}

// A subagent's file that begins with its parent's history has its own requests
// only; without the history it has the same.
func TestCodexCopiedHistory(t *testing.T) {
	b, err := os.ReadFile(fixture("codex", "subagent.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	own := lines[0] + strings.Join(lines[20:], "")
	if !strings.Contains(lines[20], "task_started") {
		t.Fatal("the fixture's own turn does not begin where it did")
	}
	with, withMeta, err := read(string(b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	without, _, err := read(own, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(with) != 1 || with[0].PromptTokens.V != 9100 || len(withMeta.Sources[0].Warnings) != 1 {
		t.Errorf("%+v, warnings %q", with, withMeta.Sources[0].Warnings)
	}
	// Without its history, nothing tells that the first usage was told before.
	if last := without[len(without)-1]; last.PromptTokens != with[0].PromptTokens || last.Outcome.End != with[0].Outcome.End {
		t.Errorf("%+v, with the history %+v", last, with[0])
	}
}

// Turns without an age leave what was copied undecided, and that is told.
func TestCodexTurnsWithoutAge(t *testing.T) {
	const log = `{"timestamp":"2026-03-21T10:00:00Z","type":"session_meta","payload":{"id":"s","forked_from_id":"p"}}
{"timestamp":"2026-03-21T10:00:01Z","type":"turn_context","payload":{"model":"m"}}
{"timestamp":"2026-03-21T10:00:02Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1},"last_token_usage":{"input_tokens":1,"output_tokens":1}}}}
`
	recs, meta, err := read(log, Options{})
	if err != nil || len(recs) != 1 || len(meta.Sources[0].Warnings) != 1 {
		t.Errorf("%d requests, %v, warnings %q", len(recs), err, meta.Sources[0].Warnings)
	}
}
