package traces_test

import (
	"fmt"
	"time"

	"wavetank/traces"
)

// Edits are Readers around Readers, and each tells what it did.
func ExampleWhere() {
	var recs []traces.Record
	for i := range 6 {
		recs = append(recs, traces.Record{Request: traces.Request{
			Arrival:      time.Duration(i) * time.Second,
			App:          traces.Some([]string{"chat", "rag"}[i%2]),
			PromptTokens: traces.Some(int32(500 * i)),
		}})
	}
	long, err := traces.Where(traces.FromSlice(recs), "app=chat,prompt_tokens>=1000")
	if err != nil {
		fmt.Println(err)
		return
	}
	twice, err := traces.Multiply(long, 2, traces.MultiplyOptions{Spread: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := traces.Collect(twice); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(long)
	fmt.Println(twice)
	// Output:
	// where app=chat,prompt_tokens>=1000: 2 rows kept, 4 left out
	// multiply by 2, spread 1s, seed 0: 2 rows read, 4 written
}
