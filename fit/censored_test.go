package fit

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"wavetank/traces"
)

// By hand (Kaplan and Meier, 1958): of 5, one is 2, one is cut at 3, one is 4, one is
// cut at 5, one is 6. S(2) = 4/5, S(4) = 4/5 * 2/3, S(6) = 0.
func TestKaplanMeier(t *testing.T) {
	s := folded{{counts{2: 1, 4: 1, 6: 1}, counts{3: 1, 5: 1}}}.exact().kaplanMeier()
	for i, want := range []float64{1, 5 * .8 / 3, 5 * .8 * 2 / 3} {
		if math.Abs(s.Bins[i].N-want) > 1e-12 {
			t.Errorf("bin %d has %g, want %g", i, s.Bins[i].N, want)
		}
	}
	if len(s.Over) != 0 {
		t.Errorf("left over is %v", s.Over)
	}
	// A limit cuts before the length is counted; what is cut last stays.
	s = folded{{counts{2: 1, 3: 1}, counts{3: 2}}}.exact().kaplanMeier()
	if s.Bins[0].N != 1 || s.Bins[1].N != 3 || len(s.Over) != 0 {
		t.Errorf("got %+v", s)
	}
	s = folded{{counts{2: 1}, counts{3: 3}}}.exact().kaplanMeier()
	if s.Bins[0].N != 1 || len(s.Over) != 1 || s.Over[0].N != 3 || s.N() != 4 {
		t.Errorf("got %+v", s)
	}
}

// cutSample is what n stratified lengths of d leave where every limit cuts its share of them.
func cutSample(n int, d Dist, limits ...Limit) (folds folded) {
	r := rand.New(rand.NewPCG(21, 22))
	folds = newFolded()
	for i := range n {
		v := int32(min(d.Quantile((float64(i)+.5)/float64(n))+.5, 1e9))
		if v < 1 {
			continue // a length is not, where a family has mass under a token
		}
		at := time.Duration(r.Int64N(int64(time.Hour)))
		limit, cut := v, false
		u := r.Float64()
		for _, l := range limits {
			if u -= l.Share; u < 0 {
				limit, cut = l.Value, v >= l.Value
				break
			}
		}
		folds.add(at, min(v, limit), cut)
	}
	return folds
}

// What every family made and a limit cut, its fit finds again.
func TestFitsKnowWhatWasCut(t *testing.T) {
	for _, f := range Families[:len(Families)-1] {
		want := examples[f.Name][0]
		d := f.Dist(want)
		limit := int32(d.Quantile(.9))
		folds := cutSample(20_000, d, Limit{limit, 1})
		s := likely(folds.exact())
		if s.cut() < 1500 {
			t.Fatalf("%s: only %g are cut", f.Name, s.cut())
		}
		got, err := f.Fit(s)
		if err != nil {
			t.Fatal(err)
		}
		for p := .05; p < 1; p += .1 {
			x := d.Quantile(p)
			if c := f.Dist(got).CDF(x); math.Abs(c-p) > .01 {
				t.Errorf("%s%v: the cdf at %g is %g, want %g", f.Name, got, x, c, p)
			}
		}
		s.Over = nil
		if naive, err := f.Fit(s); err == nil {
			if c := f.Dist(naive).Survival(d.Quantile(.95)); math.Abs(c-.05) < .015 {
				t.Errorf("%s: without what was cut the survival is %g too, so that this shows nothing", f.Name, c)
			}
		}
	}
}

// A profile says how answers would go on without their limits, and with them makes
// what was observed.
func TestLimitsCutAndAreLifted(t *testing.T) {
	truth := lognormalDist{6, .9}
	folds := cutSample(40_000, truth, Limit{256, .3}, Limit{1024, .4})
	l, err := fitLengths(folds)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.validate(); err != nil {
		t.Fatal(err)
	}
	if l.Family != "lognormal" || math.Abs(l.Params[0]/6-1) > .03 || math.Abs(l.Params[1]/.9-1) > .03 || len(l.Spikes) > 0 {
		t.Errorf("got %s%v, spikes %v", l.Family, l.Params, l.Spikes)
	}
	at := l.Censored.At
	if len(at) != 2 || at[0].Value != 256 || at[1].Value != 1024 || math.Abs(at[0].Share-.3) > .01 || math.Abs(at[1].Share-.4) > .02 {
		t.Errorf("limits are %v", at)
	}
	seen := folds.uncut()
	if ks := KS(seen.exact(), l.Dist().CDF); ks > .01 {
		t.Errorf("with its limits it is %g from what was seen", ks)
	}
	share := float64(seen[0].whole[256]+seen[1].whole[256]) / float64(seen.n())
	if got, want := l.Dist().CDF(256.5)-l.Dist().CDF(255.5), share; math.Abs(got-want) > .005 {
		t.Errorf("at 256 there are %g, want %g", got, want)
	}
	for p := .05; p < 1; p += .1 {
		if q := l.Uncut().Quantile(p); math.Abs(q/truth.Quantile(p)-1) > .03 {
			t.Errorf("without limits quantile %g is %g, want %g", p, q, truth.Quantile(p))
		}
	}
	for p := .0005; p < 1; p += .001 {
		k := l.Dist().Quantile(p)
		if l.Dist().CDF(k+.5) < p-1e-9 || l.Dist().CDF(k-.5) > p+1e-9 {
			t.Fatalf("Quantile(%g) = %g, where the CDF goes from %g to %g", p, k, l.Dist().CDF(k-.5), l.Dist().CDF(k+.5))
		}
	}
}

