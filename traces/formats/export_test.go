package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// sane is a trace such as there may be, in which everything may be unknown but
// what every export needs.
func sane(seed uint64, n int) []traces.Record {
	g := rand.New(rand.NewPCG(seed, 3))
	recs := make([]traces.Record, n)
	at := time.Duration(0)
	turns := map[string]int32{}
	last := map[string]uint64{}
	for i := range recs {
		rec := &recs[i]
		rec.Seq, rec.Arrival = uint64(i), at
		at += time.Duration(g.Int64N(int64(3 * time.Second)))
		someTexts(g, &rec.ID, &rec.App, &rec.Tenant, &rec.User, &rec.Model, &rec.Endpoint, &rec.Outcome.Error, &rec.Outcome.FinishReason,
			&rec.Outcome.TokenBasis, &rec.Outcome.Worker)
		someCounts(g, &rec.ReasoningTokens, &rec.MaxTokens, &rec.CancelTokens, &rec.Outcome.HTTPStatus, &rec.Outcome.PromptTokensSeen,
			&rec.Outcome.CachedTokens, &rec.Outcome.OutputTokensSeen, &rec.Outcome.Events, &rec.Outcome.Attempt)
		someSpans(g, &rec.Cancel, &rec.Timeout, &rec.Outcome.FirstToken, &rec.Outcome.FirstOutput, &rec.Outcome.LastToken, &rec.Outcome.End,
			&rec.Outcome.Queue, &rec.Outcome.Prefill, &rec.Outcome.Decode, &rec.Outcome.MaxGap, &rec.Outcome.Due)
		rec.PromptTokens, rec.OutputTokens = traces.Some(g.Int32N(5000)), traces.Some(g.Int32N(3)*g.Int32N(1e4))
		rec.Stream, rec.Outcome.GatewayCache = traces.Opt[bool]{Known: true}, traces.Some(g.IntN(2) == 0)
		rec.Outcome.Status = traces.Statuses[g.IntN(len(traces.Statuses))]
		rec.Body = [][]byte{nil, []byte(`{"b": 1,  "a":["x", "\u00fc"]}`), []byte("{\n}"), []byte(`a "text" \ ü`)}[g.IntN(4)]
		if g.IntN(2) == 0 {
			rec.Params = traces.Some(`{"stop":["a,b"],"temperature":0.5}`)
		}
		if g.IntN(4) > 0 {
			s := fmt.Sprintf("s%d", g.IntN(5))
			rec.Session, rec.Turn = traces.Some(s), traces.Some(turns[s])
			if turns[s] > 0 {
				someSpans(g, &rec.Think)
				rec.After = []uint64{last[s]}
			} else {
				rec.After = []uint64{}
			}
			turns[s]++
			last[s] = rec.Seq
		}
		rec.Blocks = prompts(g, rec.PromptTokens.V)
		rec.Media = []traces.Media{{Kind: "image", Count: traces.Some[int32](2)}}
	}
	return recs
}

func someTexts(g *rand.Rand, all ...*traces.Opt[string]) {
	words := []string{"chat", "api", "=1+1", "@x", `a,"b"`, "naïve ✓", "two\nlines", "-", "+1", "\ttab"}
	for _, o := range all {
		if i := g.IntN(len(words) + 3); i < len(words) && words[i] != "-" {
			*o = traces.Some(words[i])
		}
	}
}

func someCounts(g *rand.Rand, all ...*traces.Opt[int32]) {
	for _, o := range all {
		if g.IntN(3) > 0 {
			*o = traces.Some(g.Int32N(1000))
		}
	}
}

func someSpans(g *rand.Rand, all ...*traces.Opt[time.Duration]) {
	for _, o := range all {
		if g.IntN(3) > 0 {
			*o = traces.Some(time.Duration(g.Int64N(1e12)))
		}
	}
}

// prompts gives ids of 16-token blocks, numbered as they first appear.
func prompts(g *rand.Rand, tokens int32) []traces.BlockRun {
	n := uint32(tokens+15) / 16
	if n < 20 {
		return []traces.BlockRun{{Start: 0, Len: max(1, n)}}
	}
	return []traces.BlockRun{{Start: 0, Len: 20}, {Start: 1<<63 + g.Uint64N(1e6), Len: n - 19}}
}

// A trip is what comes back of a trace that was written for another tool and read
// here as that tool's format: the columns that are what they were, once fix has
// done to a row what the format does to every one.
type trip struct {
	columns []string
	fix     func(*traces.Record)
}

func keep(*traces.Record) {}

