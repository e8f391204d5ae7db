package formats

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

func sum(recs []traces.Record) (prompt, output int32) {
	for _, r := range recs {
		prompt += r.PromptTokens.V
		output += r.OutputTokens.V
	}
	return prompt, output
}

// Usage that stands on an agent's span, or on those of a program and a gateway
// around the engine's, is counted once.
func TestUsageIsNotDoubled(t *testing.T) {
	chat := func(id, parent string, start, ms int, pairs ...any) testSpan {
		return testSpan{id: id, parent: parent, name: "x", start: start, ms: ms, attrs: attrsWith(append(pairs, "gen_ai.usage.input_tokens", 100, "gen_ai.usage.output_tokens", 10)...)}
	}
	agent := chat("01", "", 0, 100, "gen_ai.operation.name", "invoke_agent")
	embedding := testSpan{id: "09", parent: "02", name: "x", start: 3, ms: 1, attrs: map[string]any{"gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 100}}
	for name, tt := range map[string]struct {
		spans           []testSpan
		emitted, merged int64
	}{
		"an agent and its calls":           {[]testSpan{agent, chat("02", "01", 1, 10), chat("03", "01", 20, 10)}, 2, 0},
		"three layers":                     {[]testSpan{chat("02", "", 0, 30), chat("03", "02", 1, 20), chat("04", "03", 2, 10)}, 1, 2},
		"layers with a stranger between":   {[]testSpan{chat("02", "", 0, 30), {id: "05", parent: "02", name: "POST", start: 1, ms: 20}, chat("04", "05", 2, 10)}, 1, 1},
		"a call and its two tries":         {[]testSpan{chat("02", "", 0, 30), chat("03", "02", 1, 5), chat("04", "02", 10, 10)}, 2, 1},
		"a chat around an embedding":       {[]testSpan{chat("02", "", 0, 30), embedding}, 2, 0},
		"a turn whose parent had ended":    {[]testSpan{chat("02", "", 0, 30), chat("03", "02", 31, 10)}, 2, 0},
		"the same span twice":              {[]testSpan{chat("02", "", 0, 30), chat("02", "", 0, 30)}, 1, 1},
		"spans that are above one another": {[]testSpan{chat("02", "03", 0, 30), chat("03", "02", 0, 30)}, 0, 2},
	} {
		for range 2 { // in the order of the starts, and of the ends
			recs, src := spans(t, tt.spans...)
			prompt, _ := sum(recs)
			if src.Emitted != tt.emitted || src.Merged != tt.merged || int64(prompt) != 100*tt.emitted {
				t.Errorf("%s: emitted %d, merged %d, %d tokens; want %d and %d", name, src.Emitted, src.Merged, prompt, tt.emitted, tt.merged)
			}
			slices.Reverse(tt.spans)
		}
	}
}

// The inner span keeps its times, and learns from the outer ones who asked for what.
func TestOuterSpansLend(t *testing.T) {
	outer := testSpan{id: "02", parent: "01", start: 0, ms: 1000, attrs: attrsWith("gen_ai.request.stream", true, "gen_ai.usage.input_tokens", 100, "gen_ai.usage.output_tokens", 9,
		"gen_ai.response.time_to_first_chunk", 0.5, "gen_ai.request.temperature", 0.1, "gen_ai.response.finish_reasons", []any{"stop"})}
	inner := testSpan{id: "03", parent: "02", start: 100, ms: 800, attrs: attrsWith("gen_ai.request.model", "m")}
	agent := testSpan{id: "01", start: 0, ms: 2000, attrs: map[string]any{"gen_ai.operation.name": "invoke_agent", "session.id": "s", "user.id": "u"}}
	recs, _ := spans(t, inner, outer, agent)
	if len(recs) != 1 {
		t.Fatal(recs)
	}
	r := recs[0]
	if !r.Stream.V || r.PromptTokens.V != 100 || r.OutputTokens.V != 9 || r.Params.V != `{"temperature":0.1}` || r.Session.V != "s" || r.User.V != "u" || r.Outcome.FinishReason.V != "stop" {
		t.Errorf("not lent: %+v", r)
	}
	if r.Outcome.FirstToken.Known || r.Outcome.End.V != 800*time.Millisecond {
		t.Errorf("times of elsewhere: %+v", r.Outcome)
	}
	try := inner
	try.id, try.start, try.ms = "04", 20, 30
	recs, _ = spans(t, try, inner, outer, agent)
	if len(recs) != 2 || recs[0].PromptTokens.Known || recs[1].PromptTokens.Known || !recs[0].Stream.V || !recs[1].Stream.V {
		t.Errorf("a sum was lent to the tries it is of: %+v", recs)
	}
}

// Requests of one trace are one session, unless it has another name; alone, a
// request is no session.
func TestSpanSessions(t *testing.T) {
	recs, _ := spans(t,
		testSpan{trace: "0a", id: "01", start: 5, ms: 1, attrs: attrsWith()},
		testSpan{trace: "0b", id: "01", start: 4, ms: 1, attrs: attrsWith()},
		testSpan{trace: "0a", id: "02", start: 3, ms: 1, attrs: attrsWith()},
		testSpan{trace: "0c", id: "01", start: 2, ms: 1, attrs: attrsWith("gen_ai.conversation.id", "c")},
		testSpan{trace: "0d", id: "01", start: 1, ms: 1, attrs: attrsWith("session.id", "c")},
	)
	var got []string
	for _, r := range recs {
		got = append(got, fmt.Sprintf("%s%d%t", r.Session.V, r.Turn.V, r.Turn.Known))
	}
	if want := []string{"c0true", "c1true", "0a0true", "0false", "0a1true"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The published examples of inference-perf: a chain, a fan-in, and turns whose
// parent is the turn before.
func TestInferencePerfGraphs(t *testing.T) {
	for name, want := range map[string][][]uint64{
		"simple_chain.json":           {nil, {0}, {1}},
		"fan_in_dependencies.json":    {nil, nil, nil, {0, 1, 2}},
		"prefix_sharing_example.json": {nil, nil, nil, {2}, {3}, {4}, nil},
	} {
		recs, meta := collect(t, fixture("inference-perf", name), Options{})
		var got [][]uint64
		for _, r := range recs {
			got = append(got, r.After)
			if r.Think.Known != (r.After != nil) || r.Think.V < 0 {
				t.Errorf("%s: row %d follows %v after %v", name, r.Seq, r.After, r.Think)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if src := meta.Sources[0]; src.Read != src.Emitted || meta.T0.Year() != 2026 {
			t.Errorf("%s: %+v", name, meta)
		}
	}
	recs, _ := collect(t, fixture("inference-perf", "simple_chain.json"), Options{})
	if p, o := recs[0].PromptTokens, recs[0].OutputTokens; p.Known || o.Known {
		t.Errorf("tokens of a log that counts none: %v, %v", p, o)
	}
}

// A request follows those whose answers its prompt holds, as text or as calls of
// tools, and no other; an answer that came after it left is another's.
func TestFollow(t *testing.T) {
	said := func(text string) string {
		return `[{"role":"assistant","parts":[{"type":"text","content":"` + text + `"}]}]`
	}
	heard := func(list ...string) string {
		var all []string
		for _, text := range list {
			all = append(all, `{"role":"user","content":"go on"},{"role":"assistant","content":[{"type":"text","text":"`+text+`"}]}`)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	const in, out = "gen_ai.input.messages", "gen_ai.output.messages"
	recs, _ := spans(t,
		testSpan{id: "00", start: 0, ms: 10, attrs: attrsWith(out, said("a"))},
		testSpan{id: "01", start: 20, ms: 10, attrs: attrsWith(in, heard("a"), out, said("b"))},
		testSpan{id: "02", start: 21, ms: 30, attrs: attrsWith(in, heard("a"), out, said("c"))},
		testSpan{id: "03", start: 40, ms: 10, attrs: attrsWith(in, heard("a", "b", "c"), out, `[{"role":"assistant","tool_calls":[{"id":"call_1","type":"function"}]}]`)},
		testSpan{id: "04", start: 60, ms: 10, attrs: attrsWith(in, `[{"role":"assistant","parts":[{"type":"tool_call","id":"call_1"}]},{"role":"user","content":"b"}]`)},
		testSpan{id: "05", start: 60, ms: 10, attrs: attrsWith(in, heard("a", "b", "c"))},
	)
	want := [][]uint64{nil, {0}, {0}, {1}, {3}, {1, 2}}
	for i, r := range recs {
		if !reflect.DeepEqual(r.After, want[i]) {
			t.Errorf("%d follows %v, want %v", i, r.After, want[i])
		}
	}
	if recs[4].Think.V != 10*time.Millisecond || recs[5].Think.V != 9*time.Millisecond {
		t.Errorf("pauses %v and %v", recs[4].Think, recs[5].Think)
	}
}

// With a bound on what is held back, requests come out a trace at a time, and all
// of them do.
func TestSpanTreeIsBounded(t *testing.T) {
	const many = 200
	read := func(limit int) []string {
		s := &Source{in: &input{warnings: make(map[string]int64)}, rejected: make(map[string]int64)}
		tree := newSpanTree()
		tree.limit = limit
		out := &outlet{s}
		for i := range many {
			n := &spanNode{id: "a", start: int64(1000 + i), end: int64(2000 + i), rec: new(traces.Record)}
			n.rec.ID = traces.Some(fmt.Sprint(i))
			if err := tree.add(fmt.Sprint(i), n, out); err != nil {
				t.Fatal(err)
			}
			if tree.held > max(limit, 1) || len(tree.traces) != tree.quiet.Len() || tree.held != len(tree.traces) {
				t.Fatalf("%d held, %d traces", tree.held, len(tree.traces))
			}
		}
		if err := tree.finish(out); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range s.queue {
			ids = append(ids, r.ID.V)
		}
		return ids
	}
	want := read(heldSpans)
	for _, limit := range []int{0, 1, 7} {
		if got := read(limit); len(got) != many || !reflect.DeepEqual(got, want) {
			t.Errorf("limit %d: %v", limit, got)
		}
	}
}
