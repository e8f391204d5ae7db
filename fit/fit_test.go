package fit

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// records makes n requests of one app with exponential gaps of that mean and lognormal lengths.
func records(n int, mean time.Duration) []traces.Record {
	r := rand.New(rand.NewPCG(11, 12))
	var recs []traces.Record
	var t time.Duration
	for i := range n {
		rec := traces.Record{Request: traces.Request{Seq: uint64(i), Arrival: t}}
		rec.PromptTokens = traces.Some(int32(lognormalDist{6, 1}.Quantile(r.Float64()) + 1))
		rec.OutputTokens = traces.Some(int32(lognormalDist{4, .8}.Quantile(r.Float64()) + 1))
		recs = append(recs, rec)
		t += time.Duration(exponentialDist(mean).Quantile(r.Float64()))
	}
	return recs
}

// bare takes the lengths away, for tests of what else is fitted.
func bare(recs []traces.Record) []traces.Record {
	for i := range recs {
		recs[i].PromptTokens, recs[i].OutputTokens = traces.Opt[int32]{}, traces.Opt[int32]{}
	}
	return recs
}

func mustFit(t *testing.T, recs []traces.Record, o Options) *Profile {
	t.Helper()
	p, err := Fit(traces.FromSlice(recs), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Validate(); err != nil {
		t.Fatalf("a fitted profile is not valid: %v", err)
	}
	return p
}

// azure reads a trace of the Azure Public Dataset (CC-BY-4.0; Patel et al.,
// Splitwise, ISCA 2024; Microsoft Azure).
func azure(t *testing.T, path string) []traces.Record {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var recs []traces.Record
	var start time.Time
	for _, row := range rows[1:] {
		at, err := time.Parse("2006-01-02 15:04:05.9999999", row[0])
		prompt, err2 := strconv.Atoi(row[1])
		output, err3 := strconv.Atoi(row[2])
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		if recs == nil {
			start = at
		}
		recs = append(recs, traces.Record{Request: traces.Request{Seq: uint64(len(recs)), Arrival: at.Sub(start),
			PromptTokens: traces.Some(int32(prompt)), OutputTokens: traces.Some(int32(output))}})
	}
	return recs
}

// The gates on real traffic: an hour of Azure's chat. The error of p99 is 4 % at most.
func TestAzureChat(t *testing.T) {
	t.Parallel()
	recs := azure(t, "../testdata/logs/azure/AzureLLMInferenceTrace_conv.csv.gz")
	one := mustFit(t, recs, Options{Classes: 1}).Apps["default"]
	if l := one.Classes[0].Output; l.Fit.KS > .015 || math.Abs(l.Fit.Q99) > .04 {
		t.Errorf("outputs of one class: KS %g, p99 off by %g", l.Fit.KS, l.Fit.Q99)
	}
	if l := one.Classes[0].Prompt; l.Fit.KS > .02 || math.Abs(l.Fit.Q99) > .04 {
		t.Errorf("prompts of one class: KS %g, p99 off by %g", l.Fit.KS, l.Fit.Q99)
	}
	// Independent readings of the same file: 396 is the commonest answer, and
	// Spearman is .073.
	if !slices.ContainsFunc(one.Classes[0].Output.Spikes, func(s Spike) bool { return s.Value == 396 }) {
		t.Errorf("396 is no spike of %v", one.Classes[0].Output.Spikes)
	}
	if s := one.Classes[0].Dependence.Spearman[0]; math.Abs(s-.073) > .001 {
		t.Errorf("Spearman is %g", s)
	}
	app := mustFit(t, recs, Options{}).Apps["default"]
	if j := app.Joint; j.Energy > 2*j.Floor || j.OutputKS > .015 || j.PromptKS > .02 {
		t.Errorf("%d classes: %+v; energy should be twice its floor at most", len(app.Classes), *j)
	}
	if w := app.Arrivals.Curve.Width; w != time.Minute {
		t.Errorf("cells of the rate curve are %v wide, want a minute", w)
	}
}

// The same trace makes the same bytes, and what is written is read back equal.
func TestProfileRoundTrip(t *testing.T) {
	recs := records(600, time.Second)
	for i := range recs {
		recs[i].App = traces.Some([]string{"chat", "a \"b\": #c"}[i%2])
		recs[i].Model = traces.Some("m")
	}
	var first, second bytes.Buffer
	p := mustFit(t, recs, Options{Tool: "wavetank test"})
	if _, err := p.WriteTo(&first); err != nil {
		t.Fatal(err)
	}
	if _, err := mustFit(t, recs, Options{Tool: "wavetank test"}).WriteTo(&second); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Error("two fits of one trace differ")
	}
	read, err := ReadProfile(&second)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if _, err := read.WriteTo(&again); err != nil {
		t.Fatal(err)
	}
	if again.String() != first.String() {
		t.Error("a profile that is read and written changes")
	}
	if len(p.Apps) != 2 || p.Apps["chat"].Classes[0].Models["m"] != 1 || p.Source.Requests != 600 {
		t.Errorf("got %d apps, models %v, %d requests", len(p.Apps), p.Apps["chat"].Classes[0].Models, p.Source.Requests)
	}
}