var trips = map[string]trip{
	"mooncake": {
		[]string{"arrival_ns", "prompt_tokens", "output_tokens", "blocks"},
		func(r *traces.Record) { r.Arrival = r.Arrival.Round(time.Millisecond) },
	},
	"aiperf": {[]string{"arrival_ns", "session", "turn", "think_ns", "prompt_tokens", "output_tokens", "blocks"}, keep},
	"bailian": {
		[]string{"arrival_ns", "app", "turn", "after", "prompt_tokens", "output_tokens"},
		func(r *traces.Record) {
			if r.After == nil {
				r.After = []uint64{}
			}
		},
	},
	"burstgpt": {
		[]string{"arrival_ns", "app", "session", "turn", "model", "prompt_tokens", "output_tokens", "status", "end_ns"},
		func(r *traces.Record) {
			if r.App.V != "chat" && r.App.V != "api" {
				r.App.Known = false
			}
			r.Model.V = inCell(r.Model.V)
			r.Outcome.Status = traces.OK
			if r.OutputTokens.V == 0 {
				r.Outcome.Status = traces.Error
			}
			r.PromptTokens.Known = r.PromptTokens.V > 0
		},
	},
	"azure": {
		[]string{"arrival_ns", "prompt_tokens", "output_tokens"},
		func(r *traces.Record) { r.Arrival = r.Arrival.Round(100) },
	},
	"dynamo": {
		[]string{"arrival_ns", "id", "session", "turn", "model", "prompt_tokens", "output_tokens", "finish_reason",
			"first_token_ns", "end_ns", "queue_ns", "prefill_ns", "cached_tokens"},
		func(r *traces.Record) {
			r.Arrival = r.Arrival.Round(time.Millisecond)
			r.ID = traces.Some(r.ID.Or(fmt.Sprint(r.Seq)))
		},
	},
	"vidur": {[]string{"arrival_ns", "prompt_tokens", "output_tokens"}, keep},
	"jsonl": {append(plainColumns(), "body"), keep},
	"csv": {plainColumns(), func(r *traces.Record) {
		for _, o := range []*traces.Opt[string]{&r.ID, &r.App, &r.Tenant, &r.User, &r.Model, &r.Endpoint, &r.Outcome.Error,
			&r.Outcome.FinishReason, &r.Outcome.TokenBasis, &r.Outcome.Worker} {
			o.V = inCell(o.V)
		}
	}},
	"parquet": {traces.Columns(), keep},
}

// inCell is what is left of a text in a cell of a CSV.
func inCell(s string) string {
	if s != "" && strings.Contains("=+-@\t\r", s[:1]) {
		return "'" + s
	}
	return s
}

func exported(t testing.TB, name string, m traces.Meta, recs []traces.Record) ([]byte, *Exporter) {
	t.Helper()
	var out bytes.Buffer
	x, err := NewExporter(name, &out, m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := traces.Copy(x, traces.FromSlice(recs)); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), x
}

