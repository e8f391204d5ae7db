package synth

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/fit"
	"wavetank/traces"
)

// lone is the hour of one app that is Poisson, at 2/s.
func lone() (*fit.Profile, *fit.App) {
	p := profile()
	delete(p.Apps, "code")
	a := p.Apps["chat"]
	a.Weight, a.Arrivals = 1, recorded(2, time.Hour, []float64{1}, "exponential")
	return p, a
}

// chatting is lone with sessions of 1, 2 or many turns, and a pause of 20 s.
func chatting() (*fit.Profile, *fit.App) {
	p, a := lone()
	a.Sessions = &fit.Sessions{
		Share:  .8,
		Turns:  &fit.Turns{Sessions: 1, From: []int{1, 2}, Hazard: []float64{.4, .1}},
		Pauses: &fit.Pauses{Mean: 20, Family: "gamma", Params: []float64{3}},
	}
	return p, a
}

// compact is lone with bursts and silences that are random in time.
func compact() *fit.Profile {
	p, a := lone()
	a.Arrivals = fit.Arrivals{Kind: fit.KindOnOff, Mean: 2, Span: time.Hour, Select: 1,
		OnOff: &fit.OnOff{Gap: 4, Bursts: 120, Silence: []float64{1, 2.5, .8}, Length: []float64{1, 2.5, .8},
			Rate: fit.LogNormal{Mu: 1.4, Sigma: .4}, Jitter: fit.Wave{Sigma: .4, Tau: 4}, Shape: .8},
		Fingerprint: &fit.Fingerprint{
			Rate: 2, Scales: []time.Duration{time.Second, 10 * time.Second, time.Minute}, IDC: []float64{3, 12, 25},
			Loads: []float64{1.5, 3}, Requests: []fit.Backlog{{5, 60, 150}, {0, 20, 60}}, Empty: []float64{.4, .02},
		}}
	return p
}

func dispersion(recs []traces.Record, window, scale time.Duration) float64 {
	return fit.ArrivalIDC(arrivals(recs), window, scale)
}

// turnsOf are the turns of every session, by its name.
func turnsOf(recs []traces.Record) map[string][]traces.Record {
	out := make(map[string][]traces.Record)
	for _, r := range recs {
		if r.Session.Known {
			out[r.Session.V] = append(out[r.Session.V], r)
		}
	}
	return out
}

// Sessions give names to requests and change nothing else of them.
func TestSessionsLeaveTheArrivals(t *testing.T) {
	with, a := chatting()
	recs := collect(t, []Part{{Profile: with}}, Options{Count: 5000})
	a.Sessions = nil
	without := collect(t, []Part{{Profile: with}}, Options{Count: 5000})
	for i := range recs {
		recs[i].Session, recs[i].Turn = traces.Opt[string]{}, traces.Opt[int32]{}
	}
	if !same(recs, without) {
		t.Error("more than the session changed")
	}
}

