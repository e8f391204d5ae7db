package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"wavetank/traces"
)

func inspect(t *testing.T, recs []traces.Record) *Facts {
	t.Helper()
	f, err := Inspect(traces.FromSlice(recs), noMeta)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// at builds a trace of the arrivals, in milliseconds, with 100 + i prompt and 10 + i output tokens.
func at(ms ...int64) []traces.Record {
	recs := make([]traces.Record, len(ms))
	for i, t := range ms {
		recs[i].Arrival = time.Duration(t) * time.Millisecond
		recs[i].PromptTokens = traces.Some(int32(100 + i))
		recs[i].OutputTokens = traces.Some(int32(10 + i))
	}
	return recs
}

// poisson builds n rows, mean milliseconds apart, with lengths spread evenly.
func poisson(n int, mean float64) []traces.Record {
	rng := rand.New(rand.NewPCG(1, 2))
	recs := make([]traces.Record, n)
	var t float64
	for i := range recs {
		t += mean * rng.ExpFloat64()
		recs[i].Arrival = time.Duration(t * 1e6)
		recs[i].PromptTokens = traces.Some(1 + rng.Int32N(10_000))
		recs[i].OutputTokens = traces.Some(1 + rng.Int32N(1_000))
	}
	return recs
}

func names(f *Facts) []string {
	out := []string{}
	for _, x := range f.Findings {
		out = append(out, x.Check)
	}
	return out
}

func TestFactsOfASmallTrace(t *testing.T) {
	recs := at(0, 100, 100, 400)
	recs[0].App, recs[1].App = traces.Some("chat"), traces.Some("chat")
	recs[0].Session, recs[1].Session, recs[2].Session = traces.Some("a"), traces.Some("a"), traces.Some("b")
	recs[1].Stream, recs[2].Stream = traces.Some(true), traces.Some(false)
	recs[2].PromptTokens = traces.Opt[int32]{}
	recs[3].PromptTokens = traces.Some[int32](0)
	recs[3].Outcome.Status = traces.OK
	recs[2].Outcome.Status = "bogus"
	recs[0].Blocks = []traces.BlockRun{{Start: 0, Len: 3}, {Start: 1 << 40, Len: 2}}
	f := inspect(t, recs)

	// Gaps 100, 0, 300 ms: mean 400/3, variance (100² + 0² + 300²)/3 - (400/3)².
	cv := math.Sqrt(100_000./3-160_000./9) / (400. / 3)
	if f.GapCV == nil || math.Abs(*f.GapCV-cv) > 1e-12 {
		t.Errorf("gap_cv = %v, want %v", f.GapCV, cv)
	}
	if f.Rows != 4 || f.DistinctArrivals != 3 || f.Span != 400*time.Millisecond || f.Resolution != 100*time.Millisecond ||
		f.GapMax != 300*time.Millisecond || *f.MeanRate != 10 || !f.Sorted {
		t.Errorf("times: %+v", f)
	}
	if p := f.PromptTokens; p.N != 3 || p.Unknown != 1 || p.Zero != 1 || *p.P50 != 100 || *p.Max != 101 || *p.Mean != 67 {
		t.Errorf("prompt: %+v", p)
	}
	if s := f.Sessions; s.N != 2 || s.Rows != 3 || *s.TurnsMax != 2 || *s.TurnsP50 != 1.5 {
		t.Errorf("sessions: %+v", s)
	}
	if f.Blocks != (Blocks{Rows: 1, IDs: 5, Runs: 2}) || f.Streams != (Streams{Known: 2, Streamed: 1}) {
		t.Errorf("blocks %+v, streams %+v", f.Blocks, f.Streams)
	}
	if !slices.Equal(f.Apps, []Count{{"", 2}, {"chat", 2}}) || !slices.Equal(f.Statuses, []Count{{"ok", 1}, {"unknown", 3}}) {
		t.Errorf("apps %v, statuses %v", f.Apps, f.Statuses)
	}
}

// What nothing tells is null, never 0.
func TestUnknownIsNotZero(t *testing.T) {
	for n := range 3 {
		f := inspect(t, make([]traces.Record, n))
		if f.GapCV != nil || f.MeanRate != nil || f.PromptTokens.P50 != nil || f.PromptTokens.Unknown != int64(n) {
			t.Errorf("%d rows: %+v", n, f)
		}
		var b bytes.Buffer
		if err := f.WriteText(&b); err != nil || !strings.Contains(b.String(), "n/a") {
			t.Errorf("%d rows: %v\n%s", n, err, &b)
		}
	}
}

func TestFactsDoNotDependOnOrder(t *testing.T) {
	recs := poisson(2000, 50)
	want := inspect(t, recs)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
	got := inspect(t, recs)
	if got.Sorted || !slices.Contains(names(got), "unsorted") {
		t.Error("shuffled rows pass for sorted")
	}
	got.Sorted, got.Findings = want.Sorted, want.Findings
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if !bytes.Equal(a, b) {
		t.Errorf("sorted   %s\nshuffled %s", a, b)
	}
}

func TestQuantileEqualsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		c := newCounts()
		var all []int32
		for range 1 + rng.IntN(60) {
			v := rng.Int32N(40)
			all = append(all, v)
			c.add(traces.Some(v))
		}
		slices.Sort(all)
		for _, p := range []float64{0, .5, .9, .99, 1} {
			h := float64(len(all)-1) * p
			lo := math.Floor(h)
			a, b := float64(all[int(lo)]), float64(all[int(math.Ceil(h))])
			if got, want := quantile(c.levels(), p), a+(h-lo)*(b-a); math.Abs(got-want) > 1e-9 {
				t.Fatalf("p %v of %v = %v, want %v", p, all, got, want)
			}
		}
	}
}

func TestInspectReportsWhereReadingFailed(t *testing.T) {
	boom := errors.New("disk gone")
	n := 0
	_, err := Inspect(traces.ReaderFunc(func(*traces.Record) error {
		if n++; n > 3 {
			return boom
		}
		return nil
	}), noMeta)
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "after 3 rows") {
		t.Errorf("error = %v", err)
	}
}

// Names come from other people's files and end on a terminal.
func TestTextCarriesNoControlCharacters(t *testing.T) {
	recs := at(-5, 1, 0)
	recs[0].App = traces.Some("chat\x1b[2J\u202e\x00\xff" + strings.Repeat("x", 500))
	f := inspect(t, recs)
	var b bytes.Buffer
	if err := f.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if !utf8.ValidString(b.String()) || strings.ContainsAny(b.String(), "\x1b\x00\u202e") {
		t.Errorf("%q", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if utf8.RuneCountInString(line) > 81 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
}

func TestJSONHasTheKeysThatScriptsRead(t *testing.T) {
	b, err := json.Marshal(inspect(t, at(0, 1, 3)))
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if v["rows"] != 3. || v["gap_cv"] == nil || v["prompt_tokens"].(map[string]any)["p50"] != 101. || v["findings"] == nil {
		t.Errorf("%s", b)
	}
}

func BenchmarkInspect(b *testing.B) {
	const rows = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		var n int64
		_, err := Inspect(traces.ReaderFunc(func(rec *traces.Record) error {
			if n == rows {
				return io.EOF
			}
			n++
			rec.Arrival = time.Duration(n) * time.Millisecond
			rec.PromptTokens = traces.Some(rng.Int32N(130_000))
			rec.OutputTokens = traces.Some(rng.Int32N(2_000))
			return nil
		}), noMeta)
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

func noMeta() traces.Meta { return traces.Meta{} }
