package fidelity

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/fit"
	"wavetank/traces"
)

// quick leaves the engine out and draws few times.
var quick = Options{NoSim: true, Resamples: 12}

// requests come by a Poisson process of 4 a second for about n/4 seconds. Their
// lengths are lognormal with a rank correlation of about .6, of two apps.
func requests(n int, seed uint64) []traces.Record {
	rng := rand.New(rand.NewPCG(seed, 1))
	recs := make([]traces.Record, n)
	at := 0.
	for i := range recs {
		at += rng.ExpFloat64() / 4
		x, y := rng.NormFloat64(), rng.NormFloat64()
		r := &recs[i]
		r.Seq, r.Arrival = uint64(i), time.Duration(at*1e9)
		r.App = traces.Some([]string{"chat", "chat", "rag"}[rng.IntN(3)])
		r.PromptTokens = traces.Some(int32(1 + math.Exp(6+x)))
		r.OutputTokens = traces.Some(int32(1 + math.Exp(4+.7*x+.7*y)))
	}
	return recs
}

func loaded(t *testing.T, recs []traces.Record) *Trace {
	t.Helper()
	tr, err := Load(traces.FromSlice(recs), fit.ByApp)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func compared(t *testing.T, a, b []traces.Record, o Options) *Report {
	t.Helper()
	r, err := Compare(Side{Name: "a", Trace: loaded(t, a)}, Side{Name: "b", Trace: loaded(t, b)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) group(name string) *Group {
	for i := range r.Groups {
		if r.Groups[i].Name == name {
			return &r.Groups[i]
		}
	}
	return &Group{}
}

func (g *Group) beyond(v Verdict) (names []string) {
	for _, f := range g.Figures {
		if f.Verdict >= v {
			names = append(names, f.App+" "+f.Name+" "+f.At)
		}
	}
	return names
}

// A load is no distance from itself, in any figure, and the grade is of the worst.
func TestSelf(t *testing.T) {
	recs := requests(800, 1)
	r := compared(t, recs, recs, Options{Resamples: 10, Seeds: 5})
	if r.Grade != WithinNoise || len(r.Groups) != 5 {
		t.Errorf("grade %v of %d groups", r.Grade, len(r.Groups))
	}
	for _, g := range r.Groups {
		for _, f := range g.Figures {
			if want := map[Kind]float64{Ratio: 1}[f.Kind]; f.Diff != want {
				t.Errorf("%s %s %s is %g and should be %g", g.Name, f.Name, f.At, f.Diff, want)
			}
		}
	}
}

// Half the rate is another load of the same requests.
func TestHalfRate(t *testing.T) {
	recs := requests(1800, 2)
	half := slices.Clone(recs)
	for i := range half {
		half[i].Arrival *= 2
	}
	r := compared(t, recs, half, quick)
	if v := r.group(Arrivals).Verdict; v != Large || r.Grade != Large {
		t.Errorf("arrivals are %v, the grade is %v", v, r.Grade)
	}
	for _, name := range []string{Marginals, Joint} {
		if g := r.group(name); g.Verdict != WithinNoise {
			t.Errorf("%s are %v: %q", name, g.Verdict, g.beyond(Small))
		}
	}
}

// Outputs that were dealt out anew are as long as they were, and go with others.
func TestShuffledOutputs(t *testing.T) {
	recs := requests(1800, 3)
	dealt := slices.Clone(recs)
	for i, j := range rand.New(rand.NewPCG(3, 3)).Perm(len(recs)) {
		dealt[i].OutputTokens = recs[j].OutputTokens
	}
	r := compared(t, recs, dealt, quick)
	if g := r.group(Joint); len(g.beyond(Large)) < 3 {
		t.Errorf("large are %q", g.beyond(Large))
	}
	for _, f := range r.group(Marginals).Figures {
		if f.App == "" && f.Kind == Distance && f.Diff != 0 {
			t.Errorf("%s %s is %g", f.Name, f.At, f.Diff)
		}
	}
}

// Whole requests that come in another order differ in the order alone, where their
// kind drifts.
func TestShuffledOrder(t *testing.T) {
	recs := requests(1800, 4)
	for i := 900; i < len(recs); i++ {
		recs[i].PromptTokens.V *= 4
	}
	dealt := slices.Clone(recs)
	for i, j := range rand.New(rand.NewPCG(4, 4)).Perm(len(recs)) {
		at, seq := dealt[i].Arrival, dealt[i].Seq
		dealt[i] = recs[j]
		dealt[i].Arrival, dealt[i].Seq = at, seq
	}
	r := compared(t, recs, dealt, quick)
	if g := r.group(Order); g.Verdict != Large {
		t.Errorf("order is %v", g.Verdict)
	}
	for _, f := range r.group(Joint).Figures {
		if f.App == "" && math.Abs(f.Diff) > 1e-9 {
			t.Errorf("%s is %g", f.Name, f.Diff)
		}
	}
}

// Another draw of the same process is about as far as A is from itself.
func TestAnotherSeed(t *testing.T) {
	all, beyond := 0, 0
	for seed := range uint64(3) {
		r := compared(t, requests(1500, 10+seed), requests(1500, 20+seed), quick)
		for _, g := range r.Groups {
			all, beyond = all+len(g.Figures), beyond+len(g.beyond(Small))
			if far := g.beyond(Large); len(far) > 2 {
				t.Errorf("seed %d: large are %q", seed, far)
			}
		}
	}
	if beyond > all/20 {
		t.Errorf("%d of %d figures are beyond noise", beyond, all)
	}
}

// A profile of the traffic makes the same load, and one of outputs that were dealt
// out anew does not, which an engine feels.
func TestProfile(t *testing.T) {
	recs := requests(1500, 5)
	against := func(fitted []traces.Record, o Options) *Report {
		p, err := fit.Fit(traces.FromSlice(fitted), fit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Compare(Side{Name: "a", Trace: loaded(t, recs)}, Side{Name: "p", Profile: p}, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := against(recs, Options{Resamples: 12, Seeds: 6})
	for _, g := range r.Groups[:4] {
		if far := g.beyond(Large); len(far) > 2 {
			t.Errorf("%s: large are %q", g.Name, far)
		}
	}
	if far := r.group(EndToEnd).beyond(Large); len(far) > 6 {
		t.Errorf("end to end large are %q", far)
	}
	if r.B.Seeds != 6 || r.B.Kind != "profile" || r.A.Seeds != 0 {
		t.Errorf("B is %+v, A is %+v", r.B, r.A)
	}
	dealt := slices.Clone(recs)
	for i, j := range rand.New(rand.NewPCG(5, 5)).Perm(len(recs)) {
		dealt[i].OutputTokens = recs[j].OutputTokens
	}
	if g := against(dealt, quick).group(Joint); len(g.beyond(Large)) < 3 {
		t.Errorf("joint without dependence: large are %q", g.beyond(Large))
	}
}

// Two profiles are compared by what they make.
func TestTwoProfiles(t *testing.T) {
	p, err := fit.Fit(traces.FromSlice(requests(3000, 6)), fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := quick
	o.Seeds = 5
	r, err := Compare(Side{Name: "p", Profile: p}, Side{Name: "q", Profile: p}, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.A.Seeds != 1 || r.Grade == Large {
		t.Errorf("A is %+v, the grade %v", r.A, r.Grade)
	}
}

// Equal inputs give equal bytes, on however many CPUs.
func TestDeterminism(t *testing.T) {
	a, b := requests(800, 7), requests(900, 8)
	o := Options{Resamples: 8, Seeds: 4, Seed: 3}
	var texts [2][]byte
	for i := range texts {
		text, err := json.Marshal(compared(t, a, b, o))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = text
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("two comparisons differ:\n%s\n%s", texts[0], texts[1])
	}
}

// Whatever is no load is an error or has fewer figures, and never a NaN.
func TestOddTraces(t *testing.T) {
	constant := requests(60, 9)
	for i := range constant {
		constant[i].PromptTokens, constant[i].OutputTokens = traces.Some[int32](7), traces.Some[int32](1)
	}
	bare := requests(60, 9)
	for i := range bare {
		bare[i].OutputTokens = traces.Opt[int32]{}
	}
	once := requests(60, 9)
	for i := range once {
		once[i].Arrival = 0
	}
	for _, test := range []struct {
		name, err string
		recs      []traces.Record
	}{
		{"constant", "", constant},
		{"no outputs", "", bare},
		{"few", "", requests(30, 9)},
		{"too few", "29 requests; at least 30 are needed", requests(29, 9)},
		{"one instant", "at one instant", once},
		{"none", "0 requests", nil},
	} {
		whole := requests(300, 10)
		for _, sides := range [][2][]traces.Record{{test.recs, whole}, {whole, test.recs}, {test.recs, test.recs}} {
			r, err := Compare(Side{Trace: loaded(t, sides[0])}, Side{Trace: loaded(t, sides[1])}, Options{Resamples: 5, Seeds: 3})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%s: %v", test.name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			if err := r.WriteText(new(bytes.Buffer)); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
}

// An app that a side lacks is told, whichever, and its share is far.
func TestMissingApp(t *testing.T) {
	recs := requests(900, 11)
	chat := slices.DeleteFunc(slices.Clone(recs), func(r traces.Record) bool { return r.App.V == "rag" })
	r := compared(t, recs, chat, quick)
	if !slices.Contains(r.Notes, "in A alone: app rag") || !slices.Contains(r.group(Marginals).beyond(Large), "rag share ") {
		t.Errorf("notes %q, large %q", r.Notes, r.group(Marginals).beyond(Large))
	}
	r = compared(t, chat, recs, quick)
	if !slices.Contains(r.Notes, "in B alone: app rag") || !slices.Contains(r.group(Marginals).beyond(Large), "chat share ") {
		t.Errorf("notes %q, large %q", r.Notes, r.group(Marginals).beyond(Large))
	}
}

// Sessions are compared where both sides have them.
func TestSessions(t *testing.T) {
	grouped := func(turns int) []traces.Record {
		recs := requests(1200, 12)
		for i := range recs {
			recs[i].Session = traces.Some(string(rune('a' + i/turns)))
		}
		return recs
	}
	if r := compared(t, grouped(3), grouped(6), quick); r.group(Sessions).Verdict != Large {
		t.Errorf("sessions of 3 and of 6 turns are %v", r.group(Sessions).Verdict)
	}
	r := compared(t, grouped(3), requests(1200, 12), quick)
	if len(r.group(Sessions).Figures) != 0 || !slices.Contains(r.Notes, "sessions not compared: only A has them") {
		t.Errorf("figures %v, notes %q", r.group(Sessions).Figures, r.Notes)
	}
}

// A moment is not held against a week, cut by cut of the moment: that has no end.
func TestSpansFarApart(t *testing.T) {
	long, brief := requests(60, 13), requests(60, 13)
	for i := range brief {
		long[i].Arrival, brief[i].Arrival = time.Duration(i)*time.Hour, time.Duration(i)*time.Millisecond
	}
	for _, sides := range [][2][]traces.Record{{long, brief}, {brief, long}} {
		_, err := Compare(Side{Name: "a", Trace: loaded(t, sides[0])}, Side{Name: "b", Trace: loaded(t, sides[1])}, quick)
		if err == nil || !strings.Contains(err.Error(), "more than 1000 times as long") {
			t.Error(err)
		}
	}
}
