package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/synth/prompt"
	"wavetank/traces"
)

// spelled is the prompt of a row in text.
func spelled(q *traces.Request, blockTokens int) string {
	return string(prompt.AppendText(nil, prompt.Spec{
		Tokens: int(q.PromptTokens.V), BlockTokens: blockTokens, Unique: q.Seq,
		Blocks: func(yield func(uint64) bool) {
			for _, run := range q.Blocks {
				for i := range run.Len {
					if !yield(run.Start + uint64(i)) {
						return
					}
				}
			}
		},
	}))
}

// crowded is an engine with too little memory for randomTrace: it preempts.
func crowded() Config {
	c := testConfig
	c.Blocks = 80
	return c
}

// Whoever asks over HTTP sees what the engine says in virtual time, to the
// nanosecond: times, token counts and cached tokens.
func TestHTTPGivesTheAnswerOfVirtualTime(t *testing.T) {
	recs := randomTrace(7, 150)
	want, res := collect(t, crowded(), recs, 64)
	if res.Preemptions == 0 || res.PrefixHits == 0 {
		t.Fatalf("the load is too light for this test: %+v", res)
	}
	inBubble(t, crowded(), func(t *testing.T, b *bench) {
		var all sync.WaitGroup
		for i := range recs {
			all.Go(func() {
				q := &recs[i].Request
				time.Sleep(q.Arrival)
				r := b.post(t, "/v1/chat/completions", chatOf(spelled(q, 64), q.OutputTokens.V), "")
				got, o := r.read(), want[i].Outcome
				if r.status != 200 || r.err != nil || !got.done || got.usage == nil {
					t.Errorf("row %d: %d %v %s", i, r.status, r.err, r.body)
					return
				}
				first, last := got.tokens[0], got.tokens[len(got.tokens)-1]
				if first != o.FirstToken.V || last != o.LastToken.V || got.usage.Cached() != o.CachedTokens.V ||
					got.usage.Prompt != o.PromptTokensSeen.V || got.usage.Completion != o.OutputTokensSeen.V ||
					len(got.tokens) != int(o.OutputTokensSeen.V) || prompt.Count(got.text) != len(got.tokens) {
					t.Errorf("row %d: first %v last %v usage %+v, %d events; want %+v", i, first, last, got.usage, len(got.tokens), o)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		got := b.sim.Counters()
		if got != res.Counters {
			t.Errorf("counters are %+v; want %+v", got, res.Counters)
		}
	})
}

// Speed is a scale of time and nothing else.
func TestSpeedScalesTime(t *testing.T) {
	c := testConfig
	c.Speed = 10
	inBubble(t, c, func(t *testing.T, b *bench) {
		r := b.post(t, "/v1/chat/completions", chatOf("a b c d", 3), "")
		got := r.read()
		want := []time.Duration{ns(4, 0, 0, 0) / 10, (ns(4, 0, 0, 0) + ns(0, 0, 1, 5)) / 10, (ns(4, 0, 0, 0) + ns(0, 0, 1, 5) + ns(0, 0, 1, 6)) / 10}
		if fmt.Sprint(got.tokens) != fmt.Sprint(want) {
			t.Errorf("tokens at %v, want %v", got.tokens, want)
		}
	})
}

// A client that hangs up frees its request: the engine falls idle.
func TestHangingUpFreesTheRequest(t *testing.T) {
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "POST", "http://sim/v1/chat/completions", strings.NewReader(chatOf("a b c", 5000)))
		res, err := b.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		time.Sleep(10 * time.Millisecond)
		if n := b.sim.Counters(); n.Running != 0 || n.UsedBlocks != 0 || n.Generated > 60 {
			t.Errorf("%+v", n)
		}
		if m := b.get(t, "/metrics"); !strings.Contains(m, `finished_reason="abort"} 1`) {
			t.Error("the metrics do not count it")
		}
	})
}

// A server that closes ends the answers under way and refuses new ones.
func TestCloseBreaksAnswersOff(t *testing.T) {
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		time.AfterFunc(50*time.Millisecond, b.sim.Close)
		if r := b.post(t, "/v1/chat/completions", chatOf("a b c", 5000), ""); r.err == nil {
			t.Error("the answer ended as if it were whole")
		}
		if r := b.post(t, "/v1/chat/completions", chatOf("a b c", 5), ""); r.status != http.StatusServiceUnavailable {
			t.Errorf("status %d after Close", r.status)
		}
	})
}