// What was made with sessions is fitted to them again: turns, pauses, share.
func TestSessionsComeBack(t *testing.T) {
	p, a := chatting()
	recs := collect(t, []Part{{Profile: p}}, Options{For: 3 * time.Hour})
	for name, turns := range turnsOf(recs) {
		for i := 1; i < len(turns); i++ {
			if turns[i].Turn.V != turns[i-1].Turn.V+1 {
				t.Fatalf("%s has turn %d after %d", name, turns[i].Turn.V, turns[i-1].Turn.V)
			}
		}
	}
	got, err := fit.Fit(traces.FromSlice(recs), fit.Options{Classes: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := got.Apps["chat"].Sessions
	if math.Abs(s.Share-a.Sessions.Share) > .01 {
		t.Errorf("share %g, want %g", s.Share, a.Sessions.Share)
	}
	alive, want := 1., 1.
	for k := 1; k <= 12; k++ {
		alive, want = alive*(1-s.Turns.HazardAt(k)), want*(1-a.Sessions.Turns.HazardAt(k))
		if math.Abs(alive-want) > .02 {
			t.Errorf("more than %d turns have %.3f, want %.3f", k, alive, want)
		}
	}
	// A turn that is due waits for an arrival, 7 turns over 1.6 a second at most.
	if m := s.Pauses.Mean; m < 20 || m > 20+7/1.6 {
		t.Errorf("pauses of %g s, want 20 and up to 4.4 of waiting", m)
	}
}

// At the start as many sessions are open as later: as many turns are not the first.
func TestSessionsAreOpenAtTheStart(t *testing.T) {
	for _, users := range []float64{1, 2.5, 200} {
		p, _ := chatting()
		recs := collect(t, []Part{{Profile: p}}, Options{Users: users, Count: int64(7200 * min(users, 2))})
		first := func(recs []traces.Record) (share float64) {
			for _, r := range recs {
				if r.Turn.Known && r.Turn.V == 0 {
					share += 1 / float64(len(recs))
				}
			}
			return share
		}
		start, later := first(recs[:800]), first(recs[len(recs)/2:])
		if math.Abs(start-later) > .07 {
			t.Errorf("%g times the users: %.3f of the first 800 requests begin a session, of the last half %.3f", users, start, later)
		}
	}
}

// Weights and bursts of clients come back.
func TestClientsComeBack(t *testing.T) {
	p, a := lone()
	a.Clients = &fit.Clients{Field: "user", Count: 12, Weights: []float64{.5, .2}, Tail: .3, Burst: []float64{.5, 0, .2},
		Memory: []time.Duration{10 * time.Minute, 0, 10 * time.Minute}}
	got, err := fit.Fit(traces.FromSlice(collect(t, []Part{{Profile: p}}, Options{For: 12 * time.Hour, Seed: 2})), fit.Options{Classes: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := got.Apps["chat"].Clients
	if c == nil || c.Field != "user" || c.Count != 12 {
		t.Fatalf("clients are %+v", c)
	}
	// The mean over 72 memories errs by burst*sqrt(2/72).
	if math.Abs(c.Weights[0]-.5) > .1 || math.Abs(c.Weights[1]-.2) > .03 {
		t.Errorf("weights %v, want .5, .2", c.Weights[:2])
	}
	if math.Abs(c.Burst[0]-.5) > .17 || c.Memory[0] < 3*time.Minute || c.Memory[0] > 30*time.Minute {
		t.Errorf("bursts %v over %v, want .5 over 10m", c.Burst[:2], c.Memory[:2])
	}
}

// Reasoning is a part of the answer, as it was; what was cached is up to the next server.
func TestReasoningComesBack(t *testing.T) {
	p, a := lone()
	c := &a.Classes[0]
	c.Reasoning = &fit.Share{Requests: 1, Zero: .3, Knots: []float64{.2, 0, .9, 1}}
	c.Cached = &fit.Share{Requests: 1, Zero: 1}
	c.Dependence = &fit.Dependence{Fields: []string{"output", "reasoning"}, Spearman: []float64{.6}, Copula: []float64{.62}}
	recs := collect(t, []Part{{Profile: p}}, Options{Count: 8000})
	for _, r := range recs {
		if r.ReasoningTokens.V > r.OutputTokens.V || r.Outcome.CachedTokens.Known {
			t.Fatalf("%d of %d tokens are reasoning; cached %v", r.ReasoningTokens.V, r.OutputTokens.V, r.Outcome.CachedTokens)
		}
	}
	got, err := fit.Fit(traces.FromSlice(recs), fit.Options{Classes: 1})
	if err != nil {
		t.Fatal(err)
	}
	g := &got.Apps["chat"].Classes[0]
	if math.Abs(g.Reasoning.Zero-.3) > .02 || math.Abs(g.Reasoning.Mean()-.7*.55) > .02 {
		t.Errorf("none has %g, the mean is %g", g.Reasoning.Zero, g.Reasoning.Mean())
	}
	i := slices.Index(g.Dependence.Fields, "reasoning") // pairs are (1,0), (2,0), (2,1): i is 2
	if i != 2 || math.Abs(g.Dependence.Spearman[2]-.57) > .07 {
		t.Errorf("%v go together by %v, output and reasoning by .57 wanted", g.Dependence.Fields, g.Dependence.Spearman)
	}
}

// A limit that cut answers cuts again.
func TestCutAnswersAreCutAgain(t *testing.T) {
	p, a := lone()
	l := &fit.Lengths{Family: "lognormal", Params: []float64{5, 1}, Censored: &fit.Censored{Share: .3, At: []fit.Limit{{Value: 150, Share: .6}}}}
	a.Classes[0].Output, a.Classes[0].Dependence = l, nil
	var at, beyond float64
	for _, r := range collect(t, []Part{{Profile: p}}, Options{Count: 8000}) {
		if r.OutputTokens.V == 150 {
			at += 1. / 8000
		}
		if r.OutputTokens.V > 150 {
			beyond += 1. / 8000
		}
	}
	longer := 1 - l.Uncut().CDF(150.5)
	if math.Abs(beyond-.4*longer) > .02 || math.Abs(at-.6*longer) > .03 {
		t.Errorf("%.3f are cut and %.3f longer, want %.3f and %.3f", at, beyond, .6*longer, .4*longer)
	}
}

// More users are independent of each other: their sum is less bursty than one that is
// that many times as large, and a faster one as bursty as before on its own clock.
func TestUsersAreIndependentAndFasterIsNot(t *testing.T) {
	p := compact()
	one := collect(t, []Part{{Profile: p}}, Options{Seed: 1})
	many := collect(t, []Part{{Profile: p}}, Options{Seed: 1, Users: 2.5})
	if r := float64(len(many)) / float64(len(one)); math.Abs(r-2.5) > .35 {
		t.Errorf("2.5 times the users make %.3g times the requests", r)
	}
	single, summed := dispersion(one, time.Hour, time.Minute), dispersion(many, time.Hour, time.Minute)
	if summed > 1.6*single {
		t.Errorf("the dispersion grows from %.3g to %.3g: the users are not independent", single, summed)
	}
	fast := collect(t, []Part{{Profile: p}}, Options{Seed: 1, Faster: 2, Count: int64(len(one))})
	for i := range one {
		if fast[i].Arrival != time.Duration(float64(one[i].Arrival)/2) {
			t.Fatalf("request %d comes at %v, want half of %v", i, fast[i].Arrival, one[i].Arrival)
		}
	}
}

// The best of 32 spans is nearer to the fingerprint than a span as it comes.
func TestSelectedSpansAreNearer(t *testing.T) {
	a := compact().Apps["chat"].Arrivals
	distance := func(n int) float64 {
		s := a.Draw(time.Hour, fit.DrawOptions{Seed: 3, Select: n})
		for at, _ := s.Next(); at < 2*time.Hour; at, _ = s.Next() {
		}
		return s.Distance()
	}
	if raw, best := distance(1), distance(32); !(best < .7*raw) {
		t.Errorf("the best of 32 is %g away, any %g", best, raw)
	}
	p := compact()
	if same(collect(t, []Part{{Profile: p}}, Options{Select: 1}), collect(t, []Part{{Profile: p}}, Options{Select: 32})) {
		t.Error("selecting changes nothing")
	}
}

// What goes beyond the window says so, and a trace of regimes comes in another order.
func TestExtending(t *testing.T) {
	p, a := lone()
	a.Arrivals = fit.Arrivals{Kind: fit.KindRegimes, Mean: 2, Span: time.Hour,
		Regimes: &fit.Regimes{Sojourn: []time.Duration{20 * time.Minute, 20 * time.Minute, 20 * time.Minute},
			Rates: [][]float64{{.5}, {1.5}, {4}}, Residual: fit.Wave{Sigma: .1, Tau: 30}, Shape: 1},
		Fingerprint: compact().Apps["chat"].Arrivals.Fingerprint}
	halves := func(mode Mode) (orders map[string]bool) {
		orders = make(map[string]bool)
		for seed := range uint64(4) {
			var n [3]int
			for _, r := range collect(t, []Part{{Profile: p}}, Options{Mode: mode, Seed: seed}) {
				n[r.Arrival/(20*time.Minute)]++
			}
			orders[fmt.Sprint(n[0] < n[1], n[1] < n[2], n[0] < n[2])] = true
		}
		return orders
	}
	if got := halves(Reproduce); len(got) != 1 || !got["true true true"] {
		t.Errorf("reproduced orders are %v", got)
	}
	if got := halves(Extend); len(got) < 2 {
		t.Errorf("four extended traces have the orders %v", got)
	}
	g, err := New([]Part{{Profile: p}}, Options{Mode: Extend, For: 3 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(g.Notes(), "; "); !strings.Contains(notes, "extended to 3h0m0s") {
		t.Errorf("notes are %q", notes)
	}
}

// Options that contradict each other, or that no work would be enough for, are refused.
func TestFactorsRefused(t *testing.T) {
	p, _ := lone()
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Rate: 3, Users: 2}, "each decides the other"},
		{Options{Users: -1}, "-1 times the users"},
		{Options{Users: 1e-9}, "1e-09 times the users"},
		{Options{Users: 1e7}, "1e+07 times the users"},
		{Options{Faster: math.NaN()}, "NaN times as fast"},
		{Options{Rate: 1e-9}, "5e-10 times its users"},
		{Options{Rate: 1e9}, "5e+08 times its users"},
		{Options{Mode: "rewind"}, `no mode "rewind"`},
		{Options{Select: 5000}, "best of 5000 spans"},
	} {
		if _, err := New([]Part{{Profile: p}}, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", c.o, err, c.want)
		}
	}
}

// Equal profiles and options are equal bytes, with all that a profile can hold.
func TestBytesAreEqual(t *testing.T) {
	var texts [2]bytes.Buffer
	for i := range texts {
		p, a := chatting()
		a.Arrivals = compact().Apps["chat"].Arrivals
		a.Clients = &fit.Clients{Field: "user", Count: 2, Weights: []float64{.6, .4}, Burst: []float64{1, 1}, Memory: []time.Duration{time.Minute, time.Minute}}
		for _, r := range collect(t, []Part{{Profile: p}}, Options{Seed: 8, Users: 2.5, Count: 3000}) {
			fmt.Fprintf(&texts[i], "%+v\n", r)
		}
	}
	if !bytes.Equal(texts[0].Bytes(), texts[1].Bytes()) {
		t.Error("two traces")
	}
}

// A trace costs the memory of its apps, and of what sessions are open, however many requests
// it has: the third thirty thousand as much as the first, of every kind of arrivals.
func TestMemoryDoesNotGrow(t *testing.T) {
	recordedOnes, _ := chatting()
	bursts := compact()
	bursts.Apps["chat"].Sessions = recordedOnes.Apps["chat"].Sessions
	for name, p := range map[string]*fit.Profile{"recorded": recordedOnes, "compact": bursts} {
		g, err := New([]Part{{Profile: p}}, Options{Count: 10_000_000, Users: 3})
		if err != nil {
			t.Fatal(err)
		}
		read := func() uint64 {
			var rec traces.Record
			for range 30_000 {
				if err := g.Read(&rec); err != nil {
					t.Fatal(err)
				}
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			runtime.KeepAlive(g)
			return m.HeapAlloc
		}
		first := read()
		read()
		if last := read(); last > first+1<<20 {
			t.Errorf("%s: %d KB are held after 30,000 requests, %d KB after 90,000", name, first>>10, last>>10)
		}
	}
}
