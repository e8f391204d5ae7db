package formats

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// isRAGPart tells the files that ragpulse reads beside a trace.
func isRAGPart(name string) bool {
	return slices.ContainsFunc(ragParts, func(p ragPart) bool { return p.file == name })
}

// What was a float is read as the decimal that it was before, to the nanosecond.
func TestParseRounded(t *testing.T) {
	for s, want := range map[string]int64{
		"5.8926549999999995": 5892655000, "199.96150599999999": 199961506000, "2.6e-05": 26000, "1.5E2": 150e9, "0": 0, "7.": 7e9,
		"0.0000000004": 0, "0.0000000005": 1, "61.114": 61114e6,
	} {
		if got, err := parseRounded([]byte(s), 1e9); err != nil || got != want {
			t.Errorf("%s s: %d ns, %v; want %d", s, got, err, want)
		}
	}
	for s, want := range map[string]string{
		"": MissingField, "e": BadTime, "1e": BadTime, "NaN": MissingField, "1e400": BadTime, "1e12": TooLarge, "-1e3": Negative, "-2": Negative, "x": BadTime,
	} {
		if got, err := parseRounded([]byte(s), 1e9); reasonOf(err) != want {
			t.Errorf("%q: %d, %v; want %s", s, got, err, want)
		}
	}
}

