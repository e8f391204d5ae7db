package main

import (
	"math"

	"wavetank/fit"
	"wavetank/synth"
)

// ours are the ways that this project makes a trace.
var ours = []generator{
	{"wavetank, recorded", "`fit` and `synth`", fitted(fit.Options{}, 0)},
	{"wavetank, compact", "`fit --arrivals compact`", fitted(fit.Options{Arrivals: fit.Compact}, 0)},
	{"wavetank, compact, a single draw", "`synth --select 1`", fitted(fit.Options{Arrivals: fit.Compact}, 1)},
}

// fitted fits a profile once, and draws every seed's trace from it.
func fitted(o fit.Options, tries int) func(trace) (generate, error) {
	return func(real trace) (generate, error) {
		p, err := fit.Fit(real.reader(), o)
		if err != nil {
			return nil, err
		}
		return func(seed uint64) (trace, error) {
			g, err := synth.New([]synth.Part{{Name: "real", Profile: p}}, synth.Options{For: real.span(), Seed: seed, Select: tries})
			if err != nil {
				return nil, err
			}
			return collect(g)
		}, nil
	}
}

// plain needs no profile: the mean lengths at the mean rate.
func plain(real trace) (generate, error) {
	mean := func(xs []float64) synth.Tokens {
		m, _ := moments(xs)
		return synth.Tokens{Grid: []int32{int32(math.Round(m))}}
	}
	w := synth.Plain{Prompt: mean(real.prompts()), Output: mean(real.outputs()), Rate: real.rate(), For: real.span()}
	return func(seed uint64) (trace, error) {
		w := w
		w.Seed = seed
		r, err := w.Reader()
		if err != nil {
			return nil, err
		}
		return collect(r)
	}, nil
}
