package fit

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// sample is a profile by hand, which users may write too.
const sample = `profile: 1
source:
  requests: 1000
  window: 2m0s
  time_resolution: 1ms
  by: app
apps:
  chat:
    requests: 1000
    weight: 1
    arrivals:
      kind: curve
      mean: 8.3
      curve:
        width: 1m0s
        classes:
          - share: 1
            relative: [0.5, 1.5]
            gaps:
              family: gamma
              params: [0.9]
              cv: 1.05
    classes:
      - weight: 1
        models:
          large: 0.7
        prompt:
          family: lognormal
          params: [6, 0.9]
          max: 8192
          spikes:
            - value: 8192
              mass: 0.02
              cause: cap
        output:
          family: lognormal_mix
          params: [0.6, 4, 0.5, 0.4, 6, 0.4]
        dependence:
          requests: 1000
          fields: [prompt, output]
          spearman: [0.3]
          copula: [0.31]
    outcomes:
      error: 0.1
      ok: 0.9
`

func TestReadProfile(t *testing.T) {
	p, err := ReadProfile(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if p.Source.Window != 2*time.Minute || p.Apps["chat"].Classes[0].Prompt.Max != 8192 {
		t.Errorf("got %+v", p)
	}
	var buf bytes.Buffer
	if _, err := p.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	if buf.String() != sample {
		t.Errorf("written otherwise than read:\n%s", buf.String())
	}
}

// A profile with an error is refused with the place of it.
func TestReadProfileRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"profile: 1", "profile: 2", "schema 2"},
		{"  by: app", "  by: app\n  bye: now", "line 7: field bye not found"},
		{"  by: app", "  by: user", "source.by"},
		{"window: 2m0s", "window: -2m0s", "source.window"},
		{"window: 2m0s", "window: soon", "line 4"},
		{"    weight: 1\n    arr", "    weight: 0.7\n    arr", "add up to 0.7"},
		{"    weight: 1\n    arr", "    weight: .nan\n    arr", "apps.chat.weight: NaN"},
		{"mean: 8.3", "mean: 0", "apps.chat.arrivals.mean"},
		{"mean: 8.3", "mean: .inf", "apps.chat.arrivals.mean"},
		{"[0.5, 1.5]", "[0.5, 1.4]", "apps.chat.arrivals.curve.classes[0].relative: mean"},
		{"[0.5, 1.5]", "[-0.5, 2.5]", "apps.chat.arrivals.curve.classes[0].relative[0]"},
		{"[0.5, 1.5]", "[1]", "apps.chat.arrivals.curve.classes[0].relative: a window"},
		{"width: 1m0s", "width: 1ns", "apps.chat.arrivals.curve.classes[0].relative: a window"},
		{"family: gamma", "family: beta", `apps.chat.arrivals.curve.classes[0].gaps.family: "beta"`},
		{"params: [0.9]", "params: [0.9, 1]", "apps.chat.arrivals.curve.classes[0].gaps.params: gamma takes"},
		{"params: [6, 0.9]", "params: [6, -0.9]", "apps.chat.classes[0].prompt.params[1]: sigma"},
		{"params: [6, 0.9]", "params: [.nan, 0.9]", "apps.chat.classes[0].prompt.params[0]"},
		{"params: [6, 0.9]", "params: [40, 0.9]", "apps.chat.classes[0].prompt.params: almost nothing"},
		{"[0.6, 4, 0.5, 0.4, 6, 0.4]", "[0.6, 4, 0.5, 0.3, 6, 0.4]", "apps.chat.classes[0].output.params[0]: the weights"},
		{"mass: 0.02", "mass: -0.02", "apps.chat.classes[0].prompt.spikes[0]"},
		{"mass: 0.02", "mass: 1.02", "apps.chat.classes[0].prompt.spikes: the masses"},
		{"- value: 8192", "- value: 0", "apps.chat.classes[0].prompt.spikes[0].value"},
		{"- value: 8192", "- value: 9000", "above max"},
		{"cause: cap", "cause: bug", "apps.chat.classes[0].prompt.spikes[0]"},
		{"copula: [0.31]", "copula: [1.31]", "apps.chat.classes[0].dependence.copula"},
		{"error: 0.1", "error: 0.2", "apps.chat.outcomes"},
		{"error: 0.1", "oops: 0.1", "apps.chat.outcomes.oops"},
		{"large: 0.7", "large: 1.7", "apps.chat.classes[0].models"},
		{"large: 0.7", "large: -0.7", "apps.chat.classes[0].models.large"},
		{"  chat:\n", "  chat:\n    weight: 1\n", "already defined"},
		{"outcomes:\n      error: 0.1\n      ok: 0.9\n", "outcomes: {}\n---\nprofile: 1\n", "more than one YAML document"},
		{sample, "profile: 1\nsource: {window: 1s, by: app}\n", "apps: there is none"},
		{sample, "profile: 1\nsource: {window: 1s, by: app}\napps: {chat: }\n", "apps.chat: is empty"},
		{sample, "", "EOF"},
		{sample, "# " + strings.Repeat("x", maxProfile), "larger than"},
	} {
		if !strings.Contains(sample, c.old) {
			t.Fatalf("no %q to replace", c.old)
		}
		_, err := ReadProfile(strings.NewReader(strings.Replace(sample, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q for %.40q: got %v, want %s", c.new, c.old, err, c.want)
		}
	}
}

// everything are the parts that an app may have beyond sample's.
var everything = []func(*App){
	func(a *App) {
		a.Sessions = &Sessions{Share: .5, Turns: &Turns{From: []int{1, 2}, Hazard: []float64{.4, .1}}, Pauses: &Pauses{Mean: 20, Family: "gamma", Params: []float64{3}}}
	},
	func(a *App) {
		a.Clients = &Clients{Field: "user", Count: 12, Weights: []float64{.5, .2}, Tail: .3, Burst: []float64{.5, 0, .2}, Memory: []time.Duration{time.Minute, 0, time.Minute}}
	},
	func(a *App) {
		a.Failures = &Rate{Width: time.Minute, Mean: 1, Relative: []float64{.5, 1.5}}
		c := &a.Classes[0]
		c.Reasoning, c.Cached = &Share{Zero: .3, Knots: []float64{.2, 0, .9, 1}}, &Share{Zero: 1}
		c.Output.Censored = &Censored{Share: .1, At: []Limit{{4096, .5}}}
		c.Prompt.Max, c.Prompt.Spikes, c.Prompt.Tail = 0, nil, &Tail{From: 3000, Share: .05, Xi: .2, Width: 2000}
	},
	twoClasses(KindOnOff), twoClasses(KindRegimes), twoClasses(KindGammaOU),
	func(a *App) {
		twoClasses(KindOnOff)(a)
		a.Arrivals.Season = &Season{Period: 2 * time.Hour, Relative: []float64{.5, 1.5}, Level: &Wave{.2, 3600}}
	},
}

// twoClasses has the class twice, with compact arrivals.
func twoClasses(kind string) func(*App) {
	return func(a *App) {
		a.Classes[0].Weight = .5
		a.Classes = append(a.Classes, a.Classes[0])
		a.Classes[1].Tenant = "tenant-1"
		print := testPrint()
		print.Work, print.Prompt = [][2]float64{{1, 0}, {1, 0}}, []Backlog{{1, 2, 3}}
		a.Arrivals = Arrivals{Kind: kind, Mean: 2.5, Span: time.Hour, Select: 32, Fingerprint: print}
		compactKinds[kind](&a.Arrivals)
	}
}

// Whatever is accepted can be written, and is then accepted again, the same.
func FuzzReadProfile(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("profile: 1\nsource: {window: 1s, by: none}\napps: {default: {weight: 1, classes: [{weight: 1}], arrivals: {kind: curve, mean: 1, curve: {width: 1s, classes: [{share: 1, relative: [1], gaps: {family: exponential}}]}}}}"))
	f.Add([]byte("a: &a [*a]"))
	for _, set := range everything {
		p, err := ReadProfile(strings.NewReader(sample))
		if err != nil {
			f.Fatal(err)
		}
		set(p.Apps["chat"])
		var text bytes.Buffer
		if _, err := p.WriteTo(&text); err != nil {
			f.Fatal(err)
		}
		if _, err := ReadProfile(bytes.NewReader(text.Bytes())); err != nil {
			f.Fatalf("%v of\n%s", err, text.String())
		}
		f.Add(text.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadProfile(bytes.NewReader(data))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if _, err := p.WriteTo(&first); err != nil {
			t.Fatal(err)
		}
		again, err := ReadProfile(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("%v of\n%s", err, first.String())
		}
		if _, err := again.WriteTo(&second); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("%s is read back as %s", first.String(), second.String())
		}
	})
}
