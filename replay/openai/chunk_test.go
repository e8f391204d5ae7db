package openai

import (
	"encoding/json"
	"testing"

	"wavetank/traces"
)

// chunks are as servers send them, and then odd ones. plain says that the scanner
// reads them itself.
var chunks = []struct {
	data  string
	plain bool
	want  chunk
}{
	// vLLM, SGLang, llama.cpp and gateways.
	{`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`, true, chunk{}},
	{`{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"a \"b\" \n \u00e9 ü"},"logprobs":{"content":[{"token":"a","logprob":-1.5e-3,"bytes":[97]}]},"finish_reason":null}],"usage":null}`, true, chunk{output: true}},
	{`{"choices":[{"delta":{"reasoning_content":"hm","content":null}}]}`, true, chunk{reasoning: true}},
	{`{"choices":[{"delta":{"reasoning":"hm","content":"a"}}]}`, true, chunk{reasoning: true, output: true}},
	{`{"choices":[{"delta":{},"finish_reason":"stop","stop_reason":151645}]}`, true, chunk{finish: "stop"}},
	{`{"choices":[{"index":0,"text":" a","finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}}`, true,
		chunk{output: true, finish: "length", hasUsage: true, prompt: n32(7), completion: n32(1)}},
	{`{"choices":[],"usage":{"prompt_tokens":12,"total_tokens":15,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":8}}}`, true,
		chunk{hasUsage: true, prompt: n32(12), completion: n32(3), cached: n32(8)}},
	{`{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":null,"prompt_tokens_details":null}}`, true, chunk{hasUsage: true, prompt: n32(12)}},
	{` { "choices" : [ { "delta" : { "content" : "a" } } ] , "timings" : { "prompt_ms" : 1.25, "ok" : true } } `, true, chunk{output: true}},
	{`{}`, true, chunk{}},

	{`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}}]}`, false, chunk{output: true}},
	{`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"a":1}}}]}}]}`, false, chunk{output: true}},
	{`{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}`, false, chunk{output: true}},
	{`{"choices":[{"delta":{"content":7}}],"usage":"none"}`, false, chunk{output: true}},
	{`{"error":{"message":"no"}}`, false, chunk{failed: true}},
	{`{"error":null,"choices":[{"delta":{"content":"a"}}]}`, true, chunk{output: true}},
	{`{"object":"error","message":"no"}`, false, chunk{failed: true}},
	{`{"choices":[{"Delta":{"content":"a"}}]}`, false, chunk{output: true}},
	{`{"choices":[{"delta":{"content":"a"},"delta":{"content":"a"}}]}`, false, chunk{output: true}},
	{`{"choices":[{"delta":{"\u0063ontent":"a"}}]}`, true, chunk{output: true}},
	{`{"choices":[{"finish_reason":"a\tb"}]}`, true, chunk{finish: "a\tb"}},
	{`{"choices":{"0":1}}`, false, chunk{}},
	{`{"choices":[],"usage":{"prompt_tokens":12.0,"completion_tokens":-1,"prompt_tokens_details":[]}}`, false, chunk{hasUsage: true, prompt: n32(12)}},
	{`{"choices":[],"usage":{"prompt_tokens":99999999999,"completion_tokens":1e2}}`, false, chunk{hasUsage: true, completion: n32(100)}},
	{`null`, false, chunk{}},
}

func TestChunksSayWhatTheyMean(t *testing.T) {
	for _, c := range chunks {
		if got, err := decode([]byte(c.data)); err != nil || got != c.want {
			t.Errorf("decode %s: %+v, %v, want %+v", c.data, got, err, c.want)
		}
		got, sure := scan([]byte(c.data))
		if sure != c.plain || sure && got != c.want {
			t.Errorf("scan %s: %+v, sure %v, want %+v", c.data, got, sure, c.want)
		}
	}
}

// What the scanner is sure of is what encoding/json says.
func FuzzScanIsDecode(f *testing.F) {
	for _, c := range chunks {
		f.Add([]byte(c.data))
	}
	for _, s := range []string{`{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":tru}`, `{"a":1,}`, `{"choices":[{}]]}`, `{"a":[1 2]}`, `[]`, `{"choices":[{"text":"a"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, sure := scan(data)
		if !sure {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is no JSON", data)
		}
		if want, err := decode(data); err != nil || got != want {
			t.Errorf("%q: scan %+v, decode %+v, %v", data, got, want, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data := []byte(chunks[1].data)
	for name, f := range map[string]func([]byte) error{
		"scan":   func(d []byte) error { scan(d); return nil },
		"decode": func(d []byte) error { _, err := decode(d); return err },
		"typed": func(d []byte) error { // encoding/json without the leniency
			var v struct {
				Choices []struct {
					Delta        struct{ Content, Reasoning, ReasoningContent, Refusal *string }
					FinishReason *string `json:"finish_reason"`
				}
				Usage *struct {
					PromptTokens traces.Opt[int32] `json:"-"`
				}
			}
			return json.Unmarshal(d, &v)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
