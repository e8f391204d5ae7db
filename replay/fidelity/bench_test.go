package fidelity

import (
	"testing"

	"wavetank/fit"
	"wavetank/replay/sim"
	"wavetank/traces"
)

// conv is a public hour of 19,366 chats.
func conv(b *testing.B) *Trace {
	f, err := traces.Open("../../testdata/traces/azure-conv.arrow")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	t, err := Load(f, fit.ByApp)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// What one draw of an hour costs besides the engine.
func BenchmarkDraw(b *testing.B) {
	c := &comparison{ref: conv(b)}
	c.first = c.ref
	if err := c.plan(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := c.survey.sum(c.ref.redraw(c.ref.span, c.block, newRand(1, "bench", 0)))
		c.apart(c.left, s)
	}
}

// What one load of the engine costs.
func BenchmarkLatency(b *testing.B) {
	t := conv(b)
	for b.Loop() {
		if _, err := Latency(t, 2, sim.Config{}); err != nil {
			b.Fatal(err)
		}
	}
}