// Answers in one piece say the same as streams.
func TestWholeAnswers(t *testing.T) {
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		for path, body := range map[string]string{
			chat.path: `{"model":"m","max_completion_tokens":4,"ignore_eos":true,"messages":[
				{"role":"system","content":null},{"content":[{"type":"text","text":"a b"}]},{"content":"c"}]}`,
			completions.path: `{"model":"m","max_tokens":4,"ignore_eos":true,"prompt":[5,6,7]}`,
		} {
			r := b.post(t, path, body, "")
			var got struct {
				ID, Model string
				Choices   []struct {
					Text    string
					Message struct{ Role, Content string }
					Finish  string `json:"finish_reason"`
				}
				Usage usage
			}
			if err := json.Unmarshal([]byte(r.body), &got); err != nil || len(got.Choices) != 1 {
				t.Fatalf("%s: %v: %s", path, err, r.body)
			}
			choice := got.Choices[0]
			if got.Usage.Prompt != 3 || got.Usage.Completion != 4 || got.Model != "m" || !strings.HasSuffix(got.ID, "-r1") ||
				prompt.Count(choice.Text+choice.Message.Content) != 4 || (choice.Message.Role == "assistant") != (path == chat.path) ||
				choice.Finish != "length" || r.header.Get("X-Request-Id") != "r1" {
				t.Errorf("%s: %s", path, r.body)
			}
		}
	})
}

// Usage in every event counts up to the whole.
func TestContinuousUsage(t *testing.T) {
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		for _, path := range []string{chat.path, completions.path} {
			r := b.post(t, path, `{"prompt":"a b","messages":[{"content":"a b"}],"max_tokens":3,"ignore_eos":true,
				"stream":true,"stream_options":{"continuous_usage_stats":true}}`, "no-role")
			for n, line := range r.lines[:4] {
				if want := fmt.Sprintf(`"completion_tokens":%d,`, min(n+1, 3)); !strings.Contains(line, want) {
					t.Errorf("%s: event %d: %s; want %s", path, n, line, want)
				}
			}
		}
	})
}

// A repeated list of token ids is cached in whole blocks, and never all of it.
func TestTokenIDsAreExact(t *testing.T) {
	ids := strings.TrimSuffix(strings.Repeat("9,", 1000), ",")
	body := `{"prompt":[` + ids + `],"max_tokens":1,"stream":true,"stream_options":{"include_usage":true}}`
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		for _, cached := range []int32{0, 992} {
			r := b.post(t, "/v1/completions", body, "")
			if u := r.read().usage; u == nil || u.Prompt != 1000 || u.Cached() != cached || u.Completion != 1 {
				t.Errorf("usage %+v; want 1000 prompt and %d cached tokens", u, cached)
			}
		}
	})
}

// The chat template costs its tokens and is the same for all.
func TestTemplateTokens(t *testing.T) {
	c := testConfig
	c.TemplateTokens = 29
	inBubble(t, c, func(t *testing.T, b *bench) {
		r := b.post(t, "/v1/chat/completions", chatOf("a b c", 1), "")
		if u := r.read().usage; u == nil || u.Prompt != 32 {
			t.Errorf("usage %+v", u)
		}
		r = b.post(t, "/v1/chat/completions", chatOf("d e f", 1), "")
		if u := r.read().usage; u == nil || u.Cached() != 16 {
			t.Errorf("usage %+v; the template's whole block is cached", u)
		}
	})
}

