package synth

import (
	"math"
	"testing"

	"wavetank/traces"
)

// One request of two apps: a gap, two lengths and a copula.
func BenchmarkRead(b *testing.B) {
	g, err := New([]Part{{Profile: profile()}}, Options{Count: math.MaxInt64})
	if err != nil {
		b.Fatal(err)
	}
	var rec traces.Record
	for b.Loop() {
		if err := g.Read(&rec); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
