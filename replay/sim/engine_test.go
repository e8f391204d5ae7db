package sim

import (
	"container/list"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wavetank/traces"
)

// A test engine has constants that are easy to calculate with: a step of 1 ms,
// 10 µs a prefill token, 100 µs a decoding request, 50 ns a token of context
// and 2 ns a prefill token times a token before it.
var (
	testCost   = Cost{C0: 1e9, C1: 1e7, C2: 1e8, C3: 5e4, C4: 2e3}
	testConfig = Config{Cost: testCost, Blocks: 1000, MaxBatchedTokens: 512, MaxSeqs: 64, MaxModelLen: 10000}
)

func newTestEngine(t *testing.T, c Config) *Engine {
	t.Helper()
	e, err := NewEngine(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// drain steps until e has nothing to do.
func drain(e *Engine) {
	for !e.Idle() {
		e.Step()
	}
}

// ns is the cost of a step, written out independently of Cost.of.
func ns(prefill, before, decoding, context int64) time.Duration {
	return time.Duration(1_000_000 + 10_000*prefill + 2*prefill*before + 100_000*decoding + 50*context)
}

// One request alone: TTFT is the sum of its prefill steps, and each token after
// takes C0 + C2 + C3·context, to the nanosecond.
func TestOneRequestAlone(t *testing.T) {
	for _, size := range [][2]int64{{1, 1}, {1, 2}, {15, 3}, {16, 1}, {511, 7}, {512, 2}, {513, 2}, {1600, 40}, {5000, 500}} {
		prompt, output := size[0], size[1]
		e := newTestEngine(t, testConfig)
		r := &Request{Prompt: int32(prompt), Output: int32(output)}
		at := 3 * time.Second
		if err := e.Submit(at, r); err != nil {
			t.Fatal(err)
		}
		drain(e)
		var first, gap, total time.Duration
		for done := int64(0); done < prompt; done += 512 {
			first += ns(min(512, prompt-done), done, 0, 0)
		}
		total = first
		for n := int64(1); n < output; n++ {
			gap = ns(0, 0, 1, prompt+n)
			total += gap
		}
		if r.First-at != first || r.Last-at != total || r.MaxGap != gap || r.Admitted != at {
			t.Errorf("%d+%d: first %v last %v gap %v, want %v %v %v", prompt, output, r.First-at, r.Last-at, r.MaxGap, first, total, gap)
		}
	}
}

// n identical requests at once share each step, in closed form: all prompts fit
// one step here, and without a cache each is computed.
func TestIdenticalRequestsAtOnce(t *testing.T) {
	const prompt, output = 100, 20
	for _, n := range []int64{1, 2, 5} {
		c := testConfig
		c.Cache = NoPrefixCache
		e := newTestEngine(t, c)
		var reqs []*Request
		for range n {
			r := &Request{Prompt: prompt, Output: output}
			reqs = append(reqs, r)
			e.Submit(0, r)
		}
		drain(e)
		first := ns(n*prompt, 0, 0, 0)
		last := first
		for k := int64(1); k < output; k++ {
			last += ns(0, 0, n, n*(prompt+k))
		}
		for i, r := range reqs {
			if r.First != first || r.Last != last {
				t.Errorf("request %d of %d: first %v last %v, want %v %v", i, n, r.First, r.Last, first, last)
			}
		}
	}
}

// Equal prompts in one step share the first one's blocks: it computes all 100
// tokens, and each other one the 4 beyond 6 whole blocks of 16.
func TestEqualPromptsShareAStep(t *testing.T) {
	const n = 5
	e := newTestEngine(t, testConfig)
	keys := traceKeys(nil, []traces.BlockRun{{Start: 7, Len: 1}}, 512, 100, 16)
	var reqs []*Request
	for range n {
		r := &Request{Prompt: 100, Output: 1, Keys: keys}
		reqs = append(reqs, r)
		e.Submit(0, r)
	}
	drain(e)
	want := time.Duration(1_000_000 + 10_000*(100+4*(n-1)) + 2*4*96*(n-1))
	for i, r := range reqs {
		cached := int32(96)
		if i == 0 {
			cached = 0
		}
		if r.First != want || r.Cached != cached {
			t.Errorf("request %d: first %v cached %d, want %v %d", i, r.First, r.Cached, want, cached)
		}
	}
}

// randomLoad returns n requests that share prefixes and crowd a small memory.
func randomLoad(rng *rand.Rand, n int) (reqs []*Request, at []time.Duration) {
	now := time.Duration(0)
	for range n {
		now += time.Duration(rng.ExpFloat64() * float64(8*time.Millisecond))
		r := &Request{Prompt: 1 + rng.Int32N(700), Output: 1 + rng.Int32N(120)}
		if rng.IntN(3) > 0 {
			runs := []traces.BlockRun{{Start: uint64(rng.IntN(4)) * 1000, Len: 1 + rng.Uint32N(5)}, {Start: rng.Uint64N(1 << 60), Len: 3}}
			r.Keys = traceKeys(nil, runs, 64, int64(r.Prompt), 16)
		}
		reqs, at = append(reqs, r), append(at, now)
	}
	return reqs, at
}

// play submits each request when it arrives and steps until all are done.
func play(t *testing.T, e *Engine, reqs []*Request, at []time.Duration) {
	t.Helper()
	for i := 0; i < len(reqs) || !e.Idle(); {
		for i < len(reqs) && (e.Idle() || at[i] <= e.Now()) {
			if err := e.Submit(at[i], reqs[i]); err != nil {
				t.Fatal(err)
			}
			i++
		}
		e.Step()
	}
}

// Tokens in are tokens accounted, work lost to preemption is computed again, and
// after the last answer every block is free or cached.
func TestNothingIsLostOrLeaked(t *testing.T) {
	for seed := range uint64(20) {
		c := testConfig
		c.Blocks, c.Cache = 64, Cache(seed%2)
		e := newTestEngine(t, c)
		reqs, at := randomLoad(rand.New(rand.NewPCG(seed, 1)), 150)
		play(t, e, reqs, at)
		var prompt, output, cached, preempted int64
		for _, r := range reqs {
			if !r.Done() {
				t.Fatalf("seed %d: a request ended with %d of %d tokens", seed, r.Generated, r.Output)
			}
			prompt += int64(r.Prompt)
			output += int64(r.Output)
			cached += int64(r.Cached)
			preempted += int64(r.Preemptions)
		}
		n := e.Counters()
		if n.Prompt != prompt || n.Generated != output || n.PrefixQueries != prompt || n.PrefixHits != cached || n.Preemptions != preempted {
			t.Errorf("seed %d: %+v, want %d prompt, %d output, %d cached tokens and %d preemptions", seed, n, prompt, output, cached, preempted)
		}
		if want := prompt - cached + output - int64(len(reqs)) + n.Recomputed; n.Computed != want {
			t.Errorf("seed %d: %d tokens computed, want %d", seed, n.Computed, want)
		}
		if preempted == 0 || n.Recomputed <= 0 {
			t.Errorf("seed %d: no preemption; the load is too light for this test", seed)
		}
		checkPool(t, e.pool, c.Blocks)
	}
}

// checkPool verifies that nobody holds a block and that list and index are whole.
func checkPool(t *testing.T, p *pool, blocks int32) {
	t.Helper()
	seen, shared := int32(0), 0
	for b := p.blocks[0].next; b != 0; b = p.blocks[b].next {
		seen++
		if p.blocks[b].refs != 0 {
			t.Errorf("block %d is free and held %d times", b, p.blocks[b].refs)
		}
		if p.blocks[b].shared {
			shared++
			if found, _ := p.index.find(p.blocks, p.blocks[b].key); found != b {
				t.Errorf("block %d is not under its key", b)
			}
		}
	}
	if seen != blocks || p.free != blocks || shared != p.index.len {
		t.Errorf("%d blocks in the free list, %d counted, %d shared; want %d, %d, %d", seen, p.free, shared, blocks, blocks, p.index.len)
	}
}

// crowd returns a request of 64 tokens and one of 80, together in 10 blocks of
// 16, in the step that preempts the second: then the first has 5 blocks and the
// second needs a sixth.
func crowd(t *testing.T, c Config, keys []uint64) (e *Engine, a, b *Request) {
	t.Helper()
	c.Blocks = 10
	e = newTestEngine(t, c)
	a, b = &Request{Prompt: 64, Output: 41}, &Request{Prompt: 80, Output: 10, Keys: keys}
	for _, r := range []*Request{a, b} {
		if err := e.Submit(0, r); err != nil {
			t.Fatal(err)
		}
	}
	for e.Counters().Preemptions == 0 {
		e.Step()
	}
	return e, a, b
}

// A preempted request keeps what nobody took meanwhile and computes the rest
// again as a prompt. Here the first request grows to 7 blocks and so takes the
// last two of the second's five.
func TestPreemptedRequestResumes(t *testing.T) {
	for name, keys := range map[string][]uint64{"private": nil, "shared": traceKeys(nil, []traces.BlockRun{{Start: 1, Len: 1}}, 80, 80, 16)} {
		e, a, b := crowd(t, testConfig, keys)
		if b.Preemptions != 1 || b.Generated != 1 {
			t.Fatalf("%s: %d preemptions of the second after %d tokens", name, b.Preemptions, b.Generated)
		}
		for !a.Done() {
			e.Step()
		}
		d, emitted := e.Step()
		if want := ns(81-48, 48, 0, 0); d != want || len(emitted) != 1 || b.Generated != 2 {
			t.Errorf("%s: the step of the return lasts %v, want %v", name, d, want)
		}
		drain(e)
		if n := e.Counters(); n.Recomputed != 80-48 || b.Cached != 0 || b.MaxGap <= 20*time.Millisecond {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

// A step that preempts admits nobody, or else it would hand the freed memory
// back to the one who just lost it.
func TestNoAdmissionAfterPreemption(t *testing.T) {
	c := testConfig
	c.Cache, c.MaxBatchedTokens = NoPrefixCache, 32
	e, _, _ := crowd(t, c, nil)
	if n := e.Counters(); n.Running != 1 || n.Waiting != 1 {
		t.Errorf("%d running, %d waiting", n.Running, n.Waiting)
	}
}

// The engine is a function of its input.
func TestSameInputSameAnswer(t *testing.T) {
	run := func() (ends []time.Duration) {
		c := testConfig
		c.Blocks = 64
		e := newTestEngine(t, c)
		reqs, at := randomLoad(rand.New(rand.NewPCG(3, 1)), 200)
		play(t, e, reqs, at)
		for _, r := range reqs {
			ends = append(ends, r.First, r.Last, r.MaxGap)
		}
		return ends
	}
	if a, b := run(), run(); !slices.Equal(a, b) {
		t.Error("two runs of one load differ")
	}
}

// An aborted request leaves no trace in memory or queues, whatever it was doing.
func TestAbortFreesTheRequest(t *testing.T) {
	c := testConfig
	c.Blocks = 64
	e := newTestEngine(t, c)
	rng := rand.New(rand.NewPCG(9, 9))
	reqs, _ := randomLoad(rng, 40)
	for _, r := range reqs {
		e.Submit(e.Now(), r)
	}
	for _, i := range rng.Perm(len(reqs)) {
		e.Step()
		if !reqs[i].Done() {
			e.Abort(reqs[i])
		}
	}
	if !e.Idle() {
		t.Error("the engine is not idle though all its requests are done or gone")
	}
	checkPool(t, e.pool, c.Blocks)
}

// What can never be answered is refused, and what just fits is answered.
func TestCheckKnowsWhatFits(t *testing.T) {
	c := testConfig
	c.Blocks, c.MaxModelLen = 4, 1000
	for _, test := range []struct {
		prompt, output int32
		fits           bool
	}{{64, 1, true}, {64, 2, false}, {60, 5, true}, {60, 6, false}, {0, 1, false}, {1, 0, false}, {1, 64, true}, {999, 2, false}} {
		e := newTestEngine(t, c)
		r := &Request{Prompt: test.prompt, Output: test.output}
		if err := e.Submit(0, r); (err == nil) != test.fits {
			t.Errorf("%d+%d: %v", test.prompt, test.output, err)
		}
		for range 200 {
			e.Step()
		}
		if test.fits && !r.Done() {
			t.Errorf("%d+%d: %d tokens after 200 steps", test.prompt, test.output, r.Generated)
		}
	}
}

// One request at a time, Poisson arrivals and constant service are an M/D/1
// queue, whose mean wait is ρD/(2(1−ρ)) (Pollaczek and Khinchine).
func TestWaitingIsThatOfMD1(t *testing.T) {
	const n = 150_000
	c := testConfig
	c.MaxSeqs = 1
	service := ns(100, 0, 0, 0)
	for _, rho := range []float64{0.2, 0.5} {
		rng := rand.New(rand.NewPCG(5, 8))
		var at, wait time.Duration
		rows := 0
		arrivals := traces.ReaderFunc(func(rec *traces.Record) error {
			if rows++; rows > n {
				return io.EOF
			}
			at += time.Duration(rng.ExpFloat64() * float64(service) / rho)
			*rec = request(at, 100, 1)
			return nil
		})
		waits := traces.WriterFunc(func(rec *traces.Record) error {
			wait += rec.Outcome.Queue.V
			return nil
		})
		if _, err := Run(arrivals, waits, c, 0); err != nil {
			t.Fatal(err)
		}
		mean, want := float64(wait)/n, rho*float64(service)/(2*(1-rho))
		if math.Abs(mean/want-1) > 0.02 {
			t.Errorf("ρ = %v: mean wait %v, want %v", rho, time.Duration(mean), time.Duration(want))
		}
	}
}

// Requests far apart find exactly what a least-recently-used list of blocks
// would hold, leaf let go before root, at any capacity.
func TestPrefixHitsAreThoseOfLRU(t *testing.T) {
	for _, capacity := range []int32{40, 80, 200, 1000} {
		c := testConfig
		c.Blocks = capacity
		e := newTestEngine(t, c)
		lru := newOracle(int(capacity))
		rng := rand.New(rand.NewPCG(2, 2))
		total := int32(0)
		for i := range 800 {
			runs := []traces.BlockRun{{Start: uint64(rng.IntN(12)) << 40, Len: 1 + rng.Uint32N(6)}}
			runs = append(runs, traces.BlockRun{Start: uint64(rng.IntN(60))<<40 | 1<<20, Len: rng.Uint32N(4)})
			prompt := int64(1 + rng.IntN(600))
			r := &Request{Prompt: int32(prompt), Output: 1, Keys: traceKeys(nil, runs, 64, prompt, 16)}
			e.Submit(time.Duration(i)*time.Minute, r)
			drain(e)
			if want := lru.request(r.Keys, int(prompt)); r.Cached != want {
				t.Fatalf("capacity %d, request %d: %d tokens cached, want %d", capacity, i, r.Cached, want)
			}
			total += r.Cached
		}
		if total == 0 {
			t.Errorf("capacity %d: no hit at all", capacity)
		}
	}
}

// An oracle is a plain list of blocks by recency, private ones as key 0.
type oracle struct {
	recent *list.List // of uint64, the oldest first
	size   int
}

func newOracle(size int) *oracle {
	o := &oracle{list.New(), size}
	for range size {
		o.recent.PushBack(uint64(0))
	}
	return o
}

func (o *oracle) find(key uint64) *list.Element {
	for x := o.recent.Front(); x != nil; x = x.Next() {
		if x.Value == key {
			return x
		}
	}
	return nil
}

func (o *oracle) request(keys []uint64, prompt int) (cached int32) {
	var path []uint64
	hits := 0
	for ; hits < min(len(keys), (prompt-1)/16); hits++ {
		x := o.find(keys[hits])
		if x == nil {
			break
		}
		o.recent.Remove(x)
		path = append(path, keys[hits])
	}
	for i := hits; i < (prompt+15)/16; i++ {
		o.recent.Remove(o.recent.Front())
		key := uint64(0)
		if i < len(keys) && o.find(keys[i]) == nil {
			key = keys[i]
		}
		path = append(path, key)
	}
	for _, key := range slices.Backward(path) {
		o.recent.PushBack(key)
	}
	return int32(hits * 16)
}

// Halving the arrival rate never raises the 99th percentile of TTFT, with the
// same requests in the same order.
func TestHalfTheRateIsNoSlower(t *testing.T) {
	for seed := range uint64(4) {
		p99 := func(stretch time.Duration) time.Duration {
			e := newTestEngine(t, testConfig)
			reqs, at := randomLoad(rand.New(rand.NewPCG(seed, 4)), 1000)
			for i := range at {
				at[i] *= stretch
			}
			play(t, e, reqs, at)
			var ttft []time.Duration
			for _, r := range reqs {
				ttft = append(ttft, r.First-r.Arrived)
			}
			slices.Sort(ttft)
			return ttft[len(ttft)*99/100]
		}
		full := p99(1)
		for stretch := time.Duration(2); stretch <= 8; stretch *= 2 {
			half := p99(stretch)
			if half > full {
				t.Errorf("seed %d: p99 of TTFT is %v at rate 1/%d and %v at half of it", seed, full, stretch/2, half)
			}
			full = half
		}
	}
}
