package reuse_test

import (
	"fmt"

	"wavetank/traces"
	"wavetank/traces/reuse"
)

// Two users ask about one text of three blocks, and the first asks on.
func ExampleOf() {
	ask := func(runs ...traces.BlockRun) traces.Record {
		return traces.Record{Request: traces.Request{Blocks: runs}}
	}
	text := traces.BlockRun{Start: 0, Len: 3}
	curve, err := reuse.Of(traces.FromSlice([]traces.Record{
		ask(text, traces.BlockRun{Start: 10, Len: 1}),
		ask(text, traces.BlockRun{Start: 20, Len: 1}),
		ask(text, traces.BlockRun{Start: 10, Len: 4}),
	}), traces.Meta{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, capacity := range []int64{2, 4, curve.Unique} {
		fmt.Printf("%d blocks hit %.2f\n", capacity, curve.Rate(capacity))
	}
	// Output:
	// 2 blocks hit 0.27
	// 4 blocks hit 0.40
	// 8 blocks hit 0.47
}
