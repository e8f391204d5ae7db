package synth_test

import (
	"fmt"
	"strings"
	"time"

	"wavetank/fit"
	"wavetank/synth"
	"wavetank/traces"
)

const chat = `
profile: 1
source: {requests: 1000, window: 10m, by: none}
apps:
  default:
    weight: 1
    arrivals:
      kind: curve
      mean: 2
      curve: {width: 10m, classes: [{share: 1, relative: [1], gaps: {family: exponential}}]}
    classes:
      - weight: 1
        prompt: {family: lognormal, params: [6, 1], max: 8192}
        output: {family: lognormal, params: [5, 0.8]}
`

// Three requests of a profile written by hand, at ten times its rate.
func ExampleNew() {
	p, err := fit.ReadProfile(strings.NewReader(chat))
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := synth.New([]synth.Part{{Name: "chat", Profile: p}}, synth.Options{Count: 3, Rate: 20, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for rec, err := range traces.All(g) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rec.Arrival.Round(time.Millisecond), rec.PromptTokens.V, rec.OutputTokens.V)
	}
	// Output:
	// 4ms 70 399
	// 18ms 662 86
	// 63ms 501 416
}
