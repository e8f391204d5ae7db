package synth

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"wavetank/fit"
	"wavetank/traces"
)

// profile is an hour of two apps by hand: one Poisson with a cap and correlated
// lengths, one bursty.
func profile() *fit.Profile {
	return &fit.Profile{
		Version: 1,
		Source:  fit.Source{Requests: 7200, Window: time.Hour, By: fit.ByApp},
		Apps: map[string]*fit.App{
			"chat": {
				Requests: 5400, Weight: .75,
				Arrivals: recorded(1.5, 30*time.Minute, []float64{.5, 1.5}, "exponential"),
				Classes: []fit.Class{{
					Weight:     1,
					Prompt:     &fit.Lengths{Family: "lognormal", Params: []float64{6, 1}, Max: 2000, Spikes: []fit.Spike{{Value: 333, Mass: .1, Cause: fit.Template}}},
					Output:     &fit.Lengths{Family: "lognormal_mix", Params: []float64{.5, 4, .5, .5, 6, .4}},
					Dependence: &fit.Dependence{Fields: []string{"prompt", "output"}, Spearman: []float64{.5}, Copula: []float64{2 * math.Sin(math.Pi*.5/6)}},
					Models:     map[string]float64{"large": .3, "small": .6},
				}},
			},
			"code": {
				Requests: 1800, Weight: .25,
				Arrivals: recorded(.5, time.Hour, []float64{1}, "gamma", .4),
				Classes: []fit.Class{{
					Weight: 1,
					Prompt: &fit.Lengths{Family: "gamma", Params: []float64{2, 400}},
					Output: &fit.Lengths{Family: "weibull", Params: []float64{.9, 30}},
				}},
			},
		},
	}
}

// recorded is one class's arrivals as they were recorded.
func recorded(mean float64, width time.Duration, relative []float64, family string, params ...float64) fit.Arrivals {
	return fit.Arrivals{Kind: fit.KindCurve, Mean: mean, Curve: &fit.Curve{Width: width, Classes: []fit.ClassCurve{
		{Share: 1, Relative: relative, Gaps: fit.Gaps{Family: family, Params: params}},
	}}}
}