// The next turn of a chat, which brings the answer back, finds it in the cache:
// 96 tokens, whether the last step filled the sixth block or an earlier one did.
func TestNextTurnFindsTheAnswerCached(t *testing.T) {
	for _, output := range []int32{94, 100} {
		inBubble(t, testConfig, func(t *testing.T, b *bench) {
			r := b.post(t, "/v1/chat/completions", chatOf("a b c", output), "")
			turn := fmt.Sprintf(`{"messages":[{"content":"a b c"},{"content":%q},{"content":"d"}],"max_tokens":1,"stream":true,"stream_options":{"include_usage":true}}`, r.read().text)
			r = b.post(t, "/v1/chat/completions", turn, "")
			if u := r.read().usage; u == nil || u.Prompt != output+4 || u.Cached() != 96 {
				t.Errorf("usage %+v; want 96 of %d tokens cached", u, output+4)
			}
		})
	}
}

// Without ignore_eos answers end by themselves, within their limits, around the mean.
func TestNaturalLength(t *testing.T) {
	c := testConfig
	c.MeanOutput = 20
	total, n := 0, 20_000
	for i := range n {
		a := &answer{body: &body{MinTokens: 3}}
		got, why := a.length(100, stream(1, "answer length", uint64(i)).Float64(), c.MeanOutput)
		if got < 3 || got > 100 || (why == "length") != (got == 100) {
			t.Fatalf("%d tokens, %s", got, why)
		}
		total += int(got)
	}
	// E[max(3, min(G, 100))] = Σ_{k<100} P(G > k) + P(G ≤ 1) + P(G ≤ 2), G geometric of mean 20: 20(1−q¹⁰⁰) + 2 − q − q², q = 0.95.
	want := 20*(1-0.005920529220334) + 2 - 0.95 - 0.9025
	if mean := float64(total) / float64(n); mean < want*0.97 || mean > want*1.03 {
		t.Errorf("mean %v, want %v", mean, want)
	}
}

// The metrics have vLLM's names and say what happened.
func TestMetrics(t *testing.T) {
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		text := strings.TrimSpace(strings.Repeat("w ", 100))
		for range 2 {
			b.post(t, "/v1/chat/completions", chatOf(text, 3), "")
		}
		got := b.get(t, "/metrics")
		for _, want := range []string{
			`vllm:num_requests_running{engine="0",model_name="sim"} 0`,
			`vllm:num_requests_waiting{engine="0",model_name="sim"} 0`,
			`vllm:kv_cache_usage_perc{engine="0",model_name="sim"} 0`,
			`vllm:prefix_cache_queries_total{engine="0",model_name="sim"} 200`,
			`vllm:prefix_cache_hits_total{engine="0",model_name="sim"} 96`,
			`vllm:prompt_tokens_total{engine="0",model_name="sim"} 200`,
			`vllm:generation_tokens_total{engine="0",model_name="sim"} 6`,
			`vllm:num_preemptions_total{engine="0",model_name="sim"} 0`,
			`vllm:request_success_total{engine="0",model_name="sim",finished_reason="length"} 2`,
			`vllm:time_to_first_token_seconds_bucket{engine="0",model_name="sim",le="0.001"} 0`,
			`vllm:time_to_first_token_seconds_bucket{engine="0",model_name="sim",le="0.005"} 2`,
			`vllm:time_to_first_token_seconds_bucket{engine="0",model_name="sim",le="+Inf"} 2`,
			`vllm:time_to_first_token_seconds_count{engine="0",model_name="sim"} 2`,
			`vllm:inter_token_latency_seconds_count{engine="0",model_name="sim"} 4`,
			`vllm:e2e_request_latency_seconds_count{engine="0",model_name="sim"} 2`,
			`vllm:request_queue_time_seconds_count{engine="0",model_name="sim"} 2`,
			`vllm:request_prefill_time_seconds_count{engine="0",model_name="sim"} 2`,
			`vllm:request_decode_time_seconds_count{engine="0",model_name="sim"} 2`,
			`vllm:cache_config_info{block_size="16",enable_prefix_caching="True",engine="0",num_gpu_blocks="1000"} 1`,
		} {
			if !strings.Contains(got, want+"\n") {
				t.Errorf("no line %s", want)
			}
		}
		if !strings.Contains(b.get(t, "/v1/models"), `"id":"sim"`) || b.get(t, "/health") != "" {
			t.Error("models or health")
		}
	})
}

