package formats

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// What each vendor counts, added up to our rule: the prompt with what was cached of
// it, the output with its reasoning. -1 is unknown.
func TestTokenAccounting(t *testing.T) {
	for _, tt := range []struct {
		log, id                           string
		prompt, cached, output, reasoning int32
	}{
		{"litellm/payloads.jsonl", "chatcmpl-0", 1000, 768, 40, 16}, // inclusive
		{"litellm/payloads.jsonl", "chatcmpl-3", -1, -1, -1, -1},    // a failure logs zeros
		{"litellm-spend/spendlogs.jsonl", "chatcmpl-0", 1000, 80, 20, -1},
		{"litellm-spend/spendlogs.csv", "chatcmpl-0", 1000, 80, 20, -1}, // metadata is a string
		{"litellm-spend/spendlogs.jsonl", "chatcmpl-4", -1, -1, -1, -1},
		{"langfuse/observations.jsonl", "obs-0", 24, 0, 378 + 1029, 1029},        // exclusive: output is without reasoning
		{"langfuse/observations.jsonl", "obs-1", 10 + 900 + 90, 900, 5, -1},      // input is without what was cached
		{"langfuse/observations.jsonl", "obs-2", 2 + 32000 + 270, 32000, 64, -1}, // in Anthropic's words
		{"langfuse/observations.csv", "obs-2", 2 + 32000 + 270, 32000, 64, -1},
		{"langfuse/observations.jsonl", "obs-5", -1, -1, -1, -1},               // inputUsage is 0 where nobody counted
		{"langfuse/blob_export.csv", "obs-0", 24 + 976, 976, 378 + 1029, 1029}, // in snake case
		{"helicone/requests.jsonl", "rq-0", 20 + 3000 + 100, 3000, 100, -1},
		{"helicone/requests.jsonl", "rq-1", 900, 0, 100, -1},
		{"helicone/requests.jsonl", "rq-4", -1, -1, -1, -1}, // -1
		{"portkey/export.jsonl", "p-0", 300, -1, 64, -1},
		{"portkey/export.jsonl", "p-3", -1, -1, -1, -1},
		{"cloudflare/logs.jsonl", "01J0", 150, -1, 42, -1},
		{"cloudflare/logs.jsonl", "01J2", -1, -1, -1, -1},
		{"bedrock/invocations.jsonl", "req-0", 4 + 2000 + 96, 2000, 38, -1},
		{"bedrock/invocations.jsonl", "req-2", 4, -1, 38, -1}, // no cache, no counts of it
		{"apim/joined.csv", "c-0", 500, -1, 25, -1},
		{"vertex/requests.jsonl", "98765432101234567", 800, 600, 24 + 100, 100}, // candidates are without thoughts
		{"vertex/requests.jsonl", "98765432101234568", 10, -1, 1024, 1024},      // nothing but thoughts
		{"vertex/requests.jsonl", "98765432101234569", 3 + 5000 + 40, 5000, 77, -1},
		{"envoy/access.jsonl", "r-0", 15, -1, 7, -1},      // in quotes
		{"envoy/access.jsonl", "r-2", 1200, -1, 300, 256}, // in the newer words
		{"envoy/access.jsonl", "r-3", -1, -1, -1, -1},     // "-"
		{"kong/access.jsonl", "k-0", 89, 64, 56, 12},      //
		{"kong/access.jsonl", "k-1", 28, -1, 20, -1},      // in the older words
		{"nginx/access.jsonl", "n-0", -1, -1, -1, -1},     // knows no tokens
		{"sglang-metrics/sglang-request-metrics-20250301_09.log", "g-0", 2048, 1920, 90, -1},
	} {
		recs, _ := collect(t, fixture("", tt.log), Options{})
		for _, r := range recs {
			if r.ID.V != tt.id {
				continue
			}
			got := []int32{r.PromptTokens.Or(-1), r.Outcome.CachedTokens.Or(-1), r.OutputTokens.Or(-1), r.ReasoningTokens.Or(-1)}
			if want := []int32{tt.prompt, tt.cached, tt.output, tt.reasoning}; !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s: prompt, cached, output, reasoning %d, want %d", tt.log, tt.id, got, want)
			}
		}
	}
}