// Nothing that names a request or a moment is in a profile.
func TestProfileHoldsNoRequest(t *testing.T) {
	recs := records(100, time.Second)
	for i := range recs {
		r := &recs[i]
		r.ID, r.User, r.Session, r.Tenant = traces.Some("secret-id"), traces.Some("secret-user"), traces.Some("secret-session"), traces.Some("secret-tenant")
		r.Body, r.Params = []byte("secret-body"), traces.Some("secret-params")
		r.PromptTokens = traces.Some(int32(100 + i%50))
	}
	recs[50].PromptTokens = traces.Some(int32(31337))
	var buf bytes.Buffer
	if _, err := mustFit(t, recs, Options{}).WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	if s := buf.String(); strings.Contains(s, "secret") {
		t.Errorf("the profile gives away %s", s)
	}
}

func TestFitRefuses(t *testing.T) {
	small := records(60, time.Second)
	for i := range small {
		small[i].App = traces.Some("chat")
		if i%7 == 0 {
			small[i].App = traces.Some("agent")
		}
	}
	few := records(60, time.Second)
	for i := range few[10:] {
		few[10+i].OutputTokens = traces.Opt[int32]{}
	}
	backwards := records(60, time.Second)
	backwards[9].Arrival = 0
	instant := records(60, 0)
	negative := records(60, time.Second)
	negative[3].PromptTokens.V = -1
	for _, c := range []struct {
		recs []traces.Record
		o    Options
		want string
	}{
		{nil, Options{}, `app "default" has 0 requests; at least 30 are needed`},
		{small, Options{}, `app "agent" has 9 requests; at least 30 are needed`},
		{few, Options{}, `app "default" has 10 output lengths; at least 30 are needed`},
		{backwards, Options{}, "request 9 arrives at 0s"},
		{instant, Options{}, "all 60 requests arrive at one instant"},
		{negative, Options{}, "request 3 has -1 prompt"},
		{small, Options{By: "user"}, `cannot fit by "user"`},
		{small, Options{Width: -1}, "must not be negative"},
	} {
		_, err := Fit(traces.FromSlice(c.recs), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	_, err := Fit(traces.FromSlice(small), Options{})
	var few30 *TooFewError
	if !errors.As(err, &few30) || few30.Hint() == "" {
		t.Errorf("%v does not hint", err)
	}
	mustFit(t, small, Options{By: ByNone})
}

// Failures arrive but have no length; retries and warm-ups are not users' load. An
// answer of 0 tokens is empty, not short.
func TestOutcomesAreKeptApart(t *testing.T) {
	recs := records(1000, time.Second)
	for i := range recs {
		recs[i].Outcome.Status = traces.OK
		switch i % 10 {
		case 0:
			recs[i].Outcome.Status = traces.Error
			recs[i].OutputTokens = traces.Some(int32(100_000))
		case 1:
			recs[i].OutputTokens = traces.Some(int32(0))
		case 2:
			recs[i].Phase = traces.Some("warmup")
		case 3:
			recs[i].Outcome.RetryOf = traces.Some(uint64(1))
		}
	}
	p := mustFit(t, recs, Options{Classes: 1})
	a := p.Apps["default"]
	if a.Requests != 800 || p.Source.LeftOut["phase"] != 100 || p.Source.LeftOut["retry"] != 100 {
		t.Errorf("%d requests, left out %v", a.Requests, p.Source.LeftOut)
	}
	want := map[traces.Status]float64{traces.OK: .75, traces.Error: .125, traces.Empty: .125}
	for s, share := range want {
		if a.Outcomes[s] != share {
			t.Errorf("%s has %g, want %g", s, a.Outcomes[s], share)
		}
	}
	if a.Classes[0].Output.Fit.Count != 600 || a.Classes[0].Output.Dist().CDF(99_999) < .999 {
		t.Errorf("failures are among the %d lengths", a.Classes[0].Output.Fit.Count)
	}
}

// What divides a trace is the option's field, and unknown is an app of its own.
func TestBy(t *testing.T) {
	recs := bare(records(300, time.Second))
	for i := range recs {
		recs[i].App, recs[i].Tenant = traces.Some("chat"), traces.Some("acme")
		if i%3 > 0 {
			recs[i].Model = traces.Some("large")
		}
	}
	for by, want := range map[By]string{"": "chat", ByApp: "chat", ByTenant: "acme", ByNone: "default", ByModel: "large"} {
		p := mustFit(t, recs, Options{By: by})
		if p.Apps[want] == nil {
			t.Errorf("by %q has no %s", by, want)
		}
		if by == ByModel && (p.Apps["default"] == nil || p.Apps["default"].Weight != round(1./3)) {
			t.Error("requests without a model are lost")
		}
	}
}
