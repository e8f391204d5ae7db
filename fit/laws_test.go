package fit

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// offered are n requests at 2/s as each of them is set, of lengths that are lognormal.
func offered(n int, set func(i int, r *traces.Record, src *rand.Rand)) (recs []traces.Record) {
	src := rand.New(rand.NewPCG(91, 92))
	var at float64
	for i := range n {
		at += src.ExpFloat64() / 2
		var r traces.Record
		r.Seq, r.Arrival = uint64(i), time.Duration(at*1e9)
		r.PromptTokens = traces.Some(int32(1 + math.Exp(6+.8*src.NormFloat64())))
		r.OutputTokens = traces.Some(int32(1 + math.Exp(5+.6*src.NormFloat64())))
		r.Outcome.Status = traces.OK
		if set != nil {
			set(i, &r, src)
		}
		recs = append(recs, r)
	}
	return recs
}

// fitted is the only app of a profile that can be read as it was written.
func fitted(t *testing.T, recs []traces.Record, o Options) (*App, string) {
	t.Helper()
	p, err := Fit(traces.FromSlice(recs), o)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := p.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	again, err := ReadProfile(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatalf("what was fitted cannot be read: %v", err)
	}
	return again.Apps[defaultApp], text.String()
}

// Tenants and models that are many are classes of their own, by rank and not by name;
// the others are one more kind.
func TestStrataBecomeClasses(t *testing.T) {
	recs := offered(4000, func(i int, r *traces.Record, src *rand.Rand) {
		switch tenth := i % 10; {
		case tenth < 5:
			r.Tenant, r.Model, r.PromptTokens = traces.Some("Acme GmbH"), traces.Some("large"), traces.Some(2000+src.Int32N(900))
		case tenth < 8:
			r.Tenant, r.Model = traces.Some("Umbrella"), traces.Some("small")
		default: // 40 tenants of 20 requests each: too few of any
			r.Tenant, r.Model, r.PromptTokens = traces.Some(fmt.Sprint("nobody-", i/10%40)), traces.Some("small"), traces.Some(1+src.Int32N(30))
		}
	})
	a, text := fitted(t, recs, Options{By: ByNone, Classes: 1})
	if len(a.Classes) != 3 {
		t.Fatalf("%d classes, want 3", len(a.Classes))
	}
	for tenant, want := range map[string]struct {
		weight   float64
		model    string
		from, to float64
	}{"tenant-1": {.5, "large", 2000, 2900}, "tenant-2": {.3, "small", 200, 800}, "": {.2, "small", 1, 30}} {
		i := slices.IndexFunc(a.Classes, func(c Class) bool { return c.Tenant == tenant })
		if i < 0 {
			t.Errorf("no class of %q", tenant)
			continue
		}
		c := &a.Classes[i]
		if q := c.Prompt.Dist().Quantile(.5); c.Weight != want.weight || c.Models[want.model] != 1 || q < want.from || q > want.to {
			t.Errorf("%q has %g, models %v, a median prompt of %g; want %+v", tenant, c.Weight, c.Models, q, want)
		}
	}
	for _, name := range []string{"Acme", "Umbrella", "nobody"} {
		if strings.Contains(text, name) {
			t.Errorf("the profile names %s", name)
		}
	}
}

// As many kinds as there can be, each of two lengths, are a profile that can be read.
func TestAsManyClassesAsThereCanBe(t *testing.T) {
	t.Parallel()
	recs := offered(6600, func(i int, r *traces.Record, src *rand.Rand) {
		r.Tenant = traces.Some(fmt.Sprint(i % 12))
		if src.IntN(2) == 0 {
			r.PromptTokens, r.OutputTokens = traces.Some(20+src.Int32N(20)), traces.Some(4000+src.Int32N(900))
		}
	})
	if a, _ := fitted(t, recs, Options{By: ByNone}); len(a.Classes) != mostClasses {
		t.Errorf("%d classes, want %d", len(a.Classes), mostClasses)
	}
}