// What holds of every row of every gateway's log.
func TestGatewayRows(t *testing.T) {
	for _, f := range gateways {
		for _, path := range fixtures(t, f.Name) {
			recs, meta := collect(t, path, Options{})
			if meta.T0 == nil || meta.Vantage == "" || meta.Sources[0].RejectedRows() == 0 && !strings.HasSuffix(path, "result.json") {
				t.Errorf("%s: %+v", path, meta)
			}
			for _, r := range recs {
				o := r.Outcome
				switch {
				case r.PromptTokens.Known && r.PromptTokens.V < o.CachedTokens.V,
					r.OutputTokens.Known && r.OutputTokens.V < r.ReasoningTokens.V,
					o.End.Known && o.End.V < o.FirstToken.V,
					o.HTTPStatus.Known && (o.HTTPStatus.V/100 == 2) != (o.Status == traces.OK),
					!r.ID.Known:
					t.Errorf("%s: %+v", path, r)
				}
			}
		}
	}
}

// A list, and objects over many lines, are read as the same rows one a line are.
func TestShapes(t *testing.T) {
	for _, f := range gateways {
		path := fixtures(t, f.Name)[0]
		if strings.HasSuffix(path, ".csv") {
			path = fixtures(t, f.Name)[1]
		}
		recs, _ := collect(t, path, Options{})
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var rows []json.RawMessage
		if log[0] == '[' {
			if json.Unmarshal(log, &rows) != nil {
				continue
			}
		}
		for line := range bytes.Lines(log) {
			if log[0] != '[' && json.Valid(line) {
				rows = append(rows, bytes.TrimSpace(line))
			}
		}
		list, err := json.MarshalIndent(rows, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		var lines, objects bytes.Buffer
		for _, row := range rows {
			json.Compact(&lines, row)
			lines.WriteByte('\n')
			json.Indent(&objects, row, "", "  ")
			objects.WriteByte('\n')
		}
		for shape, text := range map[string]string{"list": string(list), "lines": lines.String(), "objects": objects.String()} {
			got, _, err := read(text, Options{Format: f.Name})
			if err != nil || len(got) != len(recs) {
				t.Errorf("%s as %s: %d rows of %d, %v", path, shape, len(got), len(recs), err)
				continue
			}
			for i := range got {
				got[i].SourceRow = recs[i].SourceRow
				if !reflect.DeepEqual(got[i], recs[i]) {
					t.Errorf("%s as %s: row %d is %+v, want %+v", path, shape, i, got[i], recs[i])
				}
			}
		}
	}
}

// A list that ends early loses its last row and no other, and says so.
func TestCutList(t *testing.T) {
	recs, meta := collect(t, fixture("langfuse", "cut.json"), Options{})
	if src := meta.Sources[0]; len(recs) != 2 || src.Rejected[HalfLine] != 1 {
		t.Errorf("%d rows, %+v", len(recs), src)
	}
	log, err := os.ReadFile(fixture("cloudflare", "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, meta, err = read(strings.TrimRight(string(log), "]\n"), Options{})
	if err != nil || len(meta.Sources[0].Warnings) != 1 || meta.Sources[0].Emitted != 3 {
		t.Errorf("a list that is not closed: %v, %+v", err, meta.Sources)
	}
	_, _, err = read(strings.Replace(string(log), "},{", "} {", 1), Options{})
	if err == nil || !strings.Contains(err.Error(), "x:1: after row 1: ") {
		t.Errorf("a list without a comma: %v", err)
	}
}

// A built-in map can be amended: a statement takes the place of the map's own for
// that column.
func TestAmendedMap(t *testing.T) {
	recs, meta := collect(t, fixture("vertex", "requests.jsonl"), Options{Format: "vertex", Map: []string{
		`sampling_rate = "0.25"`, `tenant = endpoint`, `model = model_version`, `stamps: start`,
	}})
	if r := recs[0]; r.Model.V != "001" || !strings.HasPrefix(r.Tenant.V, "projects/p/") || r.PromptTokens.V != 800 {
		t.Errorf("%+v", r)
	}
	if src := meta.Sources[0]; src.SamplingRate != 0.25 || src.Stamps != "start" || src.Format != "vertex" {
		t.Errorf("%+v", src)
	}
	again, meta := collect(t, fixture("vertex", "requests.jsonl"), Options{})
	if again[0].Model.V != "flash" || meta.Sources[0].SamplingRate != 0 {
		t.Errorf("the next log is read by the amended map: %+v", again[0])
	}
}

// Lines are independent of each other, so that they can be read on all cores.
func TestGatewaysFork(t *testing.T) {
	for _, f := range gateways {
		path := fixtures(t, f.Name)[0]
		s, err := OpenFile(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := traces.Collect(s); err != nil {
			t.Fatal(err)
		}
		lines := !overLines(head(t, path))
		if lines != (s.in.fork != nil) || lines && s.in.fork(s.in) == nil {
			t.Errorf("%s: lines %v, can fork %v", path, lines, s.in.fork != nil)
		}
	}
}

// A proxy logs the end of a request; a retried one lists the times of every try.
func TestEndStamped(t *testing.T) {
	recs, meta := collect(t, fixture("nginx", "access.jsonl"), Options{})
	if meta.Sources[0].Stamps != "end" || !meta.T0.Equal(time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, T0 %v", meta.Sources[0], meta.T0)
	}
	if first := recs[2].Outcome.FirstToken; first != traces.Some(620*time.Millisecond) {
		t.Errorf("a first try of 500 ms and headers 120 ms into the second: %v", first)
	}
	if r := recs[3]; r.Outcome.Status != traces.Cancelled || r.Cancel.V != 700*time.Millisecond || r.Outcome.FirstToken.Known {
		t.Errorf("499: %+v", r)
	}
}

// Rows of something else are counted, and told to nobody: they are no fault.
func TestNotARequest(t *testing.T) {
	told := 0
	_, meta := collect(t, fixture("langfuse", "observations.json"), Options{OnReject: func(r Reject) { told++ }})
	if src := meta.Sources[0]; src.Rejected[NotARequest] != 2 || told != 1 {
		t.Errorf("%+v, told of %d", src.Rejected, told)
	}
}

// A string that should hold an object and holds half of one is unknown, and counted.
func TestBrokenString(t *testing.T) {
	_, meta := collect(t, fixture("sglang-metrics", "sglang-request-metrics-20250301_09.log"), Options{})
	if w := strings.Join(meta.Sources[0].Warnings, "; "); !strings.Contains(w, "1 rows: a JSON object in a string is broken") {
		t.Errorf("warnings %q", w)
	}
}

func FuzzLiteLLM(f *testing.F)  { fuzz(f, "litellm") }
func FuzzLangfuse(f *testing.F) { fuzz(f, "langfuse") }
func FuzzNginx(f *testing.F)    { fuzz(f, "nginx") }

// BenchmarkGateways reads two rows again and again of logs of several kinds.
func BenchmarkGateways(b *testing.B) {
	for _, path := range []string{"litellm/payloads.jsonl", "litellm-spend/spendlogs.csv", "bedrock/invocations.jsonl", "envoy/access.jsonl", "nginx/access.jsonl"} {
		log, err := os.ReadFile(fixture("", path))
		if err != nil {
			b.Fatal(err)
		}
		lines := bytes.SplitAfter(log, []byte("\n"))
		header, rows := []byte(nil), lines[:2]
		if strings.HasSuffix(path, ".csv") {
			header, rows = lines[0], lines[1:3]
		}
		b.Run(path, func(b *testing.B) {
			benchmark(b, append(header, bytes.Repeat(bytes.Join(rows, nil), 5000)...), 10_000, Options{})
		})
	}
}
