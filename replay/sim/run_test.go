package sim

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/synth/prompt"
	"wavetank/traces"
)

// collect runs recs and returns the rows written, by Seq.
func collect(t *testing.T, c Config, recs []traces.Record, blockTokens int32) ([]traces.Record, Result) {
	t.Helper()
	var rows []traces.Record
	res, err := Run(traces.FromSlice(recs), traces.WriterFunc(func(rec *traces.Record) error {
		rows = append(rows, *rec)
		return nil
	}), c, blockTokens)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b traces.Record) int { return int(a.Seq) - int(b.Seq) })
	return rows, res
}

// randomTrace is a trace of n rows that share blocks of 64 tokens.
func randomTrace(seed uint64, n int) (recs []traces.Record) {
	rng := rand.New(rand.NewPCG(seed, 6))
	at := time.Duration(0)
	for i := range n {
		// An odd start and even lengths of steps keep an arrival and a step's end
		// from falling on one instant, where a real-time driver may see either first.
		at += 2*time.Duration(rng.ExpFloat64()*float64(8*time.Millisecond)) + 2
		rec := request(at+1, 1+rng.IntN(400), 1+rng.IntN(40))
		rec.Seq = uint64(i)
		rec.Blocks = []traces.BlockRun{{Start: uint64(rng.IntN(4)) << 32, Len: 1 + rng.Uint32N(3)}, {Start: uint64(i) << 40, Len: rng.Uint32N(3)}}
		recs = append(recs, rec)
	}
	return recs
}

// Every row comes out once, with every part of its outcome, and the parts agree.
func TestRunAccountsForEveryRow(t *testing.T) {
	recs := randomTrace(1, 300)
	recs[10].PromptTokens = traces.Opt[int32]{}
	recs[20].OutputTokens = traces.Opt[int32]{}
	recs[30].OutputTokens.V = 0
	recs[40].PromptTokens.V = 0
	recs[50].Outcome.GatewayCache = traces.Some(true)
	recs[60].PromptTokens.V = 10_000
	recs[70].Outcome = traces.Outcome{Status: traces.Error, Error: traces.Some("http_429")} // what production saw is not what the sim does
	rows, res := collect(t, testConfig, recs, 64)
	if len(rows) != len(recs) {
		t.Fatalf("%d rows of %d", len(rows), len(recs))
	}
	if len(res.Skipped) != 5 || res.Refused != 1 || res.Finished != 294 {
		t.Errorf("%+v", res)
	}
	for i, row := range rows {
		o := row.Outcome
		switch o.Status {
		case traces.Skipped:
			if res.Skipped[o.Error.V] != 1 || o.Sent.Known {
				t.Errorf("row %d: %+v", i, o)
			}
		case traces.Error:
			if i != 60 || o.HTTPStatus.V != 400 {
				t.Errorf("row %d: %+v", i, o)
			}
		case traces.OK:
			checkOutcome(t, i, recs[i], o)
		default:
			t.Errorf("row %d: status %q", i, o.Status)
		}
	}
}

func checkOutcome(t *testing.T, i int, rec traces.Record, o traces.Outcome) {
	t.Helper()
	ok := o.Due.V == rec.Arrival && o.Sent.V == rec.Arrival &&
		o.FirstToken.V == o.Queue.V+o.Prefill.V && o.LastToken.V == o.FirstToken.V+o.Decode.V && o.End == o.LastToken &&
		o.OutputTokensSeen == rec.OutputTokens && o.PromptTokensSeen == rec.PromptTokens &&
		o.Events.V == rec.OutputTokens.V && o.CachedTokens.Known && o.CachedTokens.V < rec.PromptTokens.V &&
		o.MaxGap.Known == (rec.OutputTokens.V > 1) && o.MaxGap.V <= o.Decode.V &&
		o.FinishReason.V == "length" && o.HTTPStatus.V == 200 && o.TokenBasis.V == traces.BasisUsage
	if !ok {
		t.Errorf("row %d: %+v", i, o)
	}
}

// A trace that is not sorted is refused by name of the row, not silently mended.
func TestRunWantsASortedTrace(t *testing.T) {
	recs := randomTrace(1, 3)
	recs[1].Arrival, recs[2].Arrival = recs[2].Arrival, recs[1].Arrival
	_, err := Run(traces.FromSlice(recs), discard, testConfig, 0)
	if err == nil || !strings.Contains(err.Error(), "row seq 2") {
		t.Errorf("%v", err)
	}
}

