package openai

import (
	"io"
	"net/http"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/traces"
)

const ms = time.Millisecond

func TestTimesAreWhatTheServerDidToTheNanosecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := serve(t, stream(
			step{2*ms + 5, role}, step{211*ms + 1, hello}, step{20*ms + 3, hello}, step{33*ms + 7, hello},
			step{0, ending}, step{50 * ms, counts}, step{1 * ms, done},
		), Options{KeepGaps: true})
		want := traces.Outcome{
			Status: traces.OK, HTTPStatus: n32(200), FinishReason: traces.Some("length"),
			FirstToken: some(213*ms + 6), FirstOutput: some(213*ms + 6), LastToken: some(266*ms + 16), End: some(317*ms + 16),
			PromptTokensSeen: n32(30), CachedTokens: n32(16), OutputTokensSeen: n32(3), TokenBasis: traces.Some(traces.BasisUsage),
			Events: n32(3), MaxGap: some(33*ms + 7), Gaps: []time.Duration{20*ms + 3, 33*ms + 7},
		}
		if got := ask(t, target, row()); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
}

// Events that carry no token came to be counted as the first one, and events that
// carry one were missed: vllm-project/vllm#3759, #15106, sgl-project/sglang#23949,
// #23954, vllm-project/guidellm#737, #742, #752, #835, vllm-project/aibrix#1573,
// triton-inference-server/perf_analyzer#433.
func TestFirstTokenIsTheFirstEventWithContent(t *testing.T) {
	silent := []string{
		role, ": ping\n\n", "event: ping\n\n", "data:\n\n", "data: {}\n\n", "data: null\n\n", counts,
		delta(`"content":""`), delta(`"content":null`), delta(`"content":[]`), delta(`"reasoning":null,"reasoning_content":""`),
		delta(`"tool_calls":null`), delta(`"tool_calls":[]`), delta(`"tool_calls":[{"index":0,"function":{"name":"","arguments":""}}]`),
		delta(`"tool_calls":[{"index":0,"id":"call_1","type":"function"}]`),
		`data: {"choices":[{"index":0,"text":""}]}` + "\n\n", `data: {"choices":[{"index":0,"delta":null}]}` + "\n\n", `data: {"choices":null}` + "\n\n",
	}
	spoken := map[string]bool{ // and whether it is output, not reasoning
		hello: true, delta(`"content":"\n"`): true, delta(`"content":"é"`): true, delta(`"content":[{"type":"text","text":"a"}]`): true,
		delta(`"reasoning":"a"`): false, delta(`"reasoning_content":"a"`): false, delta(`"content":null,"reasoning_content":"a"`): false,
		delta(`"content":"","reasoning":"a"`): false, delta(`"refusal":"a"`): true,
		delta(`"tool_calls":[{"index":0,"function":{"name":"f"}}]`): true, delta(`"tool_calls":[{"function":{"arguments":"{"}}]`): true,
		`data: {"choices":[{"index":0,"text":"a"}]}` + "\n\n": true, "data:" + hello[6:]: true,
	}
	for event, output := range spoken {
		synctest.Test(t, func(t *testing.T) {
			var steps []step
			for _, s := range silent {
				steps = append(steps, step{ms, s})
			}
			at := time.Duration(len(silent))*ms + 100*ms
			steps = append(steps, step{100 * ms, event}, step{ms, ending}, step{ms, done})
			out := ask(t, serve(t, stream(steps...), Options{}), row())
			if out.FirstToken != some(at) || out.LastToken != some(at) || out.Events.V != 1 || out.Status != traces.OK {
				t.Errorf("%s: %+v, want the first token at %v", event, out, at)
			}
			if out.FirstOutput.Known != output {
				t.Errorf("%s: first output %v, want known: %v", event, out.FirstOutput, output)
			}
		})
	}
	for _, event := range silent {
		synctest.Test(t, func(t *testing.T) {
			out := ask(t, serve(t, stream(step{ms, event}, step{ms, ending}, step{ms, done}), Options{}), row())
			if out.Status != traces.Empty || out.FirstToken.Known || out.Events != n32(0) {
				t.Errorf("%s: %+v, want an empty answer", event, out)
			}
		})
	}
}

func TestFirstOutputComesAfterReasoning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		think := delta(`"reasoning_content":"hm"`)
		out := ask(t, serve(t, stream(step{10 * ms, think}, step{10 * ms, think}, step{10 * ms, hello}, step{10 * ms, hello}, step{0, ending + done}), Options{}), row())
		if out.FirstToken != some(10*ms) || out.FirstOutput != some(30*ms) || out.Events.V != 4 {
			t.Errorf("%+v", out)
		}
	})
}

func head(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, `{"error":{"message":"no"}}`)
	}
}

func whole(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, text)
	}
}

