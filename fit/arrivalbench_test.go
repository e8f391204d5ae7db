package fit

import (
	"testing"
	"time"
)

// A recorded curve of a million requests.
func BenchmarkFitCurve(b *testing.B) {
	d := poisson(280, time.Hour)
	for b.Loop() {
		if _, err := fitArrivals(d, arrivalOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// All compact kinds, fitted to an hour of 8,819 requests.
func BenchmarkFitCompact(b *testing.B) {
	d := realArrivals(b, "azure-code")
	for b.Loop() {
		if _, err := fitArrivals(d, arrivalOptions{compact: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// The best of 32 spans of an hour of 19,366 requests.
func BenchmarkSelectSpan(b *testing.B) {
	d := realArrivals(b, "azure-conv")
	t := newTarget(&d, nil)
	p := newPen(d.window, t.mean, t.shares, t.print)
	m := startRegimes(t)
	for b.Loop() {
		p.pick(m, t.want, 1, 1, selectSpans, 1)
	}
}
