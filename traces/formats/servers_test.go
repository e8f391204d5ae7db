package formats

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"wavetank/traces"
)

// What each vendor calls input and output, in the words of a trace: all that the
// model attends to, cached or not, and all that it generated, reasoning or not.
func TestServerTokens(t *testing.T) {
	const reasoned = `{"input_tokens":100,"cached_input_tokens":60,"output_tokens":30,"reasoning_output_tokens":20,"total_tokens":130}`
	for _, tt := range []struct {
		format, log                       string
		prompt, cached, output, reasoning int32 // -1: unknown
	}{
		{"sglang", `{"timestamp":"2026-03-02T09:00:01","event":"request.finished","rid":"a","out":{"meta_info":{"prompt_tokens":100,"cached_tokens":60,"completion_tokens":30,"e2e_latency":1}}}`,
			100, 60, 30, -1},
		{"dynamo", `{"schema":"dynamo.request.trace.v1","event_type":"request_end","request":{"request_received_ms":1777312800000,"input_tokens":100,"cached_tokens":60,"output_tokens":30}}`,
			100, 60, 30, -1},
		{"dynamo", `{"schema":"dynamo.request.trace.v1","event_type":"request_end","request":{"request_received_ms":1777312800000,"output_tokens":30,"replay":{"trace_block_size":64,"input_length":100,"input_sequence_hashes":[1,2]}}}`,
			100, -1, 30, -1},
		{"claude-code", `{"type":"assistant","parentUuid":null,"isSidechain":false,"timestamp":"2026-03-02T09:00:01Z","message":{"id":"m","usage":{"input_tokens":10,"cache_creation_input_tokens":30,"cache_read_input_tokens":60,"output_tokens":30}}}`,
			100, 60, 30, -1},
		{"claude-code", `{"type":"assistant","parentUuid":null,"isSidechain":false,"timestamp":"2026-03-02T09:00:01Z","message":{"id":"m","usage":{"input_tokens":100,"output_tokens":30}}}`,
			100, -1, 30, -1},
		{"codex", `{"timestamp":"2026-03-02T09:00:01Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5000,"total_tokens":9000},"last_token_usage":` + reasoned + `}}}`,
			100, 60, 30, 20},
		{"sagemaker", `{"captureData":{"endpointInput":{"data":"{\"messages\":[],\"max_tokens\":4096}","encoding":"JSON"},"endpointOutput":{"data":"{\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":30,\"prompt_tokens_details\":{\"cached_tokens\":60},\"completion_tokens_details\":{\"reasoning_tokens\":20}}}","encoding":"JSON"}},"eventMetadata":{"inferenceTime":"2026-03-02T09:00:01Z"}}`,
			100, 60, 30, 20},
		{"sagemaker", `{"captureData":{"endpointInput":{"data":"{\"messages\":[],\"max_tokens\":4096}","encoding":"JSON"}},"eventMetadata":{"inferenceTime":"2026-03-02T09:00:01Z"}}`,
			-1, -1, -1, -1},
	} {
		r := one(t, tt.log, Options{Format: tt.format})
		got := [...]int32{r.PromptTokens.Or(-1), r.Outcome.CachedTokens.Or(-1), r.OutputTokens.Or(-1), r.ReasoningTokens.Or(-1)}
		if want := [...]int32{tt.prompt, tt.cached, tt.output, tt.reasoning}; got != want {
			t.Errorf("%s: prompt, cached, output, reasoning %v, want %v of %s", tt.format, got, want, tt.log)
		}
		if r.Outcome.PromptTokensSeen != r.PromptTokens || r.Outcome.OutputTokensSeen != r.OutputTokens {
			t.Errorf("%s: seen %v and %v", tt.format, r.Outcome.PromptTokensSeen, r.Outcome.OutputTokensSeen)
		}
	}
}

// Every code is one failure, and the codes by which servers shed load are refusals.
func TestHTTPFailure(t *testing.T) {
	for code, want := range map[int]string{
		0: "error failed 0", 200: "error failed 0", 400: "error http_4xx 400", 429: "rejected http_429 429", 499: "cancelled  499",
		500: "error http_5xx 500", 503: "rejected http_5xx 503", 529: "rejected http_5xx 529", 600: "error failed 0",
	} {
		var o traces.Outcome
		setHTTPFailure(&o, code)
		if got := fmt.Sprintf("%s %s %d", o.Status, o.Error.V, o.HTTPStatus.V); got != want {
			t.Errorf("%d: %s, want %s", code, got, want)
		}
	}
}

// A session reads the same whether it comes from the agent's own file or from what
// TraceLab made of it.
func TestTracelabAgrees(t *testing.T) {
	const slack = 50 * time.Millisecond
	rounds, _ := collect(t, fixture("tracelab", "round_trace.jsonl"), Options{})
	for _, format := range []string{"claude-code", "codex"} {
		own, _ := collect(t, fixture(format, "tracelab_example.jsonl"), Options{})
		theirs := rounds[:len(own)]
		rounds = rounds[len(own):]
		for i, r := range own {
			w := theirs[i]
			if r.PromptTokens != w.PromptTokens || r.OutputTokens != w.OutputTokens || r.ReasoningTokens != w.ReasoningTokens || r.Outcome.CachedTokens != w.Outcome.CachedTokens {
				t.Errorf("%s, request %d: %+v, by TraceLab %+v", format, i, r, w)
			}
			// It looks neither at what the program attaches to a prompt nor at when usage came.
			left, ended := r.Arrival-own[0].Arrival, r.Arrival-own[0].Arrival+r.Outcome.End.V
			leftThere, endedThere := w.Arrival-theirs[0].Arrival, w.Arrival-theirs[0].Arrival+w.Outcome.End.V
			if r.Turn != w.Turn || left < leftThere || left > leftThere+slack || ended < endedThere || ended > endedThere+slack {
				t.Errorf("%s, request %d: turn %v from %v to %v, by TraceLab %v from %v to %v", format, i, r.Turn, left, ended, w.Turn, leftThere, endedThere)
			}
		}
	}
	if len(rounds) != 0 {
		t.Errorf("%d rounds of TraceLab are of no session", len(rounds))
	}
}

// BenchmarkServers reads each format's first fixture, a hundred times over.
func BenchmarkServers(b *testing.B) {
	for _, f := range servers {
		log, err := os.ReadFile(fixtures(b, f.Name)[0])
		if err != nil {
			b.Fatal(err)
		}
		log = bytes.Repeat(append(bytes.TrimRight(log, "\n"), '\n'), 100)
		b.Run(f.Name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				s, err := Open(bytes.NewReader(log), "x", Options{Format: f.Name})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := traces.Copy(traces.WriterFunc(func(*traces.Record) error { return nil }), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzSGLang(f *testing.F)     { fuzz(f, "sglang") }
func FuzzDynamo(f *testing.F)     { fuzz(f, "dynamo") }
func FuzzClaudeCode(f *testing.F) { fuzz(f, "claude-code") }
func FuzzCodex(f *testing.F)      { fuzz(f, "codex") }
func FuzzSageMaker(f *testing.F)  { fuzz(f, "sagemaker") }
