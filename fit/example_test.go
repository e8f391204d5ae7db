package fit_test

import (
	"fmt"
	"time"

	"wavetank/fit"
	"wavetank/traces"
)

// Two hundred requests, one a second, whose answers are all of 100 tokens.
func ExampleFit() {
	var recs []traces.Record
	for i := range 200 {
		r := traces.Request{Seq: uint64(i), Arrival: time.Duration(i) * time.Second, App: traces.Some("batch")}
		r.OutputTokens = traces.Some(int32(100))
		recs = append(recs, traces.Record{Request: r})
	}
	p, err := fit.Fit(traces.FromSlice(recs), fit.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := p.Apps["batch"]
	fmt.Printf("%.2f requests a second, %d cells of %v\n", batch.Rate.Mean, len(batch.Rate.Relative), batch.Rate.Width)
	fmt.Println("median answer:", batch.Output.Dist().Quantile(.5))
	for _, s := range batch.Output.Spikes {
		fmt.Printf("a share of %g has %d tokens: %s\n", s.Mass, s.Value, s.Cause)
	}
	// Output:
	// 1.01 requests a second, 4 cells of 1m0s
	// median answer: 100
	// a share of 1 has 100 tokens: cap
}