// A template beyond a limit keeps the mass that it would have without it.
func TestSpikeBeyondALimit(t *testing.T) {
	folds := cutSample(20_000, lognormalDist{6, .9}, Limit{512, .5})
	for i := range 4000 { // one request of six; half of those are cut
		folds.add(time.Duration(i)*time.Second, []int32{512, 700}[i%2], i%2 == 0)
	}
	l, err := fitLengths(folds)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Spikes) != 1 || l.Spikes[0].Value != 700 || l.Spikes[0].Cause != Template || math.Abs(l.Spikes[0].Mass*6-1) > .05 {
		t.Errorf("spikes are %v, want 700 with .167", l.Spikes)
	}
	if l.Family != "lognormal" || math.Abs(l.Params[0]/6-1) > .03 || math.Abs(l.Params[1]/.9-1) > .03 {
		t.Errorf("got %s%v", l.Family, l.Params)
	}
}

// Where every answer is cut at its own length, as in a replay that forces lengths,
// the limits are the lengths.
func TestAllCut(t *testing.T) {
	folds := newFolded()
	for v, n := range lognormalCounts(5000, 5, 1) {
		for range n {
			folds.add(0, v, true)
		}
	}
	l, err := fitLengths(folds)
	if err != nil {
		t.Fatal(err)
	}
	if l.Censored != nil || l.Family != "lognormal" {
		t.Errorf("got %s, censored %v", l.Family, l.Censored)
	}
}

// As many limits as answers are joined, and still cut what was cut.
func TestManyLimits(t *testing.T) {
	folds, want := newFolded(), 0
	r := rand.New(rand.NewPCG(23, 24))
	for range 20_000 {
		v, limit := int32(lognormalDist{6, .9}.Quantile(r.Float64())+1), 100+r.Int32N(2000)
		if v >= limit {
			want++
		}
		folds.add(0, min(v, limit), v >= limit)
	}
	c := folds.exact().limits()
	if len(c.At) > maxLimits {
		t.Errorf("%d limits", len(c.At))
	}
	if math.Abs(c.Share-float64(want)/20_000) > 1e-6 {
		t.Errorf("a share of %g was cut, want %g", c.Share, float64(want)/20_000)
	}
	if err := c.validate(); err != nil {
		t.Error(err)
	}
}

func TestIsCut(t *testing.T) {
	some := traces.Some[int32]
	for _, c := range []struct {
		finish         string
		output, limits traces.Opt[int32]
		want           bool
	}{
		{"length", some(9), traces.Opt[int32]{}, true},
		{"stop", some(9), some(10), false},
		{"stop", some(10), some(10), true},
		{"", traces.Opt[int32]{}, traces.Opt[int32]{}, false},
	} {
		rec := &traces.Record{Request: traces.Request{OutputTokens: c.output, MaxTokens: c.limits}}
		rec.Outcome.FinishReason = traces.Opt[string]{V: c.finish, Known: c.finish != ""}
		if got := cutAt(rec) > 0; got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestCensoredRefuses(t *testing.T) {
	for name, c := range map[string]Censored{
		"no limits":     {Share: .1},
		"share":         {Share: 1.1, At: []Limit{{5, 1}}},
		"value":         {Share: .1, At: []Limit{{0, 1}}},
		"order":         {Share: .1, At: []Limit{{5, .1}, {5, .1}}},
		"limit's share": {Share: .1, At: []Limit{{5, 0}}},
		"sum":           {Share: .1, At: []Limit{{5, .6}, {6, .6}}},
	} {
		l := &Lengths{Family: "lognormal", Params: []float64{6, 1}, Censored: &c}
		if l.validate() == nil {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
}
