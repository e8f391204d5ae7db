package formats_test

import (
	"fmt"
	"strings"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// A gateway's own log becomes a trace by saying which field is what.
func ExampleOpen() {
	log := `{"ts": 1740819600250, "usage": {"in": 1200, "out": 80}, "ttft": 0.3125}
{"ts": 1740819601500, "usage": {"in": 345, "out": "-"}, "ttft": null}
{"ts": 1740819601500, "usage": {"in": -345, "out": 7}, "ttft": 0.5}
`
	src, err := formats.Open(strings.NewReader(log), "gateway.jsonl", formats.Options{
		Map:      []string{"arrival=ts", "prompt_tokens=usage.in", "output_tokens=usage.out", "ttft=ttft:s"},
		OnReject: func(r formats.Reject) { fmt.Println("rejected:", r.Err) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	for rec, err := range traces.All(src) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rec.Arrival, rec.PromptTokens.V, rec.OutputTokens, rec.Outcome.FirstToken)
	}
	meta := src.Meta()
	fmt.Println(meta.T0, meta.Sources[0].TimeUnit, meta.Sources[0].Read, "read", meta.Sources[0].Emitted, "emitted")
	// Output:
	// 0s 1200 {80 true} {312.5ms true}
	// 1.25s 345 {0 false} {0s false}
	// rejected: gateway.jsonl:3: field "usage.in": -345 is negative
	// 2025-03-01 09:00:00.25 +0000 UTC ms 3 read 2 emitted
}
