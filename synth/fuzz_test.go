package synth

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"wavetank/fit"
	"wavetank/traces"
)

// seasonal is a compact profile with a rhythm of the day.
func seasonal() *fit.Profile {
	p := compact()
	p.Source.Window = 48 * time.Hour
	s := &fit.Season{Period: 24 * time.Hour, Level: &fit.Wave{Sigma: .2, Tau: 3600}}
	for h := range 24 {
		s.Relative = append(s.Relative, .5+float64(h%2))
	}
	p.Apps["chat"].Arrivals.Season = s
	return p
}

// rich has everything that an app can have, in two classes.
func rich() *fit.Profile {
	p, a := chatting()
	half := a.Classes[0]
	half.Weight, half.Tenant = .5, "tenant-1"
	half.Reasoning = &fit.Share{Requests: 1, Zero: .3, Knots: []float64{.2, 0, .9, 1}}
	half.Output = &fit.Lengths{Family: "weibull", Params: []float64{.9, 300}, Tail: &fit.Tail{From: 900, Share: .05, Xi: .2, Width: 200},
		Censored: &fit.Censored{Share: .1, At: []fit.Limit{{Value: 4096, Share: .6}}}}
	a.Classes = []fit.Class{half, half}
	a.Arrivals = fit.Arrivals{Kind: fit.KindRegimes, Mean: 2, Span: time.Hour,
		Regimes: &fit.Regimes{Sojourn: []time.Duration{20 * time.Minute, 40 * time.Minute}, Rates: [][]float64{{1, 0}, {1, 1.5}},
			Residual: fit.Wave{Sigma: .3, Tau: 30}, Common: .3, Shape: .8},
		Fingerprint: compact().Apps["chat"].Arrivals.Fingerprint}
	a.Clients = &fit.Clients{Field: "user", Count: 12, Weights: []float64{.5, .2}, Tail: .3, Burst: []float64{.5, 0, .2},
		Memory: []time.Duration{10 * time.Minute, 0, 10 * time.Minute}}
	a.Failures = &fit.Rate{Width: time.Hour, Mean: .01, Relative: []float64{1}}
	a.Outcomes = map[traces.Status]float64{traces.OK: .9, traces.Error: .1}
	return p
}

// gammaOU is compact with a rate of gamma distribution.
func gammaOU() *fit.Profile {
	p := compact()
	a := &p.Apps["chat"].Arrivals
	a.Kind, a.OnOff = fit.KindGammaOU, nil
	a.GammaOU = &fit.GammaOU{Rate: .5, Tau: []float64{2, 20, 90}, Weight: []float64{.3, .5, .2}, Shape: 1}
	return p
}

// mangled are texts in which one number of a valid profile is one that nobody meant.
func mangled(text, line, with string) string {
	i := strings.Index(text, line)
	if i < 0 {
		return text
	}
	end := i + strings.IndexByte(text[i:], '\n')
	return text[:i] + line + " " + with + text[end:]
}

// Whatever profile is read can be played, in time and in memory that a stranger does not
// decide, and comes in order.
func FuzzNew(f *testing.F) {
	for i, p := range []*fit.Profile{profile(), compact(), seasonal(), rich(), gammaOU()} {
		var text bytes.Buffer
		if _, err := p.WriteTo(&text); err != nil {
			f.Fatal(err)
		}
		if _, err := fit.ReadProfile(bytes.NewReader(text.Bytes())); err != nil {
			f.Fatalf("seed %d: %v", i, err)
		}
		f.Add(text.Bytes(), 0., 0., 0.)
		f.Add(text.Bytes(), 0., 2.5, 3.)
		f.Add(text.Bytes(), 1e-3, 0., 1e-3)
		for _, bad := range [][2]string{
			{"mean:", "1e-12"}, {"mean:", "1e12"}, {"rate:", "1e300"}, {"mu:", "30"}, {"sigma:", "5"}, {"tau:", "1e-06"}, {"shape:", "0.02"},
			{"span:", "2000000h0m0s"}, {"span:", "1ns"}, {"window:", "2000000h0m0s"}, {"window:", "1ns"}, {"bursts:", "40000"},
			{"hazard:", "[1e-300, 1e-300]"}, {"from:", "[1, 4000000000000000000]"}, {"select:", "32"}, {"count:", "9000000000000000000"},
			{"memory:", "[1ns, 0s, 1ns]"}, {"sojourn:", "[0s, 1h0m0s]"}, {"params:", "[0.02]"},
		} {
			f.Add([]byte(mangled(text.String(), bad[0], bad[1])), 0., 0., 0.)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, rate, users, faster float64) {
		p, err := fit.ReadProfile(bytes.NewReader(text))
		if err != nil {
			return
		}
		started := time.Now()
		g, err := New([]Part{{Profile: p}}, Options{Rate: min(rate, 6), Users: min(users, 3), Faster: faster, Count: 50, For: 1000 * time.Hour})
		if err != nil {
			return
		}
		var last time.Duration
		for r, err := range traces.All(g) {
			if err != nil || r.Arrival < last || r.PromptTokens.V < 0 || r.OutputTokens.V < 0 || r.Turn.V < 0 {
				t.Fatalf("%v: %+v after %v", err, r, last)
			}
			last = r.Arrival
		}
		if took := time.Since(started); took > time.Minute {
			t.Fatalf("50 requests took %v", took)
		}
	})
}