// More kinds than a row can number are of no tenant and no model, and not of the last one.
func TestKindsWithoutEnd(t *testing.T) {
	g := newGroup()
	for i := range maxKinds + 5000 {
		var r traces.Record
		r.Model, r.Arrival = traces.Some(strconv.Itoa(i)), time.Duration(i)*time.Millisecond
		if err := g.add(&r, r.Arrival); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(g.kinds.keys); n != maxKinds {
		t.Errorf("%d kinds are kept, want %d", n, maxKinds)
	}
	last := g.rows[len(g.rows)-1]
	if k := g.kinds.keys[last.kind]; k != (kind{}) {
		t.Errorf("the last is taken for %v", k)
	}
	if apart, n := g.kindsApart(); n != 2 || apart[last.kind] != 1 {
		t.Errorf("%d kinds, the late ones are %d", n, apart[last.kind])
	}
}

// An answer that was cut, by what the server says or by the client's limit, is known to be
// cut: the lengths beyond come back, and so does the cut.
func TestCutAnswersThroughFit(t *testing.T) {
	var cut float64
	recs := offered(6000, func(i int, r *traces.Record, _ *rand.Rand) {
		if r.OutputTokens.V < 200 {
			r.Outcome.FinishReason = traces.Some("stop")
			return
		}
		cut++
		r.OutputTokens = traces.Some[int32](200)
		if i%2 == 0 {
			r.MaxTokens = traces.Some[int32](200)
		} else {
			r.Outcome.FinishReason = traces.Some("length")
		}
	})
	a, _ := fitted(t, recs, Options{By: ByNone, Classes: 1})
	l := a.Classes[0].Output
	if l.Censored == nil || math.Abs(l.Censored.Share-cut/6000) > .001 || l.Censored.At[0].Value != 200 {
		t.Fatalf("cut: %+v, want a share of %g at 200", l.Censored, cut/6000)
	}
	if q := l.Uncut().Quantile(.9); math.Abs(q/math.Exp(5+.6*1.2816)-1) > .1 {
		t.Errorf("without the cut 90 %% are up to %g, want %g", q, math.Exp(5+.6*1.2816))
	}
	d := a.Classes[0].Drawer()
	src := rand.New(rand.NewPCG(1, 2))
	var at float64
	for range 4000 {
		got := d.Draw(&[4]float64{Uniform(src), Uniform(src), Uniform(src), Uniform(src)}).Output
		if got > 200 {
			t.Fatalf("an answer of %d was drawn", got)
		}
		if got == 200 {
			at++
		}
	}
	if math.Abs(at/4000-cut/6000) > .03 {
		t.Errorf("%g of the drawn answers are cut, want %g", at/4000, cut/6000)
	}
}

// Failures have a rate of their own, come among the arrivals, and have no lengths.
func TestFailuresApart(t *testing.T) {
	var failed, early float64
	recs := offered(6000, func(i int, r *traces.Record, src *rand.Rand) {
		if chance := .05 + .3*float64(i/3000); src.Float64() < chance {
			r.Outcome.Status, r.OutputTokens = traces.Error, traces.Some[int32](9999)
			failed++
			if i < 3000 {
				early++
			}
		}
	})
	a, _ := fitted(t, recs, Options{By: ByNone, Classes: 1})
	window := recs[len(recs)-1].Arrival - recs[0].Arrival
	if want := failed / window.Seconds(); a.Failures == nil || math.Abs(a.Failures.Mean/want-1) > 1e-3 {
		t.Fatalf("failures %+v, want %g a second", a.Failures, want)
	}
	half := len(a.Failures.Relative) / 2
	if got := sum(a.Failures.Relative[:half]) / sum(a.Failures.Relative); math.Abs(got-early/failed) > .05 {
		t.Errorf("%g of the failures come in the first half, want %g", got, early/failed)
	}
	if a.Requests != 6000 || math.Abs(a.Arrivals.Mean*window.Seconds()-6000) > 1 {
		t.Errorf("%d requests, %g a second", a.Requests, a.Arrivals.Mean)
	}
	if n := a.Classes[0].Output.Fit.Count; n != int64(6000-failed) || a.Classes[0].Output.Dist().CDF(9000) < .999 {
		t.Errorf("%d lengths, want %g; or the failures' are among them", n, 6000-failed)
	}
}

// Four quantities that go together are drawn together.
func TestFourGoTogether(t *testing.T) {
	recs := offered(8000, func(_ int, r *traces.Record, src *rand.Rand) {
		z := src.NormFloat64()
		noisy := func(by float64) float64 { return by*z + math.Sqrt(1-by*by)*src.NormFloat64() }
		p, o := math.Exp(6+.7*noisy(.8)), math.Exp(5+.7*noisy(-.7))
		r.PromptTokens, r.OutputTokens = traces.Some(int32(p)), traces.Some(int32(o)+10)
		r.ReasoningTokens = traces.Some(int32(float64(r.OutputTokens.V) * NormalCDF(noisy(.9))))
		r.Outcome.CachedTokens = traces.Some(int32(float64(r.PromptTokens.V) * NormalCDF(noisy(.6))))
	})
	a, _ := fitted(t, recs, Options{By: ByNone, Classes: 1})
	c := &a.Classes[0]
	if c.Dependence == nil || !slices.Equal(c.Dependence.Fields, fields) {
		t.Fatalf("the copula is %+v", c.Dependence)
	}
	d := c.Drawer()
	src := rand.New(rand.NewPCG(3, 4))
	drawn := make([]Tokens, len(recs))
	for i := range drawn {
		drawn[i] = d.Draw(&[4]float64{Uniform(src), Uniform(src), Uniform(src), Uniform(src)})
	}
	quantities := func(t Tokens) [4]float64 {
		return [4]float64{float64(t.Prompt), float64(t.Output), float64(t.Reasoning) / float64(t.Output), float64(t.Cached) / float64(t.Prompt)}
	}
	for i := range 4 {
		for j := range i {
			var real, synthetic []Pair
			for k, r := range recs {
				x := quantities(Tokens{r.PromptTokens.V, r.OutputTokens.V, r.ReasoningTokens.V, r.Outcome.CachedTokens.V})
				y := quantities(drawn[k])
				real, synthetic = append(real, Pair{x[i], x[j], 1}), append(synthetic, Pair{y[i], y[j], 1})
			}
			if want, got := Spearman(real), Spearman(synthetic); math.Abs(got-want) > .05 {
				t.Errorf("%s and %s go together by %.3f, drawn by %.3f", fields[j], fields[i], want, got)
			}
		}
	}
}

// numbers are the numbers of a YAML text.
var numbers = regexp.MustCompile(`-?\d+\.?\d*(e[-+]?\d+)?`)

// Compact arrivals are tens of numbers. No arrival can be read off them: but for what the
// regimes last no time is told.
func TestCompactHoldsNoTime(t *testing.T) {
	quickly(t, 8)
	recs := offered(3000, nil)
	p, err := Fit(traces.FromSlice(recs), Options{By: ByNone, Arrivals: Compact})
	if err != nil {
		t.Fatal(err)
	}
	a := &p.Apps[defaultApp].Arrivals
	if a.Curve != nil || a.Kind == KindCurve {
		t.Fatalf("Poisson arrivals are kept as recorded: %s", a.Why)
	}
	lone := &Profile{Apps: map[string]*App{"": {Arrivals: *a}}}
	lone.Apps[""].Arrivals.Why = ""
	var text bytes.Buffer
	if _, err := lone.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	if n := len(numbers.FindAllString(text.String(), -1)); n > 250 { // most of them of the fingerprint
		t.Errorf("%d numbers", n)
	}
	// The same sort of traffic at other instants has the same sort of profile: moving every
	// arrival by less than the tolerances changes no time in it.
	if a.Regimes != nil {
		for _, s := range a.Regimes.Sojourn {
			if s%time.Second != 0 {
				t.Errorf("a regime lasts %v", s)
			}
		}
	}
	for _, s := range a.Fingerprint.Scales {
		if !slices.Contains(Scales, s) {
			t.Errorf("a scale of %v", s)
		}
	}
}

// Few requests, equal gaps, one instant, two stamps: an error that says so, or a profile
// that can be read.
func TestFitOfOddTraces(t *testing.T) {
	at := func(n int, of func(i int) time.Duration) (recs []traces.Record) {
		recs = offered(n, nil)
		for i := range recs { // no lengths: their fits take long, and are not what is odd
			recs[i] = traces.Record{Request: traces.Request{Seq: uint64(i), Arrival: of(i)}}
		}
		return recs
	}
	for name, c := range map[string]struct {
		recs []traces.Record
		want string
	}{
		"thirty":          {at(30, func(i int) time.Duration { return time.Duration(i*i) * time.Minute }), ""},
		"equal gaps":      {at(400, func(i int) time.Duration { return time.Duration(i) * 250 * time.Millisecond }), ""},
		"one instant":     {at(100, func(int) time.Duration { return time.Hour }), "at one instant"},
		"two seconds":     {at(100, func(i int) time.Duration { return time.Duration(i/50) * time.Second }), ""},
		"two nanoseconds": {at(100, func(i int) time.Duration { return time.Duration(i / 50) }), ""},
		"one, then all":   {at(60, func(i int) time.Duration { return time.Duration(min(i, 1)) * time.Hour }), ""},
		"centuries":       {at(60, func(i int) time.Duration { return time.Duration(i) * 4 * 365 * 24 * time.Hour }), ""},
		"hourly ticks":    {at(600, func(i int) time.Duration { return time.Duration(i/10) * time.Hour }), ""},
		"none":            {nil, "0 requests"},
		"29":              {at(29, func(i int) time.Duration { return time.Duration(i) * time.Second }), "at least 30"},
		"all but one fail": {offered(60, func(i int, r *traces.Record, _ *rand.Rand) {
			r.Outcome.Status = []traces.Status{traces.OK, traces.Error}[min(i, 1)]
		}), "prompt lengths"},
		"all fail":  {offered(60, func(_ int, r *traces.Record, _ *rand.Rand) { r.Outcome.Status = traces.Error }), ""},
		"backwards": {at(60, func(i int) time.Duration { return time.Duration(60-i) * time.Second }), "sort the trace"},
	} {
		p, err := Fit(traces.FromSlice(c.recs), Options{By: ByNone})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: err = %v, want %s", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var text bytes.Buffer
		_, werr := p.WriteTo(&text)
		_, rerr := ReadProfile(&text)
		if err := errors.Join(werr, rerr); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a clock of 3 s cannot tell is not compared: the scales begin with two ticks, and
// so do the cells of a curve.
func TestNothingBelowTheClock(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 6))
	recs := offered(6000, nil)
	var now time.Duration
	for i := range recs {
		now += time.Duration(src.ExpFloat64() * 5e8)
		if src.IntN(80) == 0 {
			now += 30 * time.Second
		}
		recs[i].Arrival = (now / (3 * time.Second)) * (3 * time.Second)
	}
	a, _ := fitted(t, recs, Options{By: ByNone, Classes: 1})
	if w := a.Arrivals.Curve.Width; w < 6*time.Second {
		t.Errorf("cells of %v", w)
	}
	print := a.Arrivals.Fingerprint
	if print.Scales[0] != 10*time.Second || len(print.Empty) > 0 {
		t.Errorf("scales %v, and shares of 5 s without a request: %v", print.Scales, print.Empty)
	}
}

// Mooncake's log has ticks of 3 s.
func TestMooncakeScales(t *testing.T) {
	t.Parallel()
	f, err := traces.Open("../testdata/traces/mooncake-conversation.arrow")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := Fit(f, Options{By: ByNone, Classes: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := p.Apps[defaultApp].Arrivals
	t.Log(p.Source.TimeResolution, a.Curve.Width, a.Fingerprint.Scales, a.Fingerprint.IDC)
	if tick := p.Source.TimeResolution; tick != 3*time.Second || a.Fingerprint.Scales[0] < 2*tick || a.Curve.Width < 2*tick {
		t.Errorf("ticks of %v, scales %v, cells of %v", tick, a.Fingerprint.Scales, a.Curve.Width)
	}
}
