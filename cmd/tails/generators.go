package main

import "fmt"

// A generator makes traces in the way that somebody makes them, from what a real
// trace tells about itself.
type generator struct {
	name string
	who  string
	fit  func(trace) (generate, error)
}

// String is the generator as the tables call it.
func (g generator) String() string { return fmt.Sprintf("%s (%s)", g.name, g.who) }

// A generate makes one trace. Equal seeds make equal traces.
type generate func(seed uint64) (trace, error)

// peers are re-implementations of published models, each with the parameters that
// its users would take from the real trace.
var peers = []generator{
	{"Poisson, every length the mean", "`vllm bench serve` with random prompts; `synth --prompt-tokens`", plain},
	{"Poisson, clamped normal lengths", "guidellm; inference-perf by default", poissonNormal},
	{"Poisson, lognormal lengths", "inference-perf `lognormal`", poissonLognormal},
	{"gamma gaps of the CV, lognormal lengths", "aiperf gamma, vidur, BLIS, vLLM `--burstiness`", gammaCV},
	{"gamma gaps by likelihood, lengths i.i.d. from the data", "renewal processes, as dynamo datagen", gammaLikelihood},
	{"gamma 0.5 gaps, Zipf 1.1 lengths", "BurstGPT's example generator", burstGPT},
	{"gamma in 600 s windows, counts pinned, one uniform for both lengths", "ServeGen, the trace as one client", serveGen},
	{"real arrivals, real pairs shuffled", "arrivals replayed, lengths drawn", shuffled},
}

// floor is what is left over where arrivals and kinds are exact.
var floor = generator{"real arrivals and kinds, pairs redrawn within the kind", "the floor", redrawn}
