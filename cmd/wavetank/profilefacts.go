package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"wavetank/fit"
)

// A profileFacts is what a profile says, for somebody who is about to use it.
type profileFacts struct {
	Requests   int64         `json:"requests"`
	Window     time.Duration `json:"window_ns"`
	Resolution time.Duration `json:"time_resolution_ns"`
	By         fit.By        `json:"by"`
	MeanRate   float64       `json:"mean_rate"`
	Apps       []appFacts    `json:"apps"` // most requests first
}

type appFacts struct {
	Name     string       `json:"name"`
	Share    float64      `json:"share"`
	Requests int64        `json:"requests"`
	Prompt   *lengthFacts `json:"prompt"` // of all classes; null: not known
	Output   *lengthFacts `json:"output"`
	Rate     rateFacts    `json:"rate"`
	Arrivals string       `json:"arrivals"` // kind of model
	IDC      []idcFact    `json:"idc"`
	Joint    *fit.Joint   `json:"joint"`
	Classes  []classFacts `json:"classes"`
	Clients  int64        `json:"clients"` // 0: not known
	Turns    float64      `json:"turns"`   // mean, of a session; 0: not known
}

type classFacts struct {
	Share  float64      `json:"share"`
	Prompt *lengthFacts `json:"prompt"`
	Output *lengthFacts `json:"output"`
	Parts  []string     `json:"parts"` // what it is made of
}

type idcFact struct {
	Scale time.Duration `json:"scale_ns"`
	IDC   float64       `json:"idc"`
}

type lengthFacts struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}

// A rateFacts is in requests a second. Least and most are of the cells of a recorded
// curve, or of the regimes of a model that has some.
type rateFacts struct {
	Min  float64       `json:"min"`
	Mean float64       `json:"mean"`
	Max  float64       `json:"max"`
	Cell time.Duration `json:"cell_ns"` // 0: there are none
}

func factsOfProfile(p *fit.Profile) *profileFacts {
	f := &profileFacts{Requests: p.Source.Requests, Window: p.Source.Window, Resolution: p.Source.TimeResolution, By: p.Source.By}
	for _, name := range slices.Sorted(maps.Keys(p.Apps)) {
		a := factsOfApp(name, p.Apps[name])
		f.MeanRate += a.Rate.Mean
		f.Apps = append(f.Apps, a)
	}
	slices.SortStableFunc(f.Apps, func(a, b appFacts) int { return cmp.Compare(b.Share, a.Share) })
	return f
}

func factsOfApp(name string, a *fit.App) appFacts {
	f := appFacts{
		Name: name, Share: a.Weight, Requests: a.Requests,
		Prompt: factsOf(a.PromptTokens()), Output: factsOf(a.OutputTokens()),
		Rate: rateOf(&a.Arrivals), Arrivals: a.Arrivals.Kind, Joint: a.Joint,
	}
	if p := a.Arrivals.Fingerprint; p != nil {
		for i, scale := range p.Scales {
			f.IDC = append(f.IDC, idcFact{scale, p.IDC[i]})
		}
	}
	for i := range a.Classes {
		c := &a.Classes[i]
		f.Classes = append(f.Classes, classFacts{
			Share: c.Weight, Prompt: factsOfLengths(c.Prompt), Output: factsOfLengths(c.Output),
			Parts: []string{partsOf(c.Prompt), partsOf(c.Output)},
		})
	}
	if a.Clients != nil {
		f.Clients = a.Clients.Count
	}
	if a.Sessions != nil && a.Sessions.Turns != nil {
		f.Turns = a.Sessions.Turns.Mean()
	}
	return f
}

func rateOf(a *fit.Arrivals) rateFacts {
	f := rateFacts{Min: a.Mean, Mean: a.Mean, Max: a.Mean}
	var levels []float64
	switch {
	case a.Curve != nil:
		f.Cell = a.Curve.Width
		levels = make([]float64, len(a.Curve.Classes[0].Relative))
		for _, c := range a.Curve.Classes {
			for i, v := range c.Relative {
				levels[i] += v * c.Share * a.Mean
			}
		}
	case a.Regimes != nil:
		for _, rates := range a.Regimes.Rates {
			var sum float64
			for _, r := range rates {
				sum += r
			}
			levels = append(levels, sum)
		}
	}
	if len(levels) > 0 {
		f.Min, f.Max = slices.Min(levels), slices.Max(levels)
	}
	return f
}

