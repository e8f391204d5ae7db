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
	fmt.Printf("%.2f requests a second, %d class\n", batch.Arrivals.Mean, len(batch.Classes))
	fmt.Println("median answer:", batch.OutputTokens().Quantile(.5))
	for _, s := range batch.Classes[0].Output.Spikes {
		fmt.Printf("a share of %g has %d tokens: %s\n", s.Mass, s.Value, s.Cause)
	}
	// Output:
	// 1.01 requests a second, 1 class
	// median answer: 100
	// a share of 1 has 100 tokens: cap
}
