package report

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

var runMeta = traces.Meta{Kind: traces.KindRun, Target: &traces.Target{URL: "http://127.0.0.1:8000/v1", API: "chat", Model: "qwen3-30b"}}

func summarize(t *testing.T, m traces.Meta, o Options, recs ...traces.Record) *Summary {
	t.Helper()
	s, err := Summarize(traces.FromSlice(recs), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run makes n full rows, one due every 10 ms, with the times of row i changed by change.
func run(n int, change func(i int, r *traces.Record)) []traces.Record {
	recs := make([]traces.Record, n)
	for i := range recs {
		recs[i] = full()
		recs[i].Seq = uint64(i)
		recs[i].Outcome.Due = ms(float64(10 * i))
		recs[i].Outcome.Sent = ms(float64(10*i) + 2)
		change(i, &recs[i])
	}
	return recs
}

func TestOfferedIsTheSumOfAllStatuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := append([]traces.Status{"", "bogus"}, traces.Statuses...)
	for range 50 {
		n := rng.IntN(60)
		s := summarize(t, runMeta, Options{}, run(n, func(_ int, r *traces.Record) {
			r.Outcome.Status = all[rng.IntN(len(all))]
			r.App = traces.Some(fmt.Sprint(rng.IntN(3)))
		})...)
		var sum, apps int64
		for _, c := range s.Counts.Statuses {
			sum += c
		}
		for _, a := range s.Apps {
			apps += a.Offered
		}
		if s.Counts.Offered != int64(n) || sum != int64(n) || len(s.Apps) > 1 && apps != int64(n) || len(s.Counts.Statuses) != len(traces.Statuses) {
			t.Fatalf("%d rows: %+v, apps %d", n, s.Counts, apps)
		}
		for name, m := range s.Metrics {
			rows := m.N
			for _, c := range m.Excluded {
				rows += c
			}
			if rows != int64(n) {
				t.Fatalf("%s accounts for %d of %d rows", name, rows, n)
			}
		}
	}
}

// vllm-project/guidellm#979: 65 % fail, and the survivors look fine.
func TestFailuresAreNotHiddenBehindSurvivors(t *testing.T) {
	s := summarize(t, runMeta, Options{}, run(100, func(i int, r *traces.Record) {
		if i >= 35 {
			r.Outcome = traces.Outcome{Status: traces.Error, Error: traces.Some("stream_error"), HTTPStatus: ints(200), Due: r.Outcome.Due, Sent: r.Outcome.Sent}
		}
	})...)
	if s.Counts.Failed != 65 || s.Metrics["ttft_sent"].N != 35 || s.Metrics["ttft_sent"].Excluded["status error"] != 65 || s.Counts.Errors["stream_error"] != 65 {
		t.Errorf("%+v", s.Counts)
	}
	if text := render(t, renderText, s); !strings.Contains(text, "FAILED   65.0 % of the offered") {
		t.Error(text)
	}
}

func TestVerdict(t *testing.T) {
	late := func(lag float64) []traces.Record {
		return run(1000, func(i int, r *traces.Record) {
			if i%50 == 0 { // 2 % of the rows, so that the p99 is lag
				r.Outcome.Sent = ms(float64(10*i) + lag)
			}
		})
	}
	log := run(10, func(_ int, r *traces.Record) { r.Outcome.Due, r.Outcome.Sent = duration{}, duration{} })
	cases := []struct {
		name  string
		o     Options
		recs  []traces.Record
		state State
		fails string
	}{
		{"on time", Options{}, late(2), Valid, ""},
		{"at the bound", Options{}, late(50), Valid, ""},
		{"over the bound", Options{}, late(50.001), Invalid, "lag_p99"},
		{"over an own bound", Options{MaxLag: 20 * time.Millisecond}, late(21), Invalid, "lag_p99"},
		{"under an own bound", Options{MaxLag: time.Second}, late(900), Valid, ""},
		{"before its time", Options{}, late(-51), Invalid, "lag_early"},
		// grafana/k6#2837: dropped iterations are easy to miss.
		{"dropped", Options{}, run(9, func(i int, r *traces.Record) {
			if i == 4 {
				r.Outcome = traces.Outcome{Status: traces.Dropped, Due: r.Outcome.Due}
			}
		}), Invalid, "dropped"},
		{"production", Options{}, log, NoState, ""},
		{"nothing", Options{}, nil, NoState, ""},
	}
	for _, c := range cases {
		v := summarize(t, runMeta, c.o, c.recs...).Verdict
		if v.State != c.state || v.Reason == "" || !strings.HasPrefix(v.Reason, c.fails) {
			t.Errorf("%s: %+v, want %v %s", c.name, v, c.state, c.fails)
		}
		for _, check := range v.Checks {
			if check.Pass == (check.ID == c.fails) {
				t.Errorf("%s: %+v", c.name, check)
			}
		}
	}
}

func TestRatesAndInFlight(t *testing.T) {
	// Three requests due at 0, 1 and 2 s and sent then; they take 2, 0.5 and 2 s.
	recs := run(3, func(i int, r *traces.Record) {
		r.Outcome.Due, r.Outcome.Sent = ms(float64(1000*i)), ms(float64(1000*i))
		r.Outcome.End = ms([]float64{2000, 500, 2000}[i])
	})
	rates := summarize(t, runMeta, Options{}, recs...).Rates
	want := Rates{
		Offer:    Offer{Window: 2, Requests: 1.5, PromptTokens: 750, OutputTokens: 61.5},
		Answer:   Answer{Window: 4, Requests: .75, PromptTokens: 384, OutputTokens: 30.75},
		InFlight: InFlight{Rows: 3, Mean: 4.5 / 4, Max: 2}, // the third leaves as the first ends
	}
	if rates != want {
		t.Errorf("%+v\nwant %+v", rates, want)
	}
}

// A log has no due and sent: its arrivals stand for both.
func TestRatesOfProduction(t *testing.T) {
	recs := run(3, func(i int, r *traces.Record) {
		r.Arrival = time.Duration(i) * time.Second
		r.Outcome.Due, r.Outcome.Sent, r.Outcome.End = duration{}, duration{}, ms(1500)
	})
	s := summarize(t, traces.Meta{Kind: traces.KindTrace}, Options{}, recs...)
	if r := s.Rates; r.Offer.Requests != 1.5 || r.Answer.Window != 3.5 || r.InFlight.Max != 2 {
		t.Errorf("%+v", r)
	}
}

func TestCachedShareIsOfTheRowsThatTold(t *testing.T) {
	s := summarize(t, runMeta, Options{}, run(4, func(i int, r *traces.Record) {
		if i > 1 {
			r.Outcome.CachedTokens = tokens{}
		}
	})...)
	if s.Tokens.CachedRows != 2 || s.Tokens.CachedShare != .25 {
		t.Errorf("%+v", s.Tokens)
	}
	s = summarize(t, runMeta, Options{}, run(1, func(_ int, r *traces.Record) { r.Outcome.CachedTokens = tokens{} })...)
	if text := render(t, renderText, s); !strings.Contains(text, "cached   n/a: no row told it") {
		t.Error(text)
	}
}

func TestPhasesStayOutOfTheFigures(t *testing.T) {
	s := summarize(t, runMeta, Options{}, run(10, func(i int, r *traces.Record) {
		if i < 4 {
			r.Phase = traces.Some("warmup")
			r.Outcome.FirstToken = ms(1e6)
		}
	})...)
	if s.Counts.Offered != 6 || s.Counts.Phases["warmup"] != 4 || s.Metrics["ttft_sent"].Max != 214 {
		t.Errorf("%+v", s.Counts)
	}
}

func TestGatewayCacheIsNotTheServersSpeed(t *testing.T) {
	s := summarize(t, runMeta, Options{}, run(10, func(i int, r *traces.Record) { r.Outcome.GatewayCache = traces.Some(i == 0) })...)
	if m := s.Metrics["ttft_sent"]; m.N != 9 || m.Excluded["gateway cache"] != 1 || s.Counts.GatewayCached != 1 {
		t.Errorf("%+v", m)
	}
}

func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	recs := run(800, func(i int, r *traces.Record) {
		r.App = traces.Some([]string{"chat", "rag"}[i%2])
		r.Outcome.FirstToken = ms(float64(i * 7919 % 800))
	})
	want := render(t, renderJSON, summarize(t, runMeta, Options{}, recs...))
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
	if got := render(t, renderJSON, summarize(t, runMeta, Options{}, recs...)); got != want {
		t.Error("shuffled rows give other figures")
	}
}

