package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func render(t *testing.T, r Renderer, runs ...*Summary) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Render(&b, runs); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it); got:\n%s", path, got)
	}
}

// TTFTs are 1, 2, ... 400 ms, so p50 is 200.5, p90 360.1, p95 380.05 and p99
// 396.01; the exact binomial bounds of the p99 are rows 392 and 400.
func sawtooth() []traces.Record {
	return run(400, func(i int, r *traces.Record) {
		first := float64(i*149%400 + 1)
		r.Outcome.FirstToken, r.Outcome.FirstOutput = ms(first), ms(first)
		r.Outcome.LastToken, r.Outcome.End = ms(first+800), ms(first+810)
		if i%10 == 9 {
			r.Outcome.FirstOutput = duration{}
		}
	})
}

func TestSawtooth(t *testing.T) {
	m := summarize(t, runMeta, Options{}, sawtooth()...).Metrics["ttft_sent"]
	if m.Mean != 200.5 || m.Quantiles["p50"].V != 200.5 || m.Min != 1 || m.Max != 400 {
		t.Errorf("%+v", m)
	}
	if q := m.Quantiles["p99"]; q.V < 396.009 || q.V > 396.011 || q.Lo != 392 || q.Hi != 400 {
		t.Errorf("p99 %+v", q)
	}
}

func mixed() []traces.Record {
	fail := func(r *traces.Record, st traces.Status, class string, code int32) {
		r.Outcome = traces.Outcome{Status: st, Error: traces.Some(class), Due: r.Outcome.Due, Sent: r.Outcome.Sent}
		if code > 0 {
			r.Outcome.HTTPStatus = ints(code)
		}
	}
	return run(60, func(i int, r *traces.Record) {
		r.App = traces.Some([]string{"chat", "rag", "coding-agent"}[i%3])
		switch i {
		case 3:
			fail(r, traces.Error, "http_5xx", 500)
		case 4:
			fail(r, traces.Timeout, "timeout_total", 200)
		case 5:
			fail(r, traces.Rejected, "http_429", 429)
		case 6:
			r.Outcome.OutputTokensSeen, r.Outcome.Events, r.Outcome.LastToken = ints(1), ints(1), r.Outcome.FirstToken
		case 7:
			r.Outcome.Events = ints(1)
		case 8:
			r.Phase = traces.Some("preroll")
		}
	})
}

func TestGolden(t *testing.T) {
	heavy := traces.Meta{Kind: traces.KindRun, Target: runMeta.Target, Partial: true, Notes: []string{"media was not sent"}}
	runs := []*Summary{
		summarize(t, runMeta, Options{Name: "sawtooth.arrow"}, sawtooth()...),
		summarize(t, heavy, Options{Name: "mixed.arrow"}, mixed()...),
		summarize(t, traces.Meta{Kind: traces.KindTrace}, Options{Name: "no-outcomes.arrow"}, traces.Record{}, traces.Record{Request: traces.Request{Arrival: time.Second, PromptTokens: ints(10)}}),
	}
	golden(t, "runs.txt", render(t, renderText, runs...))
	golden(t, "mixed.json", render(t, renderJSON, runs[1]))
	var b bytes.Buffer
	if err := Definitions(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "definitions.txt", b.String())
}

// Everything at once: each line of the text has something to say, names are
// hostile and wide, and there are more apps than lines.
func crowded() (traces.Meta, []traces.Record) {
	recs := run(3000, func(i int, r *traces.Record) {
		r.App = traces.Some(fmt.Sprintf("应用程序应用程序应用程序\x1b[2J%d", i%200))
		r.Outcome.Status = traces.Statuses[i%len(traces.Statuses)]
		r.Outcome.Error = traces.Some(fmt.Sprintf("class\u202e\n%d %s", i%1500, strings.Repeat("界", 40)))
		r.Outcome.FinishReason = traces.Some(fmt.Sprintf("\x00finish%d", i%90))
		r.Outcome.HTTPStatus = ints(int32(i))
		r.Outcome.TokenBasis = traces.Some(fmt.Sprint("basis", i%70))
		r.Outcome.GatewayCache = traces.Some(i%500 == 0)
		r.Outcome.RetryOf = traces.Some(uint64(1))
		r.Outcome.Events = ints(int32(i % 50))
		if i%7 == 0 {
			r.Phase = traces.Some(fmt.Sprint("phase\t", i%300))
		}
		if i%20 == 0 {
			r.Outcome.LastToken, r.Outcome.MaxGap = ms(float64(i)*1e7), ms(float64(i)*1e5)
		}
	})
	url := "http://" + strings.Repeat("漢字", 60)
	return traces.Meta{Kind: "run\x1b", Target: &traces.Target{URL: url, Model: "qwen\x07"}, Partial: true, Notes: []string{"a \x1b", strings.Repeat("long ", 50)}}, recs
}