// readBack reads an export as what it says it is.
func readBack(t *testing.T, name string, b []byte) ([]traces.Record, traces.Meta) {
	t.Helper()
	if name == "parquet" {
		f, err := traces.OpenReader(bytes.NewReader(b), name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		recs, err := traces.Collect(f)
		if err != nil {
			t.Fatal(err)
		}
		return recs, f.Meta()
	}
	recs, m, err := read(string(b), Options{Format: name, KeepBodies: name == "jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	return recs, m
}

func valuesOf(rec *traces.Record) map[string]any {
	values := make(map[string]any)
	for name, v := range traces.Values(rec) {
		values[name] = v
	}
	return values
}

// Out and in again, a trace is what it was as far as the format goes; and how far
// that is, is written here.
func TestExportRoundTrip(t *testing.T) {
	t0 := time.Date(2026, 3, 1, 9, 0, 0, 123_000_000, time.UTC)
	for _, e := range Exports {
		trip, ok := trips[e.Name]
		if !ok {
			t.Errorf("export %s: nobody says what comes back", e.Name)
			continue
		}
		for _, m := range []traces.Meta{{BlockTokens: 16}, {BlockTokens: 16, T0: &t0}} {
			recs := sane(5, 150)
			b, x := exported(t, e.Name, m, recs)
			got, back := readBack(t, e.Name, b)
			if len(got) != len(recs) {
				t.Errorf("%s: %d rows of %d", e.Name, len(got), len(recs))
				continue
			}
			if absolute := slices.Contains([]string{"azure", "dynamo", "jsonl", "csv", "parquet"}, e.Name); absolute && m.T0 != nil && !back.T0.Equal(t0) {
				t.Errorf("%s: T0 %v", e.Name, back.T0)
			}
			checkCounted(t, x, recs, got)
			for i := range recs {
				trip.fix(&recs[i])
				want, have := valuesOf(&recs[i]), valuesOf(&got[i])
				for _, c := range trip.columns {
					if !reflect.DeepEqual(have[c], want[c]) {
						t.Fatalf("%s: row %d, %s: %v, want %v\n%s", e.Name, i, c, have[c], want[c], b[:min(len(b), 600)])
					}
				}
			}
		}
	}
}

// renamed are columns of names that an export gives anew, and says so.
var renamed = map[string][]string{"bailian": {"session", "blocks"}, "dynamo": {"blocks"}}

// checkCounted holds what did not come back as it was against what was counted.
func checkCounted(t *testing.T, x *Exporter, recs, got []traces.Record) {
	t.Helper()
	changed, lost := make(map[string]int64), make(map[string]int64)
	for i := range recs {
		have := valuesOf(&got[i])
		for name, want := range traces.Values(&recs[i]) {
			if slices.Contains(x.format.Columns, name) && !reflect.DeepEqual(have[name], want) && (name != "status" || want != traces.Unknown) {
				changed[name]++
			}
		}
	}
	for _, l := range x.Losses() {
		lost[l.Column] += l.Rows
	}
	for name, n := range changed {
		if n > lost[name] && !slices.Contains(renamed[x.format.Name], name) {
			t.Errorf("%s: %s is another in %d rows, and was counted in %d", x.format.Name, name, n, lost[name])
		}
	}
}

// What is known of a row is carried, or else it is counted: a row that knows one
// column alone either brings it back or tells that it is lost.
func TestExportLosses(t *testing.T) {
	full := sane(9, 1)[0]
	for _, e := range Exports {
		_, x := exported(t, e.Name, traces.Meta{BlockTokens: 16}, []traces.Record{full})
		lost := make(map[string]bool)
		for _, l := range x.Losses() {
			if l.Rows != 1 || l.What == "" || !slices.Contains(traces.Columns(), l.Column) {
				t.Errorf("%s: %+v", e.Name, l)
			}
			lost[l.Column] = true
		}
		for name := range traces.Values(&full) {
			carried := e.Columns == nil || slices.Contains(e.Columns, name)
			if name != "seq" && name != "status" && !carried && !lost[name] {
				t.Errorf("%s: %s is lost, and not counted", e.Name, name)
			}
		}
	}
	if _, x := exported(t, "mooncake", traces.Meta{}, []traces.Record{{}}); x.Rows() != 0 || len(x.Losses()) != 1 || x.Losses()[0].Column != "prompt_tokens" {
		t.Errorf("a row without lengths: %d rows, %+v", x.Rows(), x.Losses())
	}
}

// Each export says which columns it carries by names that there are, and is what
// another tool's reader takes it for.
func TestExportTable(t *testing.T) {
	for _, e := range Exports {
		for _, c := range slices.Concat(e.Columns, e.Needs) {
			if !slices.Contains(traces.Columns(), c) {
				t.Errorf("%s carries %q, which is no column", e.Name, c)
			}
		}
		if e.About == "" {
			t.Errorf("%s says nothing of itself", e.Name)
		}
	}
	if _, err := NewExporter("moon", io.Discard, traces.Meta{}); err == nil || !strings.Contains(err.Error(), "mooncake, aiperf") {
		t.Errorf("an unknown export: %v", err)
	}
}

// What a small trace looks like in each grammar is written down, in testdata/exports.
func TestExportGolden(t *testing.T) {
	t0 := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	ms := func(n float64) traces.Opt[time.Duration] { return traces.Some(time.Duration(n * 1e6)) }
	recs := []traces.Record{
		{Request: traces.Request{Seq: 0, ID: traces.Some("req-a"), App: traces.Some("chat"), Session: traces.Some("s1"), Turn: traces.Some[int32](0),
			Model: traces.Some("model, large"), PromptTokens: traces.Some[int32](1025), OutputTokens: traces.Some[int32](210),
			Blocks: []traces.BlockRun{{Start: 0, Len: 2}, {Start: 1 << 63, Len: 1}}},
			Outcome: traces.Outcome{Status: traces.OK, FinishReason: traces.Some("stop"), FirstToken: ms(120.25), End: ms(4000)}},
		{Request: traces.Request{Seq: 1, Arrival: 1500*time.Millisecond + 250*time.Microsecond, App: traces.Some("=agent"),
			PromptTokens: traces.Some[int32](40), OutputTokens: traces.Some[int32](0), Stream: traces.Some(true)},
			Outcome: traces.Outcome{Status: traces.Error, HTTPStatus: traces.Some[int32](500), Error: traces.Some("http_5xx")}},
		{Request: traces.Request{Seq: 2, Arrival: 9 * time.Second, App: traces.Some("chat"), Session: traces.Some("s1"), Turn: traces.Some[int32](1),
			After: []uint64{0}, Think: ms(5000), PromptTokens: traces.Some[int32](1536), OutputTokens: traces.Some[int32](7),
			Blocks: []traces.BlockRun{{Start: 0, Len: 3}}}, Outcome: traces.Outcome{Status: traces.Unknown}},
		{Request: traces.Request{Seq: 3, Arrival: 10 * time.Second}, Outcome: traces.Outcome{Status: traces.Unknown}}, // without lengths
	}
	for _, e := range Exports {
		if e.Name == "parquet" { // is no text
			continue
		}
		b, x := exported(t, e.Name, traces.Meta{T0: &t0, BlockTokens: 512}, recs)
		golden(t, filepath.Join("..", "..", "testdata", "exports", e.Name), b)
		var told bytes.Buffer
		for _, l := range x.Losses() {
			fmt.Fprintf(&told, "%s: %d rows: %s\n", l.Column, l.Rows, l.What)
		}
		for _, n := range x.Notes() {
			fmt.Fprintln(&told, n)
		}
		golden(t, filepath.Join("..", "..", "testdata", "exports", e.Name+".told"), told.Bytes())
	}
}

// A trace that begins before its start, as one of a log does that is not in order,
// is moved; and one without rows is a whole file.
func TestExportStart(t *testing.T) {
	t0 := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	recs := sane(5, 2)
	recs[0].Arrival, recs[1].Arrival = -2*time.Second, time.Second
	for _, e := range Exports {
		b, _ := exported(t, e.Name, traces.Meta{T0: &t0, BlockTokens: 16}, recs)
		got, m := readBack(t, e.Name, b)
		if len(got) != 2 || got[0].Arrival != 0 || got[1].Arrival != 3*time.Second || m.T0 != nil && !m.T0.Equal(t0.Add(-2*time.Second)) {
			t.Errorf("%s: %v, T0 %v", e.Name, got, m.T0)
		}
		if b, x := exported(t, e.Name, traces.Meta{}, nil); x.Rows() != 0 || (len(b) == 0) != slices.Contains([]string{"mooncake", "aiperf", "bailian", "dynamo", "jsonl"}, e.Name) {
			t.Errorf("%s: no rows make %d bytes", e.Name, len(b))
		}
	}
}

// No cell of a text column begins like a formula, and numbers are left alone.
func TestExportHarmless(t *testing.T) {
	rec := traces.Record{Request: traces.Request{
		Model: traces.Some("=cmd|' /C calc'!A0"), App: traces.Some("-2+3"), User: traces.Some("@x\x1b[31m"), Tenant: traces.Some("\tx"),
		PromptTokens: traces.Some[int32](-5), OutputTokens: traces.Some[int32](1),
	}}
	b, x := exported(t, "csv", traces.Meta{}, []traces.Record{rec})
	row := strings.Split(string(b), "\n")[1]
	for _, want := range []string{",'=cmd", ",'-2+3,", ",'@x[31m,", ",'\tx,", ",-5,1,"} {
		if !strings.Contains(row, want) {
			t.Errorf("%q is not in %q", want, row)
		}
	}
	if len(x.Losses()) != 5 {
		t.Errorf("%+v", x.Losses())
	}
}

// A run of 2^32 ids is not written out, and a full disk is an error.
func TestExportErrors(t *testing.T) {
	rec := sane(1, 1)[0]
	rec.Blocks = []traces.BlockRun{{Start: 0, Len: 1<<32 - 1}}
	x, err := NewExporter("mooncake", io.Discard, traces.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Write(&rec); err == nil || !strings.Contains(err.Error(), "limit of 16777216 ids") {
		t.Errorf("endless blocks: %v", err)
	}
	back := sane(1, 2)
	slices.Reverse(back)
	full := errors.New("disk full")
	for _, e := range Exports {
		sorted, err := NewExporter(e.Name, io.Discard, traces.Meta{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := traces.Copy(sorted, traces.FromSlice(back)); !errors.Is(err, traces.ErrUnsorted) {
			t.Errorf("%s: rows that are not in order: %v", e.Name, err)
		}
		x, err := NewExporter(e.Name, failing{full}, traces.Meta{})
		if err == nil {
			if _, err = traces.Copy(x, traces.FromSlice(sane(2, 20))); err == nil {
				err = x.Close()
			}
		}
		if !errors.Is(err, full) {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func BenchmarkExport(b *testing.B) {
	recs := sane(1, 1000)
	for _, e := range Exports {
		b.Run(e.Name, func(b *testing.B) {
			x, err := NewExporter(e.Name, io.Discard, traces.Meta{BlockTokens: 16})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for i := range recs {
					recs[i].Seq, recs[i].Arrival = recs[i].Seq+1000, recs[i].Arrival+time.Hour
					if err := x.Write(&recs[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
		})
	}
}
