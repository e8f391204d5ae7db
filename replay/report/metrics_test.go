package report

import (
	"math"
	"testing"
	"time"

	"wavetank/traces"
)

func ms(n float64) duration { return traces.Some(time.Duration(n * float64(time.Millisecond))) }

func ints(n int32) tokens { return traces.Some(n) }

// full is an ok row of a run with every field that a metric reads: due at 1 s,
// 2 ms late, first token after 214 ms, 41 tokens in 41 events, the last at 614 ms.
func full() traces.Record {
	var r traces.Record
	r.PromptTokens, r.OutputTokens = ints(500), ints(41)
	r.Outcome = traces.Outcome{
		Status: traces.OK, HTTPStatus: ints(200), FinishReason: traces.Some("length"),
		Due: ms(1000), Sent: ms(1002), FirstToken: ms(214), FirstOutput: ms(214), LastToken: ms(614), End: ms(620),
		Queue: ms(10), Prefill: ms(190), Decode: ms(400),
		PromptTokensSeen: ints(512), CachedTokens: ints(128), OutputTokensSeen: ints(41), TokenBasis: traces.Some(traces.BasisUsage),
		Events: ints(41), MaxGap: ms(30),
	}
	return r
}

func metric(t *testing.T, name string) Metric {
	t.Helper()
	for _, m := range Metrics {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no metric %q", name)
	return Metric{}
}

// defined on a full row, on an empty one never, and then with a reason.
func TestMetricsContract(t *testing.T) {
	r, empty := full(), traces.Record{}
	seen := map[string]bool{}
	for _, m := range Metrics {
		if seen[m.Name] || m.About == "" || m.Unit == "" || m.Rows == "" {
			t.Errorf("%q: twice, or not described", m.Name)
		}
		seen[m.Name] = true
		if v, ok := m.Of(&r); !ok || v <= 0 || math.IsInf(v, 0) || m.Rows.exclude(traces.OK, &r.Outcome) != "" {
			t.Errorf("%s of a full row = %v, %v", m.Name, v, ok)
		}
		if v, ok := m.Of(&empty); ok {
			t.Errorf("%s of an empty row = %v", m.Name, v)
		}
		if m.Why(&empty) == "" {
			t.Errorf("%s does not say why it is undefined", m.Name)
		}
	}
}

func TestValuesOfAFullRow(t *testing.T) {
	want := map[string]float64{
		"ttft_due": 216, "ttft_sent": 214, "ttfo": 214, "tpot": 10, "max_gap": 30, "e2e_due": 616, "e2e_sent": 614, "lag": 2,
		"queue": 10, "prefill": 190, "decode": 400,
		"prompt_tokens_asked": 500, "prompt_tokens_seen": 512, "cached_tokens": 128, "output_tokens_asked": 41, "output_tokens_seen": 41,
	}
	r := full()
	for _, m := range Metrics {
		if v, _ := m.Of(&r); v != want[m.Name] {
			t.Errorf("%s = %v, want %v", m.Name, v, want[m.Name])
		}
	}
}

// Each row is one law, with the public thread of a tool that broke it.
func TestLawsOfSingleRows(t *testing.T) {
	none := math.NaN()
	cases := []struct {
		law    string
		change func(*traces.Outcome)
		want   map[string]float64
	}{
		// vllm-project/vllm#3759: a role-only chunk at 5 ms is no first token.
		{"the first token is the first with content", func(o *traces.Outcome) {}, map[string]float64{"ttft_sent": 214}},
		// vllm-project/vllm#7242, sgl-project/sglang#1005: chunks at 1.0, 1.1 and 1.2 s.
		{"TTFT is not in TPOT", func(o *traces.Outcome) {
			o.FirstToken, o.LastToken, o.OutputTokensSeen, o.Events = ms(1000), ms(1200), ints(3), ints(3)
		}, map[string]float64{"tpot": 100}},
		// sgl-project/sglang#12064, vllm-project/vllm#27485: 40 tokens in 10 chunks 10 ms apart.
		{"TPOT counts tokens, not events", func(o *traces.Outcome) {
			o.FirstToken, o.LastToken, o.OutputTokensSeen, o.Events = ms(100), ms(190), ints(40), ints(10)
		}, map[string]float64{"tpot": 90. / 39}},
		// sgl-project/sglang#23949: only reasoning came.
		{"reasoning has a first token and no first output", func(o *traces.Outcome) {
			o.FirstOutput = duration{}
		}, map[string]float64{"ttft_sent": 214, "ttfo": none}},
		// sgl-project/sglang#36272: a parser that buffers 200 tokens into one event.
		{"one event of many tokens has no TPOT", func(o *traces.Outcome) {
			o.LastToken, o.OutputTokensSeen, o.Events, o.MaxGap = o.FirstToken, ints(200), ints(1), duration{}
		}, map[string]float64{"tpot": none, "max_gap": none, "ttft_sent": 214}},
		{"one event is known by its times too", func(o *traces.Outcome) {
			o.LastToken, o.OutputTokensSeen, o.Events = o.FirstToken, ints(200), tokens{}
		}, map[string]float64{"tpot": none}},
		// kubernetes-sigs/inference-perf#392: usage 50 ms after the last token.
		{"what follows the last token is in no figure", func(o *traces.Outcome) {
			o.End = ms(664)
		}, map[string]float64{"tpot": 10, "e2e_sent": 614}},
		// kubernetes-sigs/inference-perf drops TTFT of answers of one token.
		{"an answer of one token has a TTFT and no TPOT", func(o *traces.Outcome) {
			o.LastToken, o.OutputTokensSeen, o.Events = o.FirstToken, ints(1), ints(1)
		}, map[string]float64{"ttft_sent": 214, "tpot": none}},
		// tsenart/vegeta#223, vllm-project/vllm#54101: waiting before the send is the user's waiting.
		{"a late send is in the times from due, not in those from sent", func(o *traces.Outcome) {
			o.Sent = ms(4500)
		}, map[string]float64{"ttft_due": 3714, "ttft_sent": 214, "e2e_due": 4114, "lag": 3500}},
		{"an early send has a negative lag", func(o *traces.Outcome) { o.Sent = ms(999) }, map[string]float64{"lag": -1}},
		{"an answer that was no stream has an end and no tokens' times", func(o *traces.Outcome) {
			o.FirstToken, o.FirstOutput, o.LastToken = duration{}, duration{}, duration{}
		}, map[string]float64{"ttft_sent": none, "ttft_due": none, "tpot": none, "e2e_sent": 620}},
		{"uncounted tokens have no TPOT", func(o *traces.Outcome) { o.OutputTokensSeen = tokens{} }, map[string]float64{"tpot": none, "output_tokens_seen": none}},
	}
	for _, c := range cases {
		r := full()
		c.change(&r.Outcome)
		for name, want := range c.want {
			m := metric(t, name)
			v, ok := m.Of(&r)
			if ok == math.IsNaN(want) || ok && v != want {
				t.Errorf("%s: %s = %v, %v; want %v", c.law, name, v, ok, want)
			}
			if !ok && m.Why(&r) == "" {
				t.Errorf("%s: %s does not say why", c.law, name)
			}
		}
	}
}

// In a log nothing was asked for: its tokens are those that came.
func TestProductionTokensAreSeenOnes(t *testing.T) {
	r := full()
	r.Outcome.Due, r.Outcome.Sent = duration{}, duration{}
	r.Outcome.PromptTokensSeen, r.Outcome.OutputTokensSeen = tokens{}, tokens{}
	for name, want := range map[string]float64{"prompt_tokens_seen": 500, "output_tokens_seen": 41, "tpot": 10} {
		if v, ok := metric(t, name).Of(&r); !ok || v != want {
			t.Errorf("%s = %v, %v; want %v", name, v, ok, want)
		}
	}
	if _, ok := metric(t, "lag").Of(&r); ok {
		t.Error("a log has no lag")
	}
}

// The token by which a model ends its answer is in usage, and no event brings it:
// 264 events and 265 tokens are 263 pauses. (Seen on llama.cpp's server.)
func TestTPOTOfAnAnswerThatEndedByItself(t *testing.T) {
	rec := traces.Record{Outcome: traces.Outcome{
		Status: traces.OK, FinishReason: traces.Some("stop"), Events: traces.Some[int32](264), OutputTokensSeen: traces.Some[int32](265),
		FirstToken: traces.Some(time.Second), LastToken: traces.Some(time.Second + 263*10*time.Millisecond),
	}}
	if got, _ := tpot(&rec); got != 10 {
		t.Errorf("TPOT is %g ms, want 10", got)
	}
	rec.Outcome.FinishReason = traces.Some("length") // here the last token was sent, with another
	if got, _ := tpot(&rec); got >= 10 {
		t.Errorf("TPOT is %g ms, want less than 10", got)
	}
	s, err := Summarize(traces.FromSlice([]traces.Record{rec}), traces.Meta{Kind: traces.KindRun}, Options{})
	if err != nil || s.Tokens.MultiTokenEvents != 1 {
		t.Errorf("%d rows with several tokens an event, %v", s.Tokens.MultiTokenEvents, err)
	}
}