// A 200 is not an answer: vllm-project/guidellm#743, #795 (an error in the
// stream), #613, #615 (an empty one), vllm-project/aibrix#2567 (one that is cut).
func TestEveryEndHasItsStatus(t *testing.T) {
	cut := func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, `{"choices":[`)
	}
	for _, c := range []struct {
		name   string
		h      http.HandlerFunc
		status traces.Status
		class  string
	}{
		{"whole", stream(step{0, hello + ending + done}), traces.OK, ""},
		{"finish and no [DONE]", stream(step{0, hello + ending}), traces.OK, ""},
		{"[DONE] and no finish", stream(step{0, hello + done}), traces.OK, ""},
		{"no blank line at the end", stream(step{0, hello + "data: [DONE]"}), traces.OK, ""},
		{"reset after the finish", then(stream(step{0, hello + ending}), stop), traces.OK, ""},
		{"finished without a token", stream(step{0, role + ending + done}), traces.Empty, ""},
		{"neither finish nor [DONE]", stream(step{0, hello + hello}), traces.Truncated, ""},
		{"nothing at all", stream(), traces.Truncated, ""},
		{"reset in the stream", then(stream(step{0, hello}), stop), traces.Truncated, "reset"},
		{"an error in the stream", stream(step{0, hello}, step{ms, `data: {"error":{"message":"out of memory","code":500}}` + "\n\n"}), traces.Error, "stream_error"},
		{"an error and [DONE]", stream(step{0, `data: {"error":"no"}` + "\n\n" + done}), traces.Error, "stream_error"},
		{"an error as an object", stream(step{0, `data: {"object":"error","message":"no"}` + "\n\n" + done}), traces.Error, "stream_error"},
		{"an event that is no JSON", stream(step{0, hello + "data: {garbage\n\n" + ending + done}), traces.Error, "malformed"},
		{"whole, not streamed", whole(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`), traces.OK, ""},
		{"not streamed, empty", whole(`{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`), traces.Empty, ""},
		{"not streamed, unfinished", whole(`{"choices":[{"message":{"content":"a"}}]}`), traces.Truncated, ""},
		{"not streamed, an error", whole(`{"error":{"message":"no"}}`), traces.Error, "stream_error"},
		{"not streamed, cut", cut, traces.Truncated, "reset"},
		{"not streamed, no JSON", whole(`<html>`), traces.Error, "malformed"},
		{"too many requests", head(429), traces.Rejected, "http_429"},
		{"unavailable for a while", head(503, "Retry-After", "1"), traces.Rejected, "http_5xx"},
		{"unavailable", head(503), traces.Error, "http_5xx"},
		{"failed", head(500), traces.Error, "http_5xx"},
		{"refused", head(400), traces.Error, "http_4xx"},
		{"unauthorized", head(401), traces.Error, "http_4xx"},
		{"moved", head(307, "Location", "http://pipe/elsewhere"), traces.Error, "redirect"},
		{"no answer", stop, traces.Error, "reset"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := ask(t, serve(t, c.h, Options{}), row())
				if out.Status != c.status || out.Error.V != c.class || out.Error.Known != (c.class != "") || !out.End.Known {
					t.Errorf("%+v, want %s %q", out, c.status, c.class)
				}
			})
		})
	}
}

func TestWithoutAStreamTheFirstTokenIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req := row()
		req.Stream = traces.Some(false)
		out := ask(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			whole(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`)(w, r)
		}, Options{}), req)
		want := traces.Outcome{
			Status: traces.OK, HTTPStatus: n32(200), FinishReason: traces.Some("stop"), End: some(time.Second),
			PromptTokensSeen: n32(9), OutputTokensSeen: n32(5), TokenBasis: traces.Some(traces.BasisUsage),
		}
		if !reflect.DeepEqual(out, want) {
			t.Errorf("got  %+v\nwant %+v", out, want)
		}
	})
}

// kubernetes-sigs/inference-perf#392, #452: chunks of usage and [DONE] were counted
// into the time per token. sgl-project/sglang#36272: 200 tokens in one event.
func TestUsageDoesNotMoveTheLastToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := ask(t, serve(t, stream(step{ms, hello}, step{ms, hello}, step{0, ending}, step{50 * ms, counts}, step{0, done}), Options{}), row())
		if out.LastToken != some(2*ms) || out.End != some(52*ms) {
			t.Errorf("%+v", out)
		}
		buffered := serve(t, stream(step{time.Second, hello + ending + counts + done}), Options{})
		if out := ask(t, buffered, row()); out.Events != n32(1) || out.OutputTokensSeen != n32(3) || out.MaxGap.Known || out.FirstToken != out.LastToken {
			t.Errorf("%+v", out)
		}
	})
}

func TestTheCountOfTokensSaysItsBasis(t *testing.T) {
	with := func(n string) string {
		return `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":4,"completion_tokens":` + n + "}}\n\n"
	}
	for _, c := range []struct {
		name  string
		steps string
		n     int32
		basis string
	}{
		{"no usage", hello + hello + ending + done, 2, traces.BasisEvents},
		{"usage at the end", hello + hello + ending + counts + done, 3, traces.BasisUsage},
		{"usage in every event", with("2") + with("5") + with("9") + ending + done, 9, traces.BasisUsageStream},
		{"usage in every event, cut", with("2") + with("5"), 5, traces.BasisUsageStream},
		{"usage before the last token", with("1") + hello + hello + ending + done, 3, traces.BasisEvents},
		{"usage that is no number", hello + `data: {"choices":[],"usage":{"completion_tokens":"many"}}` + "\n\n" + done, 1, traces.BasisEvents},
		{"usage without a count", hello + `data: {"choices":[],"usage":{}}` + "\n\n" + done, 1, traces.BasisEvents},
	} {
		synctest.Test(t, func(t *testing.T) {
			out := ask(t, serve(t, stream(step{ms, c.steps}), Options{}), row())
			if out.OutputTokensSeen != n32(c.n) || out.TokenBasis.V != c.basis {
				t.Errorf("%s: %d tokens by %s, want %d by %s", c.name, out.OutputTokensSeen.V, out.TokenBasis.V, c.n, c.basis)
			}
		})
	}
}
