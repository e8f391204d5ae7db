package fit

import (
	"io"
	"testing"
	"time"

	"wavetank/traces"
)

// One million requests with mixed lengths, read and fitted.
func BenchmarkFitMillion(b *testing.B) {
	base := records(50_000, 20*time.Millisecond)
	span := base[len(base)-1].Arrival + time.Millisecond
	for b.Loop() {
		var n int
		_, err := Fit(traces.ReaderFunc(func(rec *traces.Record) error {
			if n == 1_000_000 {
				return io.EOF
			}
			*rec = base[n%len(base)]
			rec.Arrival += span * time.Duration(n/len(base))
			n++
			return nil
		}), Options{})
		if err != nil {
			b.Fatal(err)
		}
	}
}