// A run's memory follows the requests in flight, not the rows.
func TestRunReusesWhatHasEnded(t *testing.T) {
	const n = 20_000
	at := time.Duration(0)
	rows := 0
	src := traces.ReaderFunc(func(rec *traces.Record) error {
		if rows++; rows > n {
			return traces.FromSlice(nil).Read(rec)
		}
		at += 10 * time.Millisecond
		*rec = request(at, 100, 3)
		return nil
	})
	allocs := testing.AllocsPerRun(1, func() {
		rows, at = 0, 0
		if _, err := Run(src, discard, testConfig, 0); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 1000 {
		t.Errorf("%v allocations for %d rows", allocs, n)
	}
}

// Equal leading blocks are equal keys, as far as they go and no further, whether
// a trace names them or a text spells them.
func TestKeysOfTraceAndTextAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		from := []int64{8, 16, 24, 64}[rng.IntN(4)]
		var ofTrace, ofText [2][]uint64
		shared := []traces.BlockRun{{Start: rng.Uint64N(9), Len: rng.Uint32N(4)}}
		for i := range 2 {
			n := int64(1 + rng.IntN(300))
			runs := append(shared[:1:1], traces.BlockRun{Start: 100 + uint64(i)*100, Len: rng.Uint32N(3)})
			ofTrace[i] = traceKeys(nil, runs, from, n, 16)
			ofText[i] = textKeys(prompt.AppendText(nil, prompt.Spec{
				Tokens: int(n), BlockTokens: int(from), Unique: uint64(i), Blocks: func(yield func(uint64) bool) {
					for _, r := range runs {
						for k := range r.Len {
							if !yield(r.Start + uint64(k)) {
								return
							}
						}
					}
				}}))
		}
		if a, b := commonPrefix(ofTrace), commonPrefix(ofText); a != b {
			t.Fatalf("blocks of %d tokens: the traces share %d keys, the texts %d", from, a, b)
		}
	}
}

func textKeys(text []byte) []uint64 {
	c := chain{size: 16}
	for word := range prompt.Words(string(text)) {
		c.add(hash(word))
	}
	return c.keys
}

func commonPrefix(keys [2][]uint64) (n int) {
	for n < min(len(keys[0]), len(keys[1])) && keys[0][n] == keys[1][n] {
		n++
	}
	return n
}

// Every pair of presets is an engine, or says that the model is too big.
func TestPresets(t *testing.T) {
	for _, m := range Models {
		for _, g := range GPUs {
			c, err := Preset(m.Name, g.Name)
			switch {
			case err != nil && strings.Contains(err.Error(), "GB for its weights"):
			case err != nil:
				t.Error(err)
			default:
				if _, err := c.WithDefaults(); err != nil {
					t.Errorf("%s on %s: %v", m.Name, g.Name, err)
				}
			}
		}
	}
	if _, err := Preset("gpt-9", DefaultGPU); err == nil || !strings.Contains(err.Error(), "llama-3.1-8b") {
		t.Errorf("an unknown model: %v; the error must list those known", err)
	}
}

// The formula's example: an 8-billion-parameter model on a GPU of 3.35 TB/s and
// 989 TFLOP/s has c0 ≈ 6 ms and overhead, c1 ≈ 32 µs, c3 ≈ 49 ns, c4 ≈ 1.06 ns
// and (72 − 16.06) GB / (16 · 131,072 B) = 26,674 blocks.
func TestPresetFormula(t *testing.T) {
	c, err := Preset("llama-3.1-8b", "h100-sxm")
	if err != nil {
		t.Fatal(err)
	}
	want := Cost{C0: 6_492_537_313, C1: 32_477_250, C2: 5_000_000, C3: 48_907, C4: 1_060}
	if c.Cost != want || c.Blocks != 26_674 {
		t.Errorf("%+v, %d blocks; want %+v, 26674", c.Cost, c.Blocks, want)
	}
}

// A bad constant is named, with its bounds.
func TestConfigNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]Config{
		"MaxSeqs": {MaxSeqs: -1}, "Blocks": {Blocks: -3}, "C3": {Cost: Cost{C3: -1}}, "Speed": {Speed: -1},
		"TemplateTokens": {TemplateTokens: -1}, "Cache": {Cache: 7}, "MeanOutput": {MeanOutput: .5}, "BlockTokens": {BlockTokens: 5000},
	} {
		if _, err := NewEngine(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
