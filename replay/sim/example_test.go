package sim_test

import (
	"fmt"
	"net/http/httptest"
	"time"

	"wavetank/replay/sim"
	"wavetank/traces"
)

// Two requests of one conversation, a minute apart: the second finds the first
// 2 blocks of 512 tokens in the cache.
func ExampleRun() {
	recs := make([]traces.Record, 2)
	for i := range recs {
		recs[i].Arrival = time.Duration(i) * time.Minute
		recs[i].PromptTokens, recs[i].OutputTokens = traces.Some[int32](1500), traces.Some[int32](100)
		recs[i].Blocks = []traces.BlockRun{{Start: 0, Len: 2}, {Start: 10 + uint64(i), Len: 1}}
	}
	c, err := sim.Preset("llama-3.1-8b", "h100-sxm")
	if err != nil {
		panic(err)
	}
	show := traces.WriterFunc(func(rec *traces.Record) error {
		o := rec.Outcome
		fmt.Println(o.Status, "first token after", o.FirstToken.V, "last after", o.LastToken.V, "cached", o.CachedTokens.V)
		return nil
	})
	res, err := sim.Run(traces.FromSlice(recs), show, c, 512)
	fmt.Println(res.Generated, "tokens in", res.Steps, "steps", err)
	// Output:
	// ok first token after 55.208412ms last after 705.969386ms cached 0
	// ok first token after 22.468378ms last after 673.229352ms cached 1024
	// 200 tokens in 200 steps <nil>
}

// A server to try a client against, ten times as fast as the real one, which
// cuts every tenth answer off after 20 tokens.
func ExampleNewServer() {
	s, err := sim.NewServer(sim.Config{Speed: 10, Faults: "cut=20@0.1"})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	server := httptest.NewServer(s)
	defer server.Close()
	fmt.Println(server.URL != "")
	// Output: true
}