func TestTextFitsOneScreenAndCarriesNoControlCharacters(t *testing.T) {
	m, recs := crowded()
	text := render(t, renderText, summarize(t, m, Options{Name: strings.Repeat("名前\x1b]0;x\x07", 50)}, recs...))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > maxLines {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if textWidth(line) > columns {
			t.Errorf("%d columns: %s", textWidth(line), line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' }) {
			t.Errorf("control characters: %q", line)
		}
	}
	if t.Failed() {
		t.Log("\n" + text)
	}
}

func TestRenderersContract(t *testing.T) {
	m, recs := crowded()
	runs := []*Summary{summarize(t, m, Options{Name: "crowded"}, recs...), summarize(t, runMeta, Options{}), summarize(t, traces.Meta{}, Options{}, traces.Record{})}
	for _, r := range Renderers {
		if r.Name == "" || r.About == "" {
			t.Errorf("%+v is not described", r)
		}
		a, b := render(t, r, runs...), render(t, r, runs...)
		if a != b || strings.Contains(a, "NaN") || strings.Contains(a, "Inf") || !strings.HasSuffix(a, "\n") {
			t.Errorf("%s: %s", r.Name, a)
		}
		render(t, r)
	}
}

// vllm-project/guidellm#707: columns shift when a run lacks a metric.
func TestJSONHasTheSameFieldsForEveryRun(t *testing.T) {
	fields := func(recs ...traces.Record) []string {
		var v struct {
			Version int `json:"schema_version"`
			Runs    []struct {
				Counts  struct{ Statuses map[string]int64 }
				Metrics map[string]map[string]any
			}
		}
		if err := json.Unmarshal([]byte(render(t, renderJSON, summarize(t, runMeta, Options{}, recs...))), &v); err != nil {
			t.Fatal(err)
		}
		names := []string{fmt.Sprint(v.Version, len(v.Runs[0].Counts.Statuses))}
		for metric, m := range v.Runs[0].Metrics {
			for field := range m {
				names = append(names, metric+"."+field)
			}
			for q := range m["quantiles"].(map[string]any) {
				names = append(names, metric+".quantiles."+q)
			}
		}
		slices.Sort(names)
		return names
	}
	if a, b := fields(full()), fields(); !slices.Equal(a, b) {
		t.Errorf("%v\n%v", a, b)
	}
}

// tsenart/vegeta#41: a p95 below the mean is right where few rows are very slow.
func TestMeanMayBeAboveP95(t *testing.T) {
	m := summarize(t, runMeta, Options{}, run(100, func(i int, r *traces.Record) {
		r.Outcome.FirstToken = ms(1)
		if i < 3 {
			r.Outcome.FirstToken = ms(3000)
		}
	})...).Metrics["ttft_sent"]
	if m.Quantiles["p95"].V != 1 || m.Mean != (97+9000)/100. {
		t.Errorf("%+v", m)
	}
}

func TestDefinitionsCoverEveryStatusAndMetric(t *testing.T) {
	var b bytes.Buffer
	if err := Definitions(&b); err != nil {
		t.Fatal(err)
	}
	for _, st := range traces.Statuses {
		if statusAbout[st].about == "" || !strings.Contains(b.String(), "\n  "+string(st)+"\n") {
			t.Errorf("status %s is not defined", st)
		}
	}
	for _, m := range Metrics {
		if !strings.Contains(b.String(), "\n  "+m.Name+" (") {
			t.Errorf("metric %s is not defined", m.Name)
		}
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > columns+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}
