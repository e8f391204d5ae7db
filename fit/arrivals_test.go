package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// quickly cuts the searches short, for their starts are the moments, and good already;
// and has a kind judged by one span, the best of eight.
func quickly(t *testing.T, steps int) {
	search, spans, best := searchSteps, judgedSpans, judgedBest
	searchSteps, judgedSpans, judgedBest = []int{steps}, 1, 8
	t.Cleanup(func() { searchSteps, judgedSpans, judgedBest = search, spans, best })
}

func drawn(a *Arrivals, window, until time.Duration, o DrawOptions) (s span) {
	stream := a.Draw(window, o)
	for at, class := stream.Next(); at < until; at, class = stream.Next() {
		s.times, s.class = append(s.times, at), append(s.class, class)
	}
	return s
}

// dispersion is the mean IDC of each of the windows, at every scale.
func dispersion(s span, window time.Duration, windows int) []float64 {
	out := make([]float64, len(ScalesWithin(window)))
	for w := range windows {
		start := time.Duration(w) * window
		from, _ := slices.BinarySearch(s.times, start)
		to, _ := slices.BinarySearch(s.times, start+window)
		var times []time.Duration
		for _, t := range s.times[from:to] {
			times = append(times, t-start)
		}
		for i, scale := range ScalesWithin(window) {
			out[i] += ArrivalIDC(times, window, scale) / float64(windows)
		}
	}
	return out
}