func TestErrorsSayWhereReadingFailed(t *testing.T) {
	boom := errors.New("disk gone")
	n := 0
	_, err := Summarize(traces.ReaderFunc(func(r *traces.Record) error {
		if n++; n > 2 {
			return boom
		}
		*r = full()
		return nil
	}), runMeta, Options{})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "after 2 rows") {
		t.Errorf("error = %v", err)
	}
	if _, err := Summarize(traces.FromSlice(nil), runMeta, Options{MaxLag: -1}); err == nil {
		t.Error("a negative bound passes")
	}
}

func BenchmarkSummarize(b *testing.B) {
	const rows = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		s, err := Summarize(traces.ReaderFunc(func(r *traces.Record) error {
			if n == rows {
				return io.EOF
			}
			n++
			first, rest := time.Duration(rng.ExpFloat64()*1e9), time.Duration(rng.ExpFloat64()*1e10)
			*r = full()
			o := &r.Outcome
			o.Due, o.Sent = traces.Some(time.Duration(n)*time.Millisecond), traces.Some(time.Duration(n)*time.Millisecond+time.Duration(rng.IntN(1e6)))
			o.FirstToken, o.FirstOutput, o.LastToken, o.End = traces.Some(first), traces.Some(first), traces.Some(first+rest), traces.Some(first+rest)
			o.MaxGap = traces.Some(time.Duration(rng.IntN(1e9)))
			o.Queue, o.Prefill, o.Decode = duration{}, duration{}, duration{}
			return nil
		}), runMeta, Options{})
		if err != nil || s.Counts.Offered != rows {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
