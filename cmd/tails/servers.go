package main

import (
	"fmt"

	"wavetank/replay/fidelity"
	"wavetank/replay/sim"
)

// A server is a simulated engine. Prompts are computed whole, for nobody here makes
// block ids.
type server struct {
	name   string
	config sim.Config
}

// servers holds the engine that everything is tried on first, and two that no fit
// and no choice of a model has looked at.
var servers = []server{
	{"default", sim.Config{Cache: sim.NoPrefixCache}},
	{"small batches", sim.Config{Cache: sim.NoPrefixCache, MaxBatchedTokens: 2048, MaxSeqs: 96}},
	{"dear decoding, little memory", sim.Config{Cache: sim.NoPrefixCache, MaxSeqs: 96, Blocks: 12_500, Cost: sim.Cost{
		C0: 12 * ms, C1: 30 * us, C2: 100 * us, C3: 150 * ns, C4: 1 * ns,
	}}},
}

const (
	ns sim.Picoseconds = 1000
	us                 = 1000 * ns
	ms                 = 1000 * us
)

// A load is a share of a server's saturation.
type load struct {
	name  string
	share float64
}

var loads = []load{{"light", .5}, {"moderate", .75}, {"high", .9}}

// A setting is a server at a load, and what the real trace meets there.
type setting struct {
	load   load
	config sim.Config
	speed  float64 // of the traces, so that the real one makes the load
	real   fidelity.Latencies
}

func (s server) settings(real *fidelity.Trace, loads []load) (out []setting, err error) {
	most, err := fidelity.Saturate(real, s.config)
	if err != nil {
		return nil, err
	}
	for _, l := range loads {
		set := setting{load: l, config: s.config, speed: l.share * most.Rate / real.Rate()}
		if set.real, err = set.play(real); err != nil {
			return nil, err
		}
		out = append(out, set)
	}
	return out, nil
}

// mostRefused is the share of its requests that a generator may make too long for an
// engine: the tables tell of them.
const mostRefused = .01

func (s setting) play(t *fidelity.Trace) (fidelity.Latencies, error) {
	l, err := fidelity.Latency(t, s.speed, s.config)
	if err == nil && refused(l) > mostRefused {
		err = fmt.Errorf("the engine cannot answer %d of %d requests", l.Skipped, t.Rows())
	}
	return l, err
}

func refused(l fidelity.Latencies) float64 {
	return float64(l.Skipped) / float64(max(l.Skipped+l.Played, 1))
}