// Azure's two hours, fitted as bursts and as regimes, have their dispersion at all ten
// scales within 1.3 times, over four synthetic hours in a row, and as many requests.
func TestCompactKindsKeepTheDispersion(t *testing.T) {
	if testing.Short() {
		t.Skip("fits by simulation")
	}
	quickly(t, 10)
	for name, kind := range map[string]string{"azure-code": KindOnOff, "azure-conv": KindRegimes} {
		d := realArrivals(t, name)
		a, err := fitArrivals(d, arrivalOptions{compact: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.validate(d.window, 8); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if a.Kind != kind {
			t.Fatalf("%s is %s, not %s: %s", name, a.Kind, kind, a.Why)
		}
		const hours = 4
		s := drawn(a, d.window, hours*d.window, DrawOptions{Seed: 3, Shares: d.shares(), Select: 12, Order: OrderShuffled})
		if n := float64(len(s.times)) / hours / float64(len(d.times)); math.Abs(n-1) > .03 {
			t.Errorf("%s: %g times as many requests", name, n)
		}
		got := dispersion(s, d.window, hours)
		for i, scale := range ScalesWithin(d.window) {
			if r := got[i] / ArrivalIDC(d.times, d.window, scale); r > 1.3 || r < 1/1.3 {
				t.Errorf("%s: at %v the dispersion is %.2f of the recorded", name, scale, r)
			}
		}
		checkDrawing(t, a, &d)
	}
}

// checkDrawing are laws of every kind that is drawn by spans.
func checkDrawing(t *testing.T, a *Arrivals, d *arrivalData) {
	o := DrawOptions{Seed: 9, Shares: d.shares(), Select: 2}
	one, again := drawn(a, d.window, d.window, o), drawn(a, d.window, d.window, o)
	if !slices.Equal(one.times, again.times) || !slices.Equal(one.class, again.class) {
		t.Error("equal options, other arrivals")
	}
	if !slices.IsSorted(one.times) {
		t.Error("arrivals are not sorted")
	}
	o.Seed++
	if other := drawn(a, d.window, d.window, o); slices.Equal(one.times, other.times) {
		t.Error("another seed, the same arrivals")
	}
	o.Seed--
	o.Factor = 3
	more := drawn(a, d.window, d.window, o)
	if r := float64(len(more.times)) / float64(len(one.times)); math.Abs(r-3) > .1 {
		t.Errorf("three times the users make %g times the requests", r)
	}
	minute := func(s span) []float64 {
		return (&arrivalData{times: s.times, window: d.window}).counts(time.Minute)
	}
	var pairs []Pair
	for i, c := range minute(one) {
		pairs = append(pairs, Pair{c, minute(more)[i], 1})
	}
	if rho := Spearman(pairs); rho < .9 {
		t.Errorf("more users come at other times: the minutes' rank correlation is %g", rho)
	}
	stream := func(n int) float64 {
		s := a.Draw(d.window, DrawOptions{Seed: 1, Shares: d.shares(), Select: n})
		for at, _ := s.Next(); at < 3*d.window; at, _ = s.Next() {
		}
		return s.Distance()
	}
	if raw, best := stream(1), stream(16); best > raw*.8 {
		t.Errorf("the best of 16 spans is %g away, a span as it comes %g", best, raw)
	}
}

// Gamma-OU, the challenger of few numbers, holds 9 of the 10 scales of the bursty trace.
func TestGammaOU(t *testing.T) {
	t.Parallel()
	d := realArrivals(t, "azure-code")
	target := newTarget(&d, nil)
	m := &GammaOU{Rate: .2, Tau: []float64{1.6, 12, 96}, Weight: []float64{.26, .64, .1}, Shape: 1}
	p := newPen(d.window, target.mean, target.shares, target.print)
	for i := range uint64(4) {
		seed, _ := p.pick(m, target.want, 1, i, 16, 1)
		if n := len(p.draw(m, seed, 1).times); math.Abs(float64(n)/float64(len(d.times))-1) > .05 {
			t.Errorf("%d requests: its rate's values are pinned, %d are due", n, len(d.times))
		}
	}
	if got := target.achieved(p, m); got > 2.5 {
		t.Errorf("the distance is %g", got)
	}
	if err := m.check(&p.context); err != nil {
		t.Error(err)
	}
}

// A rhythm of the week, with bursts on it, comes back from two weeks, and is carried on.
func TestSeason(t *testing.T) {
	if testing.Short() {
		t.Skip("fits by simulation")
	}
	quickly(t, 10)
	const day = 24 * time.Hour
	rate := func(at time.Duration) float64 { // per second
		r := .05 * (1 + .8*math.Sin(2*math.Pi*at.Hours()/24))
		if int(at/day)%7 >= 5 {
			r /= 4
		}
		return r
	}
	r := rand.New(rand.NewPCG(71, 72))
	d := arrivalData{work: [][2]float64{{100, 10}, {300, 5}}, window: 14 * day}
	for at := time.Duration(0); at < d.window; at += 10 * time.Second {
		busy := 2 * float64(r.IntN(2)) // Poisson in cells that are busy or not: dispersed twofold or so
		for lambda, sum := rate(at)*10*busy, r.ExpFloat64(); sum < lambda; sum += r.ExpFloat64() {
			d.times, d.class = append(d.times, at+time.Duration(r.Float64()*1e10)), append(d.class, uint8(r.IntN(2)))
		}
	}
	slices.Sort(d.times)
	a, err := fitArrivals(d, arrivalOptions{compact: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.validate(d.window, 2); err != nil {
		t.Fatal(err)
	}
	if a.Season == nil || a.Season.Period != 7*day || len(a.Season.Relative) != 168 {
		t.Fatalf("the season is %+v", a.Season)
	}
	var pairs []Pair
	for h, v := range a.Season.Relative {
		pairs = append(pairs, Pair{v, rate(time.Duration(h)*time.Hour + 30*time.Minute), 1})
	}
	if rho := Spearman(pairs); rho < .97 {
		t.Errorf("rank correlation with the true rates is %g", rho)
	}
	s := drawn(a, d.window, 21*day, DrawOptions{Seed: 1, Shares: []float64{.5, .5}, Select: 1})
	third := hourly(&arrivalData{times: s.times[len(s.times)*2/3:], window: 21 * day}, 7*day)
	var weekend, all float64
	for h, v := range third {
		all += v
		if h >= 5*24 {
			weekend += v
		}
	}
	if got := weekend / all; math.Abs(got-2./4/(5+2./4)) > .03 {
		t.Errorf("the weekend has %g of a week's requests, want .09", got)
	}
	if n := float64(len(s.times)) / float64(len(d.times)); math.Abs(n-1.5) > .1 {
		t.Errorf("three weeks have %g times the requests of two", n)
	}
}

func TestNoSeasonOfOneDay(t *testing.T) {
	d := poisson(.05, 30*time.Hour)
	if s := findSeason(&d); s != nil {
		t.Errorf("of 30 hours: %+v", s)
	}
}

// Odd data make an error or a model that is valid and draws, never a panic.
func TestOddArrivals(t *testing.T) {
	quickly(t, 4)
	make := func(n int, at func(i int) time.Duration) arrivalData {
		d := arrivalData{work: [][2]float64{{0, 0}}}
		for i := range n {
			d.times = append(d.times, at(i))
		}
		d.window = d.times[n-1]
		return d
	}
	for name, d := range map[string]arrivalData{
		"few":       make(5, func(i int) time.Duration { return time.Duration(i) * time.Second }),
		"at once":   make(100, func(int) time.Duration { return 0 }),
		"constant":  make(500, func(i int) time.Duration { return time.Duration(i) * time.Second }),
		"thirty":    make(31, func(i int) time.Duration { return time.Duration(i*i) * time.Millisecond }),
		"two lumps": make(200, func(i int) time.Duration { return time.Duration(i/100) * time.Hour }),
		"short":     make(200, func(i int) time.Duration { return time.Duration(i) * time.Microsecond }),
		"centuries": make(60, func(i int) time.Duration { return time.Duration(i) * 4 * 365 * 24 * time.Hour }),
		"instants":  make(100, func(i int) time.Duration { return time.Duration(i / 50) }),
	} {
		a, err := fitArrivals(d, arrivalOptions{compact: true})
		if err != nil {
			continue
		}
		if err := a.validate(d.window, 1); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := a.Draw(d.window, DrawOptions{Seed: 1, Select: 2})
		for range 1000 {
			if at, _ := s.Next(); at < 0 {
				t.Errorf("%s: an arrival at %v", name, at)
				break
			}
		}
	}
}

// compactKinds are models of two classes.
var compactKinds = map[string]func(*Arrivals){
	KindOnOff: func(a *Arrivals) {
		a.OnOff = &OnOff{Gap: 3, Bursts: 72, Silence: []float64{.3, 1.5, .4, .7, 3.4, .96}, Length: []float64{.1, -1, .5, .9, 2.3, .8},
			Rate: LogNormal{2.2, .6}, Corr: -.5, Jitter: Wave{.6, 2}, Shape: .6}
	},
	KindRegimes: func(a *Arrivals) {
		a.Regimes = &Regimes{Sojourn: []time.Duration{time.Hour / 3, time.Hour * 2 / 3},
			Rates: [][]float64{{1, 2}, {2, 3}}, Residual: Wave{.1, 30}, Common: .3, Shape: 1}
	},
	KindGammaOU: func(a *Arrivals) {
		a.GammaOU = &GammaOU{Rate: .2, Tau: []float64{1, 10, 100}, Weight: []float64{.2, .5, .3}, Shape: 1}
	},
}

// A model is read as it was written, and what a stranger wrote is checked.
func TestArrivalsAsYAML(t *testing.T) {
	for kind, set := range compactKinds {
		a := &Arrivals{Kind: kind, Mean: 2.5, Span: time.Hour, Select: 32, Fingerprint: testPrint()}
		set(a)
		if err := a.validate(time.Hour, 2); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		text, err := yaml.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		back := new(Arrivals)
		if err := yaml.Unmarshal(text, back); err != nil || !reflect.DeepEqual(a, back) {
			t.Errorf("%s was read otherwise: %v\n%s", kind, err, text)
		}
		for _, bad := range strings.Split(spoilt, "\n") {
			key, value, _ := strings.Cut(bad, "=")
			spoil(t, kind, string(text), key, value)
		}
	}
}

// spoilt are keys with values that no model may have.
const spoilt = `mean=0
mean=.inf
mean=1e9
select=-1
select=100000
span=0s
span=-1h
kind=other
kind=curve
shape=0
corr=1
bursts=0
bursts=1000000000
silence=[1, 2]
silence=[1, .nan, 1]
length=[.5, 2, 1]
jitter={sigma: 1, tau: 0}
sojourn=[1s]
sojourn=[1s, 1s]
rates=[[1, 2], [2]]
rates=[[1, 2], [2, -1]]
common=2
weight=[.2, .5]
weight=[1, 1, 1]
tau=[0, 1, 2]
rate=1e-30
idc=[1, 2]
loads=[0]
requests=[[1, 2, 3], [1, 2, 3]]
empty=[.5]`

// spoil replaces the value of a key wherever it stands and expects a complaint, if it does.
func spoil(t *testing.T, kind, text, key, value string) {
	lines := strings.Split(text, "\n")
	var found bool
	for i, line := range lines {
		if k, _, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && k == key {
			lines[i] = line[:strings.Index(line, key)] + key + ": " + value
			found = true
		}
	}
	if !found {
		return
	}
	a := new(Arrivals)
	if err := yaml.Unmarshal([]byte(strings.Join(lines, "\n")), a); err != nil {
		return
	}
	if err := a.validate(time.Hour, 2); err == nil {
		t.Errorf("%s with %s = %s is valid", kind, key, value)
	} else if fmt.Sprint(err) == "" {
		t.Error("an error says nothing")
	}
}

// Whatever valid numbers a stranger wrote, drawing a span ends.
func TestDrawingOfAnythingEnds(t *testing.T) {
	a := &Arrivals{Kind: KindOnOff, Mean: 2.5, Span: time.Hour, Select: 1, Fingerprint: testPrint(), OnOff: &OnOff{
		Gap: 3, Bursts: 1, Silence: []float64{.99, -50, 20, .01, 50, 20}, Length: []float64{1, -50, .02},
		Rate: LogNormal{-30, 5}, Corr: .99, Jitter: Wave{5, 1e-6}, Shape: .02,
	}}
	if err := a.validate(time.Hour, 1); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		a.Draw(a.Span, DrawOptions{Seed: seed}).Next()
	}
	a.OnOff.Rate, a.OnOff.Shape = LogNormal{-30, .1}, 1
	a.OnOff.Jitter.Tau = 60
	if at, _ := a.Draw(a.Span, DrawOptions{}).Next(); at != math.MaxInt64 {
		t.Errorf("a model of no requests has one at %v", at)
	}
}

func testPrint() *Fingerprint {
	return &Fingerprint{
		Rate: 2.5, Scales: []time.Duration{time.Second}, IDC: []float64{4}, Loads: []float64{2},
		Requests: []Backlog{{1, 2, 3}}, Empty: []float64{.5, .1},
	}
}