// The parts of a RAGPulse prompt make it up but for a template of 6 to 12 tokens,
// and the clock that starts anew is told of and left alone.
func TestRAGPulse(t *testing.T) {
	path := fixture("ragpulse", "0_trace.rows3780-3819.jsonl")
	recs, meta := collect(t, path, Options{})
	for _, r := range recs {
		rest := r.PromptTokens.V
		for _, c := range r.Components {
			rest -= c.Tokens
		}
		if rest < 6 || rest > 12 || r.App.V != "rag" || r.Blocks != nil {
			t.Errorf("row %d: %d tokens are of no part: %+v", r.SourceRow.V, rest, r)
		}
	}
	if w := meta.Sources[0].Warnings; len(w) != 1 || !strings.HasPrefix(w[0], "1 rows: the clock falls back") {
		t.Errorf("warnings %q", w)
	}
	if recs[19].Arrival < 0 || recs[20].Arrival > -100*time.Hour {
		t.Errorf("rows 20 and 21 at %v and %v: want the file's own clock", recs[19].Arrival, recs[20].Arrival)
	}

	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	alone := filepath.Join(dir, "trace.jsonl")
	if err := os.WriteFile(alone, log, 0o600); err != nil {
		t.Fatal(err)
	}
	recs, meta = collect(t, alone, Options{})
	if recs[0].Components != nil || len(meta.Notes) != 1 || !strings.Contains(meta.Notes[0], "1_sys_prompt.jsonl is not beside the trace") {
		t.Errorf("without the other files: %v, notes %q", recs[0].Components, meta.Notes)
	}
	if err := os.WriteFile(filepath.Join(dir, "1_sys_prompt.jsonl"), []byte("{\"sys_prompt_id\": 1, \"token_length\": 2}\n\n{\"sys_prompt_id\": 3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(alone, Options{}); err == nil || !strings.Contains(err.Error(), "1_sys_prompt.jsonl:3: token_length: ") {
		t.Errorf("a broken file beside: %v", err)
	}
}

// A round's request leaves when the last of what it answers was written.
func TestTracelab(t *testing.T) {
	recs, meta := collect(t, fixture("tracelab", "round_trace.jsonl"), Options{})
	first, second := recs[0], recs[1]
	if first.PromptTokens.V != 32272 || first.Outcome.CachedTokens.V != 27217 || first.OutputTokens.V != 931 || first.ReasoningTokens.Known {
		t.Errorf("tokens of %+v", first)
	}
	if want := time.Date(2026, 6, 1, 5, 40, 20, 151e6, time.UTC); meta.T0 == nil || !meta.T0.Equal(want) {
		t.Errorf("T0 %v, want %v", meta.T0, want)
	}
	if first.Outcome.End.V != 11496*time.Millisecond || second.Arrival != 30787*time.Millisecond || second.Think.V != 19291*time.Millisecond ||
		!slices.Equal(second.After, []uint64{0}) || first.Outcome.FirstToken.Known {
		t.Errorf("%+v\n%+v", first, second)
	}
	if codex := recs[10]; codex.Outcome.End.V != 6214*time.Millisecond || codex.ReasoningTokens != traces.Some[int32](199) {
		t.Errorf("%+v: want an answer that ends with its report of usage", codex)
	}
}

// A chat waits for the one that it continues, and a session is all that share a root.
func TestBailianTree(t *testing.T) {
	recs, _ := collect(t, fixture("bailian", "chats.jsonl"), Options{})
	for i, want := range []struct {
		session string
		turn    int32
		after   []uint64
	}{{"0", 0, noPredecessor}, {"1", 0, noPredecessor}, {"0", 1, []uint64{0}}, {"0", 1, []uint64{0}}, {"0", 2, []uint64{2}}, {"77", 2, nil}} {
		if r := recs[i]; r.Session.V != want.session || r.Turn.V != want.turn || !slices.Equal(r.After, want.after) || (r.After == nil) != (want.after == nil) {
			t.Errorf("chat %d: session %v, turn %v, after %v; want %+v", i, r.Session, r.Turn, r.After, want)
		}
	}
	if recs[6].Blocks[0].Start < notSource {
		t.Errorf("an id behind another prefix stayed %d", recs[6].Blocks[0].Start)
	}
}

// Where nobody knows when requests came, the trace says so of every row.
func TestNoArrivals(t *testing.T) {
	for _, log := range []string{
		"num_prefill_tokens,num_decode_tokens\n3772,54\n2015,156\n",
		`{"id": "g", "conversations": [{"from": "human", "value": "x"}, {"from": "gpt", "value": "y"}, {"from": "gpt", "value": "z"}]}`,
		"{\"input_length\": 10}\n{\"input_length\": 11}\n",
	} {
		recs, meta, err := read(log, Options{})
		if err != nil || len(recs) != 2 || recs[1].Arrival != 0 || meta.T0 != nil {
			t.Fatalf("%s: %v, %v", log, recs, err)
		}
		if w := strings.Join(meta.Sources[0].Warnings, "; "); !strings.Contains(w, "2 rows: no arrival is known") {
			t.Errorf("%s: warnings %q", log, w)
		}
	}
}

// Tools run between the calls of a session, and equal token ids are equal blocks.
func TestServingSim(t *testing.T) {
	recs, _ := collect(t, fixture("llmservingsim", "agentic.jsonl"), Options{})
	if recs[1].Think != traces.Some(127348767*time.Nanosecond) || recs[2].Think != traces.Some(197295027*time.Nanosecond) || recs[0].Think.Known {
		t.Errorf("think %v, %v, %v", recs[0].Think, recs[1].Think, recs[2].Think)
	}
	if a, b := idsOf(recs[3].Blocks), idsOf(recs[4].Blocks); len(a) != 1 || len(b) != 2 || a[0] != b[0] {
		t.Errorf("blocks %v and %v of equal beginnings", a, b)
	}
}

// A session over the usual limit of a line is read: it is one line.
func TestWekaLongLine(t *testing.T) {
	long := `{"id":"a","block_size":64,"hash_id_scope":"local","pad":"` + strings.Repeat("x", defaultMaxLine) +
		`","requests":[{"t":0,"type":"n","model":"m","in":64,"out":1,"hash_ids":[1],"stop":"end_turn"}]}`
	s, err := Open(bytes.NewReader([]byte(long)), "x", Options{Format: "weka"})
	if err != nil {
		t.Fatal(err)
	}
	if recs, err := traces.Collect(s); err != nil || len(recs) != 1 {
		t.Errorf("%d rows, %v", len(recs), err)
	}
}

func FuzzBailian(f *testing.F)       { fuzz(f, "bailian") }
func FuzzWeka(f *testing.F)          { fuzz(f, "weka") }
func FuzzTracelab(f *testing.F)      { fuzz(f, "tracelab") }
func FuzzReplayCSV(f *testing.F)     { fuzz(f, "tracelab-replay") }
func FuzzRAGPulse(f *testing.F)      { fuzz(f, "ragpulse") }
func FuzzAIPerf(f *testing.F)        { fuzz(f, "aiperf") }
func FuzzDelta(f *testing.F)         { fuzz(f, "mooncake-delta") }
func FuzzAgentic(f *testing.F)       { fuzz(f, "agentic_mooncake") }
func FuzzSplitwise(f *testing.F)     { fuzz(f, "splitwise") }
func FuzzVidur(f *testing.F)         { fuzz(f, "vidur") }
func FuzzServingSim(f *testing.F)    { fuzz(f, "llmservingsim") }
func FuzzConversations(f *testing.F) { fuzz(f, "conversations") }