// quantiler is a distribution of lengths.
type quantiler interface{ Quantile(p float64) float64 }

func factsOf(m *fit.Marginal) *lengthFacts {
	if m == nil {
		return nil
	}
	return quantilesOf(m)
}

func factsOfLengths(l *fit.Lengths) *lengthFacts {
	if l == nil {
		return nil
	}
	return quantilesOf(l.Dist())
}

func quantilesOf(d quantiler) *lengthFacts {
	return &lengthFacts{d.Quantile(.5), d.Quantile(.9), d.Quantile(.99)}
}

// partsOf names what a length is drawn from.
func partsOf(l *fit.Lengths) string {
	if l == nil {
		return "unknown"
	}
	text := cmp.Or(l.Family, "fixed")
	if n := len(l.Spikes); n > 0 {
		text += fmt.Sprintf(" + %d spikes", n)
	}
	if l.Max > 0 {
		text += fmt.Sprintf(", at most %d", l.Max)
	}
	return text
}

// WriteText writes the facts for people.
func (f *profileFacts) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "profile  of %d requests in %v, by %s; %.4g/s, times to %v\n", f.Requests, f.Window.Round(time.Millisecond), f.By, f.MeanRate, f.Resolution)
	fmt.Fprintf(b, "\n%-20s%7s%10s%10s%8s%8s%10s%8s%8s\n", "app", "share", "requests", "prompt50", "90", "99", "output50", "90", "99")
	for i := range f.Apps {
		f.Apps[i].write(b)
	}
	return b.Flush()
}

const idcsOfLine = 5

func (a *appFacts) write(w io.Writer) {
	fmt.Fprintf(w, "%-20.20s%6.1f%%%10d%s\n", printable(a.Name), 100*a.Share, a.Requests, lengthsLine(a.Prompt, a.Output))
	for i, c := range a.Classes {
		if len(a.Classes) > 1 {
			fmt.Fprintf(w, "  class %-12d%6.1f%%%10s%s\n", i, 100*c.Share, "", lengthsLine(c.Prompt, c.Output))
		}
	}
	fmt.Fprintf(w, "  rate %.3g/s", a.Rate.Mean)
	if a.Rate.Cell > 0 {
		fmt.Fprintf(w, " (%.3g to %.3g in cells of %v)", a.Rate.Min, a.Rate.Max, a.Rate.Cell)
	} else if a.Rate.Min != a.Rate.Max {
		fmt.Fprintf(w, " (%.3g to %.3g by regime)", a.Rate.Min, a.Rate.Max)
	}
	fmt.Fprintf(w, ", arrivals %s", a.Arrivals)
	for i, f := range a.IDC {
		if i%idcsOfLine == 0 {
			io.WriteString(w, "\n  idc")
		}
		fmt.Fprintf(w, " %v %.3g", f.Scale, f.IDC)
	}
	if a.Joint != nil {
		fmt.Fprintf(w, "\n  classes off by energy %.2g (floor %.2g), ks prompt %.3f output %.3f\n  drift in 5m that they leave, over chance: prompt %.3g, output %.3g",
			a.Joint.Energy, a.Joint.Floor, a.Joint.PromptKS, a.Joint.OutputKS, a.Joint.PromptDrift, a.Joint.OutputDrift)
	}
	if a.Clients > 0 {
		fmt.Fprintf(w, "\n  %d clients", a.Clients)
	}
	if a.Turns > 0 {
		fmt.Fprintf(w, "\n  %.3g turns a session", a.Turns)
	}
	if len(a.Classes) == 1 {
		fmt.Fprintf(w, "\n  prompt %s; output %s", a.Classes[0].Parts[0], a.Classes[0].Parts[1])
	}
	io.WriteString(w, "\n")
}

func lengthsLine(prompt, output *lengthFacts) string { return prompt.line() + "  " + output.line() }

func (l *lengthFacts) line() string {
	if l == nil {
		return fmt.Sprintf("%8s%8s%8s", "n/a", "n/a", "n/a")
	}
	return fmt.Sprintf("%8.0f%8.0f%8.0f", l.P50, l.P90, l.P99)
}
