package fit

import (
	"fmt"
	"math"
	"time"

	"wavetank/traces"
)

// A group is what is remembered of one app: counts, and no request.
type group struct {
	line           timeline
	prompt, output counts
	pairs          map[[2]int32]int64 // bins of prompt and output
	outcomes       map[traces.Status]int64
	models         map[string]int64
}

func newGroup(width time.Duration) *group {
	if width == 0 {
		width = defaultWidth
	}
	return &group{
		line:   timeline{width: width},
		prompt: make(counts), output: make(counts), pairs: make(map[[2]int32]int64),
		outcomes: make(map[traces.Status]int64), models: make(map[string]int64),
	}
}

func (g *group) add(rec *traces.Record, t time.Duration) error {
	if rec.PromptTokens.V < 0 || rec.OutputTokens.V < 0 {
		return fmt.Errorf("request %d has %d prompt and %d output tokens", rec.Seq, rec.PromptTokens.V, rec.OutputTokens.V)
	}
	g.line.add(t)
	if rec.Model.Known {
		g.models[rec.Model.V]++
	}
	s := status(rec)
	g.outcomes[s]++
	if s != traces.OK && s != traces.Unknown {
		return nil
	}
	if rec.PromptTokens.V > 0 {
		g.prompt.add(rec.PromptTokens.V)
	}
	if rec.OutputTokens.V > 0 {
		g.output.add(rec.OutputTokens.V)
	}
	if rec.PromptTokens.V > 0 && rec.OutputTokens.V > 0 {
		p, _ := tokenBin(rec.PromptTokens.V)
		o, _ := tokenBin(rec.OutputTokens.V)
		g.pairs[[2]int32{p, o}]++
	}
	return nil
}

// status is how a request ended. An answer that is known to have no token is empty,
// whatever the log calls it: BurstGPT's failures are rows of 0 tokens.
func status(rec *traces.Record) traces.Status {
	s := rec.Outcome.Status
	switch {
	case s != "" && s != traces.Unknown && s != traces.OK:
		return s
	case rec.OutputTokens.Known && rec.OutputTokens.V == 0:
		return traces.Empty
	case s == "":
		return traces.Unknown
	}
	return s
}

// app fits the group's models over the window.
func (g *group) app(name string, window time.Duration, asked bool) (*App, error) {
	g.line.fill(window, asked)
	arrivals, err := fitArrivals(g.line.operational(window))
	if err != nil {
		return nil, fmt.Errorf("arrivals of app %q: %w", name, err)
	}
	prompt, err := g.lengths(name, "prompt", g.prompt)
	if err != nil {
		return nil, err
	}
	output, err := g.lengths(name, "output", g.output)
	if err != nil {
		return nil, err
	}
	n := g.line.n()
	return &App{
		Requests: n, Rate: g.line.curve(window), Arrivals: *arrivals,
		Prompt: prompt, Output: output, Dependence: g.dependence(),
		Outcomes: shares(g.outcomes, n), Models: shares(g.models, n),
	}, nil
}

// lengths is nil where no length is known.
func (g *group) lengths(app, what string, c counts) (*Lengths, error) {
	n := c.n()
	if n == 0 {
		return nil, nil
	}
	if n < minRequests {
		return nil, &TooFewError{app, what + " lengths", n}
	}
	l, err := fitLengths(c)
	if err != nil {
		return nil, fmt.Errorf("%s lengths of app %q: %w", what, app, err)
	}
	return l, nil
}

// dependence is nil where there is none to measure.
func (g *group) dependence() *Dependence {
	var pairs []Pair
	var n int64
	for k, c := range g.pairs {
		pairs = append(pairs, Pair{float64(k[0]), float64(k[1]), float64(c)})
		n += c
	}
	s := Spearman(pairs)
	if math.IsNaN(s) {
		return nil
	}
	return &Dependence{Requests: n, Spearman: round(s), Copula: round(GaussianCopula(s))}
}

func shares[K comparable](counts map[K]int64, n int64) map[K]float64 {
	if len(counts) == 0 {
		return nil
	}
	out := make(map[K]float64)
	for k, c := range counts {
		out[k] = round(float64(c) / float64(n))
	}
	return out
}
