package formats_test

import (
	"fmt"
	"strings"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// A log that no format knows becomes a trace by a map of one's own.
func ExampleParseMapFile() {
	statements, err := formats.ParseMapFile(strings.NewReader(`
# stamped at the end, and cached tokens are counted apart
arrival = finished - took_ms
end = took_ms
prompt_tokens = usage.uncached + usage.cached?
output_tokens = usage.out
status = code{2*:ok, 429:rejected, *:error}
skip = kind{completion:false, *:true}
`), "gateway.map")
	if err != nil {
		fmt.Println(err)
		return
	}
	log := `{"kind": "completion", "finished": "2025-03-01T09:00:02.5Z", "took_ms": 2500, "code": 200, "usage": {"uncached": 20, "cached": 3000, "out": 80}}
{"kind": "health", "finished": "2025-03-01T09:00:03Z", "took_ms": 1, "code": 200}
{"kind": "completion", "finished": "2025-03-01T09:00:04Z", "took_ms": 0.5, "code": 429}
`
	src, err := formats.Open(strings.NewReader(log), "gateway.jsonl", formats.Options{Map: statements})
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
		fmt.Println(rec.Arrival, rec.PromptTokens, rec.Outcome.Status, rec.Outcome.End.V)
	}
	meta := src.Meta()
	fmt.Println(meta.T0, meta.Sources[0].Stamps, meta.Sources[0].Rejected)
	// Output:
	// 0s {3020 true} ok 2.5s
	// 3.9995s {0 false} rejected 500µs
	// 2025-03-01 09:00:00 +0000 UTC end map[not_a_request:1]
}