// A bad request gets HTTP 400 and an error in OpenAI's shape that says what is wrong.
func TestBadRequests(t *testing.T) {
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		for body, want := range map[string]string{
			`{`:                              "JSON",
			``:                               "JSON",
			`[]`:                             "JSON",
			`{"messages":7}`:                 "messages",
			`{"messages":[{"content":7}]}`:   "content",
			`{"prompt":["a","b"]}`:           "one string",
			`{"prompt":{"a":1}}`:             "one string",
			`{"prompt":[-1]}`:                "",
			`{"messages":[]}`:                "at least 1",
			`{"prompt":"a","n":2}`:           "n is 2",
			`{"prompt":"a","max_tokens":0}`:  "max_tokens is 0",
			`{"prompt":"a","min_tokens":-1}`: "min_tokens is -1",
			`{"prompt":"a","max_tokens":3,"min_tokens":4}`:      "min_tokens is 4",
			`{"prompt":"a","max_tokens":10000}`:                 "context is 10000",
			`{"prompt":"a","max_tokens":1e99}`:                  "max_tokens",
			`{"prompt":` + strings.Repeat("[", 20_000):          "JSON",
			`{"prompt":"` + strings.Repeat("a ", 10_000) + `"}`: "context is 10000",
		} {
			r := b.post(t, "/v1/completions", body, "")
			var e struct {
				Error struct{ Message, Type string }
			}
			if json.Unmarshal([]byte(r.body), &e); r.status != 400 || e.Error.Type != "invalid_request_error" || !strings.Contains(e.Error.Message, want) {
				t.Errorf("%.60s: %d %s; want 400 and %q", body, r.status, r.body, want)
			}
		}
		if r := b.post(t, "/v1/completions", `{"prompt":"a"}`, "sink-the-ship"); r.status != 400 || !strings.Contains(r.body, "sink-the-ship") {
			t.Errorf("an unknown fault: %d %s", r.status, r.body)
		}
	})
}

// A body over the limit is refused as too large, and read no further.
func TestBodyIsBounded(t *testing.T) {
	const limit = 1 << 20
	body := io.LimitReader(zeros{}, 10*limit)
	w := httptest.NewRecorder()
	_, err := readBody(w, httptest.NewRequest("POST", completions.path, body), limit)
	if left := body.(*io.LimitedReader).N; statusOf(err) != http.StatusRequestEntityTooLarge || left < 8*limit {
		t.Errorf("%v, %d bytes left", err, left)
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// Whatever the body, the parser says what it is or what is wrong with it.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{chatOf("a b", 3), `{"prompt":[1,2,3]}`, `{"prompt":[[1,2]]}`, `{"prompt":["a"]}`,
		`{"messages":[{"content":null},{"content":[{"type":"text","text":"x"}]}],"n":1}`, `{"stream_options":null}`, `null`} {
		f.Add([]byte(seed))
	}
	s := &Server{cfg: testConfig}
	s.cfg.BlockTokens, s.cfg.MeanOutput = 16, 200
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := parseBody(raw)
		if err != nil {
			return
		}
		a := &answer{dialect: chat, body: b}
		if s.plan(a, 1) != nil {
			return
		}
		if a.Output < 1 || a.Prompt+a.Output > s.cfg.MaxModelLen || len(a.Keys) != int(a.Prompt+a.Output-1)/16 {
			t.Errorf("%q: %d+%d tokens, %d keys", raw, a.Prompt, a.Output, len(a.Keys))
		}
	})
}