func collect(t *testing.T, parts []Part, o Options) []traces.Record {
	t.Helper()
	g, err := New(parts, o)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := traces.Collect(g)
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

func of(recs []traces.Record, app string) (out []traces.Record) {
	for _, r := range recs {
		if r.App.V == app {
			r.Seq = 0
			out = append(out, r)
		}
	}
	return out
}

func arrivals(recs []traces.Record) (out []time.Duration) {
	for _, r := range recs {
		out = append(out, r.Arrival)
	}
	return out
}

func same(a, b []traces.Record) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// The zero Options play the recorded window at the recorded rate.
func TestZeroOptions(t *testing.T) {
	recs := collect(t, []Part{{Profile: profile()}}, Options{})
	if n := float64(len(recs)); math.Abs(n-7200) > 4*math.Sqrt(7200*2) {
		t.Errorf("%g requests, want about 7200", n)
	}
	for i, r := range recs {
		if r.Seq != uint64(i) || r.Arrival >= time.Hour || i > 0 && r.Arrival < recs[i-1].Arrival {
			t.Fatalf("request %d of %v is out of order", r.Seq, r.Arrival)
		}
		if !r.Stream.V || r.Outcome.Status != traces.Unknown || !r.App.Known || r.PromptTokens.V < 1 || r.OutputTokens.V < 1 {
			t.Fatalf("request %d is %+v", r.Seq, r)
		}
	}
	early := 0
	for _, r := range of(recs, "chat") {
		if r.Arrival < 30*time.Minute {
			early++
		}
	}
	if math.Abs(float64(early)-1350) > 150 {
		t.Errorf("%d requests in the quiet half hour, want about 1350", early)
	}
}

// Equal seeds give equal requests, other seeds others.
func TestSeed(t *testing.T) {
	parts := []Part{{Name: "p", Profile: profile()}}
	a, b, c := collect(t, parts, Options{Seed: 1, Count: 500}), collect(t, parts, Options{Seed: 1, Count: 500}), collect(t, parts, Options{Seed: 2, Count: 500})
	if !same(a, b) {
		t.Error("one seed gives two traces")
	}
	if same(a, c) {
		t.Error("two seeds give one trace")
	}
}

// These requests were made once and must come again on any machine
// and version of Go: a change here breaks every seed that was ever written down.
func TestGolden(t *testing.T) {
	var got []string
	for _, r := range collect(t, []Part{{Name: "p", Profile: profile()}}, Options{Seed: 42, Count: 6}) {
		got = append(got, fmt.Sprintf("%s %v %d %d %s", r.App.V, r.Arrival.Round(time.Microsecond), r.PromptTokens.V, r.OutputTokens.V, r.Model.V))
	}
	const want = `code 93.018ms 468 23 
code 151.439ms 473 60 
chat 744.142ms 542 377 large
code 3.59891s 1182 64 
chat 3.671404s 286 78 small
chat 3.74567s 306 60 small`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

// Adding an app, or a part, leaves the requests of the others as they were.
func TestStreamsAreIndependent(t *testing.T) {
	both := collect(t, []Part{{Name: "p", Profile: profile()}}, Options{Seed: 3, For: 20 * time.Minute})
	alone := profile()
	delete(alone.Apps, "code")
	alone.Apps["chat"].Weight = 1
	if !same(of(both, "chat"), of(collect(t, []Part{{Name: "p", Profile: alone}}, Options{Seed: 3, For: 20 * time.Minute}), "chat")) {
		t.Error("the other app changes chat")
	}
	mixed := collect(t, []Part{{Name: "p", Profile: profile()}, {Name: "q", Profile: profile()}}, Options{Seed: 3, For: 20 * time.Minute})
	p, q := of(mixed, "p/chat"), of(mixed, "q/chat")
	for i := range p {
		p[i].App = traces.Some("chat")
	}
	if !same(of(both, "chat"), p) {
		t.Error("another part changes chat")
	}
	if len(q) == len(p) && p[0].Arrival == q[0].Arrival {
		t.Error("two parts of one profile draw the same")
	}
}

// Changing the model of outputs changes outputs alone.
func TestPurposesAreIndependent(t *testing.T) {
	other := profile()
	other.Apps["chat"].Classes[0].Output = &fit.Lengths{Family: "exponential", Params: []float64{50}}
	a := of(collect(t, []Part{{Profile: profile()}}, Options{Count: 1000}), "chat")
	b := of(collect(t, []Part{{Profile: other}}, Options{Count: 1000}), "chat")
	if len(a) != len(b) {
		t.Fatalf("%d and %d requests", len(a), len(b))
	}
	for i := range a {
		a[i].OutputTokens, b[i].OutputTokens = traces.Opt[int32]{}, traces.Opt[int32]{}
	}
	if !same(a, b) {
		t.Error("more than the outputs changed")
	}
}

func spearman(recs []traces.Record, of func(*traces.Record) (x, y float64)) float64 {
	var pairs []fit.Pair
	for i := range recs {
		x, y := of(&recs[i])
		pairs = append(pairs, fit.Pair{X: x, Y: y, N: 1})
	}
	return fit.Spearman(pairs)
}

func lengths(r *traces.Record) (x, y float64) {
	return float64(r.PromptTokens.V), float64(r.OutputTokens.V)
}

// Fields that the profile does not tie are independent: no uniform is used twice.
func TestIndependentFields(t *testing.T) {
	recs := of(collect(t, []Part{{Profile: profile()}}, Options{Count: 20_000}), "code")
	bound := 3 / math.Sqrt(float64(len(recs)))
	if s := spearman(recs, lengths); math.Abs(s) > bound {
		t.Errorf("Spearman of prompt and output is %g", s)
	}
	last := time.Duration(0)
	for name, tokens := range map[string]func(*traces.Record) traces.Opt[int32]{
		"prompt": func(r *traces.Record) traces.Opt[int32] { return r.PromptTokens },
		"output": func(r *traces.Record) traces.Opt[int32] { return r.OutputTokens },
	} {
		s := spearman(recs, func(r *traces.Record) (float64, float64) {
			gap := r.Arrival - last
			last = r.Arrival
			return float64(gap), float64(tokens(r).V)
		})
		if math.Abs(s) > bound {
			t.Errorf("Spearman of gap and %s is %g", name, s)
		}
		last = 0
	}
}

// The copula gives the rank correlation that was observed; the ties of the spike take
// a little of it.
func TestDependence(t *testing.T) {
	recs := of(collect(t, []Part{{Profile: profile()}}, Options{Count: 10_000}), "chat")
	if s := spearman(recs, lengths); math.Abs(s-.5) > .03 {
		t.Errorf("Spearman is %g, want .5", s)
	}
}

// A limit cuts; it does not collect. The spike has its mass and its neighbours theirs.
func TestNoPileAtTheLimit(t *testing.T) {
	recs := of(collect(t, []Part{{Profile: profile()}}, Options{Count: 30_000}), "chat")
	var top, below, spike int
	for _, r := range recs {
		switch p := r.PromptTokens.V; {
		case p > 2000:
			t.Fatalf("a prompt of %d", p)
		case p > 1990:
			top++
		case p > 1980:
			below++
		case p == 333:
			spike++
		}
	}
	if float64(top) > float64(below)+4*math.Sqrt(float64(below)+1) {
		t.Errorf("%d prompts in the last ten tokens, %d in the ten before", top, below)
	}
	// .1 of the spike, and what the smooth part has at 333: .9 * .00118 (R: dlnorm(333,6,1)/plnorm(2000.5,6,1)).
	if share := float64(spike) / float64(len(recs)); math.Abs(share-.1011) > .008 {
		t.Errorf("a share of %g is 333 tokens long", share)
	}
}

// Counts keep the variance of their process: gaps are not stretched to fill a window.
// Of a renewal process variance over mean goes to CV^2: 1 for exponential gaps, 2.5
// for gamma gaps of shape .4.
func TestCountsVary(t *testing.T) {
	for app, want := range map[string]float64{"chat": 1, "code": 2.5} {
		p := profile()
		for name := range p.Apps {
			if name != app {
				delete(p.Apps, name)
			}
		}
		a := p.Apps[app]
		gaps := a.Arrivals.Curve.Classes[0].Gaps
		a.Weight, a.Arrivals = 1, recorded(1, time.Hour, []float64{1}, gaps.Family, gaps.Params...)
		a.Classes[0].Prompt, a.Classes[0].Output, a.Classes[0].Dependence = nil, nil, nil
		times := arrivals(collect(t, []Part{{Profile: p}}, Options{For: 300 * 100 * time.Second}))
		// The standard error of a variance of 300 counts is 8 %; the correlation of
		// neighbours and the start leave another 5 %.
		if idc := fit.ArrivalIDC(times, 300*100*time.Second, 100*time.Second); math.Abs(idc/want-1) > .25 {
			t.Errorf("%s: variance over mean is %g, want %g", app, idc, want)
		}
	}
}

// Rate scales the whole, and shares divide it.
func TestMix(t *testing.T) {
	parts := []Part{{Name: "a", Profile: profile(), Share: 3}, {Name: "b", Profile: profile(), Share: 1}}
	recs := collect(t, parts, Options{Rate: 8, For: time.Hour})
	if n := float64(len(recs)); math.Abs(n/28_800-1) > .02 {
		t.Errorf("%g requests, want about 28800", n)
	}
	var a int
	for _, r := range recs {
		if strings.HasPrefix(r.App.V, "a/") {
			a++
		}
	}
	if share := float64(a) / float64(len(recs)); math.Abs(share-.75) > .01 {
		t.Errorf("a has %g, want .75", share)
	}
}

// Without shares each part keeps its own rate.
func TestMixOfOwnRates(t *testing.T) {
	slow := profile()
	for _, a := range slow.Apps {
		a.Arrivals.Mean /= 10
	}
	recs := collect(t, []Part{{Name: "a", Profile: profile()}, {Name: "b", Profile: slow}}, Options{})
	if n := float64(len(recs)); math.Abs(n/7920-1) > .05 {
		t.Errorf("%g requests, want about 7920", n)
	}
}

func TestCountAndFor(t *testing.T) {
	parts := []Part{{Profile: profile()}}
	if n := len(collect(t, parts, Options{Count: 17})); n != 17 {
		t.Errorf("%d requests, want 17", n)
	}
	recs := collect(t, parts, Options{Count: 1_000_000, For: time.Minute})
	if last := recs[len(recs)-1].Arrival; last >= time.Minute || len(recs) > 200 {
		t.Errorf("%d requests until %v", len(recs), last)
	}
}

// The names go back to where they were read from.
func TestLabels(t *testing.T) {
	for by, got := range map[fit.By]func(r *traces.Record) traces.Opt[string]{
		fit.ByApp:    func(r *traces.Record) traces.Opt[string] { return r.App },
		fit.ByModel:  func(r *traces.Record) traces.Opt[string] { return r.Model },
		fit.ByTenant: func(r *traces.Record) traces.Opt[string] { return r.Tenant },
	} {
		p := profile()
		p.Source.By = by
		p.Apps["default"] = p.Apps["code"]
		delete(p.Apps, "code")
		seen := make(map[traces.Opt[string]]int)
		for _, r := range collect(t, []Part{{Profile: p}}, Options{Count: 200}) {
			seen[got(&r)]++
		}
		if len(seen) != 2 || seen[traces.Some("chat")] == 0 || seen[traces.Opt[string]{}] == 0 {
			t.Errorf("by %s: %v", by, seen)
		}
	}
}

func TestModels(t *testing.T) {
	seen := make(map[string]float64)
	recs := of(collect(t, []Part{{Profile: profile()}}, Options{Count: 10_000}), "chat")
	for _, r := range recs {
		seen[r.Model.V] += 1 / float64(len(recs))
	}
	for m, want := range map[string]float64{"large": .3, "small": .6, "": .1} {
		if math.Abs(seen[m]-want) > .025 {
			t.Errorf("model %q has %g, want %g", m, seen[m], want)
		}
	}
}

// The rate that was asked for is the mean over the trace that is made, whatever
// part of the recorded curve it covers, and shares are shares of its requests.
func TestRateIsTheTracesOwnMean(t *testing.T) {
	low, flat := profile(), profile()
	for _, a := range flat.Apps {
		a.Arrivals.Curve.Width, a.Arrivals.Curve.Classes[0].Relative = time.Hour, []float64{1}
	}
	parts := []Part{{Name: "low", Profile: low, Share: .25}, {Name: "flat", Profile: flat, Share: .75}}
	for _, d := range []time.Duration{10 * time.Minute, time.Hour, 90 * time.Minute} {
		counts := make(map[string]float64)
		for _, rec := range collect(t, parts, Options{For: d, Rate: 6, Seed: 4}) {
			name, _, _ := strings.Cut(rec.App.V, "/")
			counts[name]++
		}
		for name, share := range map[string]float64{"low": .25, "flat": .75} {
			// The counts' variance is up to twice their mean.
			if want := 6 * share * d.Seconds(); math.Abs(counts[name]-want) > 3*math.Sqrt(2*want) {
				t.Errorf("%v: %g requests of %s, want about %g", d, counts[name], name, want)
			}
		}
	}
}

// Where the recorded curve has nothing, no factor makes a rate of it.
func TestNothingCannotBeScaled(t *testing.T) {
	p := profile()
	for _, a := range p.Apps {
		a.Arrivals.Curve.Width, a.Arrivals.Curve.Classes[0].Relative = 30*time.Minute, []float64{0, 2}
	}
	if _, err := New([]Part{{Profile: p}}, Options{For: 10 * time.Minute, Rate: 20}); err == nil || !strings.Contains(err.Error(), "make the trace longer") {
		t.Errorf("err = %v", err)
	}
}

// A curve is repeated or cut only with a word of it.
func TestNotes(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, ""},
		{Options{For: time.Hour}, ""},
		{Options{For: 3 * time.Hour}, "was fitted on 1h0m0s: what was recorded is repeated, in its order, to fill 3h0m0s"},
		{Options{Count: 20_000}, "repeated"},
		{Options{Count: 100_000, For: time.Hour}, ""},
		{Options{For: 10 * time.Minute}, "0.625 of its mean: expect about 1.25 requests a second, not 2"},
		{Options{For: 10 * time.Minute, Rate: 20}, ""},
	} {
		g, err := New([]Part{{Name: "p", Profile: profile()}}, c.o)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(g.Notes(), "; ")
		if !strings.Contains(notes, c.want) || c.want == "" && notes != "" {
			t.Errorf("%+v: notes %q, want %q", c.o, notes, c.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	p := profile()
	bad := profile()
	bad.Apps["chat"].Classes[0].Prompt.Params[1] = -1
	for _, c := range []struct {
		parts []Part
		o     Options
		want  string
	}{
		{nil, Options{}, "no profile"},
		{[]Part{{Name: "x"}}, Options{}, `part "x" has no profile`},
		{[]Part{{Name: "x", Profile: bad}}, Options{}, `part "x": apps.chat.classes[0].prompt.params[1]`},
		{[]Part{{Name: "x", Profile: p}, {Name: "x", Profile: p}}, Options{}, `two parts are named "x"`},
		{[]Part{{Name: "x", Profile: p, Share: 1}, {Name: "y", Profile: p}}, Options{}, "every part a share, or none"},
		{[]Part{{Profile: p, Share: -1}}, Options{}, "-1 is no share"},
		{[]Part{{Profile: p}}, Options{Rate: -1}, "-1 requests a second"},
		{[]Part{{Profile: p}}, Options{Rate: math.NaN()}, "NaN requests a second"},
		{[]Part{{Profile: p}}, Options{Count: -1}, "-1 requests"},
		{[]Part{{Profile: p}}, Options{For: -1}, "cannot last"},
	} {
		if _, err := New(c.parts, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// A trace of any length costs the memory of its apps.
func TestReadDoesNotAllocate(t *testing.T) {
	g, err := New([]Part{{Profile: profile()}}, Options{Count: math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	var rec traces.Record
	for range 1000 { // until each app's tables are there
		_ = g.Read(&rec)
	}
	if n := testing.AllocsPerRun(1000, func() { _ = g.Read(&rec) }); n > 0 {
		t.Errorf("%g allocations a request", n)
	}
}

// What was made of a profile is fitted to the same profile.
func TestFitOfSynthIsTheProfile(t *testing.T) {
	want := profile()
	code := &want.Apps["code"].Classes[0]
	code.Prompt, code.Output = nil, nil
	recs := collect(t, []Part{{Profile: want}}, Options{For: 3 * time.Hour})
	got, err := fit.Fit(traces.FromSlice(recs), fit.Options{Classes: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range want.Apps {
		g := got.Apps[name]
		if math.Abs(g.Weight-w.Weight) > .02 || math.Abs(g.Arrivals.Mean/w.Arrivals.Mean-1) > .05 {
			t.Errorf("%s: weight %g, mean %g", name, g.Weight, g.Arrivals.Mean)
		}
		if name == "code" {
			continue
		}
		for what, l := range map[string][2]*fit.Lengths{"prompt": {g.Classes[0].Prompt, w.Classes[0].Prompt}, "output": {g.Classes[0].Output, w.Classes[0].Output}} {
			for p := .05; p < .995; p += .01 {
				a, b := l[0].Dist().Quantile(p), l[1].Dist().Quantile(p)
				if math.Abs(a/b-1) > .08 && math.Abs(a-b) > 1.5 {
					t.Errorf("%s: quantile %.2f of %s is %g, was %g", name, p, what, a, b)
				}
			}
		}
	}
	if a := got.Apps["code"].Arrivals.Curve.Classes[0].Gaps; a.Family != "gamma" || math.Abs(a.Params[0]-.4) > .02 {
		t.Errorf("gaps of code are %s%v", a.Family, a.Params)
	}
	chat := got.Apps["chat"].Classes[0]
	if math.Abs(chat.Dependence.Spearman[0]-.5) > .02 {
		t.Errorf("Spearman of chat is %g", chat.Dependence.Spearman)
	}
	if n := len(chat.Prompt.Spikes); n != 1 || chat.Prompt.Spikes[0].Value != 333 {
		t.Errorf("spikes of chat are %v", chat.Prompt.Spikes)
	}
}

// The heaviest tail that a profile may ask for ends, in time and in place.
func TestHeavyTailEnds(t *testing.T) {
	p := profile()
	delete(p.Apps, "code")
	a := p.Apps["chat"]
	a.Weight, a.Arrivals = 1, recorded(1.5, time.Hour, []float64{1}, "lomax", .02)
	a.Classes[0].Prompt = &fit.Lengths{Family: "lomax", Params: []float64{.3, 1000}}
	for _, r := range collect(t, []Part{{Profile: p}}, Options{Count: 20_000}) {
		if r.Arrival < 0 || r.PromptTokens.V < 1 {
			t.Fatalf("a request of %d tokens at %v", r.PromptTokens.V, r.Arrival)
		}
	}
}
