package replay_test

import (
	"context"
	"fmt"
	"time"

	"wavetank/replay"
	"wavetank/traces"
)

// Echo answers at once.
type Echo struct{}

func (Echo) Prepare(context.Context, *traces.Request) replay.Call { return Echo{} }
func (Echo) Send()                                                {}
func (Echo) Wait() traces.Outcome                                 { return traces.Outcome{Status: traces.OK} }

func ExampleRun() {
	var recs []traces.Record
	for i := range 3 {
		recs = append(recs, traces.Record{Request: traces.Request{
			Seq: uint64(i), Arrival: time.Duration(i) * time.Second,
			PromptTokens: traces.Some[int32](100), OutputTokens: traces.Some[int32](10),
		}})
	}
	outcomes := map[traces.Status]int{}
	dst := traces.WriterFunc(func(rec *traces.Record) error {
		outcomes[rec.Outcome.Status]++
		return nil
	})
	res, err := replay.Run(context.Background(), Echo{}, traces.FromSlice(recs), dst, replay.Options{Speed: 100})
	fmt.Println(res.Offered, outcomes, err)
	// Output: 3 map[ok:3] <nil>
}
