package sim

import (
	"fmt"
	"time"
)

// A Request is what the engine knows of a request: sizes and identities of
// blocks, never text. The caller fills the first part before Submit and reads
// the second; times are on the engine's clock and hold once Generated > 0.
type Request struct {
	Prompt int32    // tokens
	Output int32    // tokens to generate, at least 1
	Keys   []uint64 // identities of the leading whole blocks; each stands for all up to it. The blocks beyond are the request's own
	Data   any      // the caller's own

	Arrived     time.Duration // when it was submitted
	Admitted    time.Duration // start of the first step that worked on it
	First       time.Duration // end of the step that gave the first token
	Last        time.Duration // end of the step that gave the latest token
	MaxGap      time.Duration // longest pause between two tokens
	Cached      int32         // prompt tokens found in the cache at the first admission
	Generated   int32         // tokens so far
	Preemptions int32

	serial   uint64
	tokens   int32   // prompt and output so far
	computed int32   // tokens whose KV is in blocks
	room     int32   // tokens that still fit in blocks
	listed   int32   // leading blocks that were published
	blocks   []int32 // held; after a preemption, what was held
	decoding bool
	admitted bool
}

// Done says whether the whole answer is there.
func (r *Request) Done() bool { return r.Generated == r.Output }

// Counters tells what an Engine did and holds. Tokens in are tokens accounted:
// once all is answered, Computed = prompts − PrefixHits + Generated − requests + Recomputed.
type Counters struct {
	Steps         int64
	Submitted     int64
	Finished      int64
	Prompt        int64 // tokens of the prompts whose first token was given
	Generated     int64 // tokens
	Computed      int64 // tokens run through the model
	Recomputed    int64 // of them those lost to preemption and computed again
	PrefixQueries int64 // tokens looked up at first admissions
	PrefixHits    int64 // tokens found then
	Preemptions   int64
	Running       int   // requests now
	Waiting       int   // requests now
	UsedBlocks    int32 // held by a request now
	Blocks        int32 // in all
}

// An Engine is the state of the simulation and its clock. It does nothing by
// itself and is the same at every time it is given the same requests. It is not
// for concurrent use.
type Engine struct {
	cfg   Config
	now   time.Duration
	pool  *pool
	count Counters

	waiting   fifo
	preempted []*Request // a stack: all of them came before all of waiting, the earliest is on top
	running   []*Request // by arrival

	load    load
	emitted []*Request
	found   []int32
}

// NewEngine returns an idle engine at time 0, or says what is wrong with c.
func NewEngine(c Config) (*Engine, error) {
	c, err := c.WithDefaults()
	if err != nil {
		return nil, err
	}
	return &Engine{cfg: c, pool: newPool(c.Blocks)}, nil
}

// Now returns the engine's clock: the end of the last step, or the arrival that
// ended an idle time since.
func (e *Engine) Now() time.Duration { return e.now }

// Idle says whether there is nothing to do.
func (e *Engine) Idle() bool {
	return len(e.running) == 0 && e.waiting.len() == 0 && len(e.preempted) == 0
}

// Counters returns the account so far.
func (e *Engine) Counters() Counters {
	c := e.count
	c.Running, c.Waiting = len(e.running), e.waiting.len()+len(e.preempted)
	c.Blocks = e.cfg.Blocks
	c.UsedBlocks = c.Blocks - e.pool.free
	return c
}

// Check returns an error if the engine could never answer a request of that
// many tokens, which a server says with HTTP 400.
func (e *Engine) Check(prompt, output int32) error {
	if prompt < 1 || output < 1 {
		return fmt.Errorf("sim: a request of %d prompt and %d output tokens; both must be at least 1", prompt, output)
	}
	total := int64(prompt) + int64(output)
	if total > int64(e.cfg.MaxModelLen) {
		return fmt.Errorf("sim: %d prompt and %d output tokens exceed the model's %d", prompt, output, e.cfg.MaxModelLen)
	}
	if need := (total - 2 + int64(e.cfg.BlockTokens)) / int64(e.cfg.BlockTokens); need > int64(e.cfg.Blocks) {
		return fmt.Errorf("sim: %d prompt and %d output tokens need %d KV blocks of %d; there are %d",
			prompt, output, need, e.cfg.BlockTokens, e.cfg.Blocks)
	}
	return nil
}

// Submit puts r in the queue at time at, which must not lie before an earlier
// submission; the driver submits what arrived up to Now before it calls Step.
// An idle engine's clock jumps to at. The error is that of Check.
func (e *Engine) Submit(at time.Duration, r *Request) error {
	if err := e.Check(r.Prompt, r.Output); err != nil {
		return err
	}
	if e.Idle() {
		e.now = max(e.now, at)
	}
	e.count.Submitted++
	r.Arrived, r.serial, r.tokens = at, uint64(e.count.Submitted), r.Prompt
	if e.cfg.Cache == NoPrefixCache {
		r.Keys = nil
	}
	e.waiting.push(r)
	return nil
}

// Abort forgets r, whose client hung up, and frees its memory.
func (e *Engine) Abort(r *Request) {
	held := len(e.running)
	e.running = without(e.running, r)
	if len(e.running) < held {
		e.pool.release(r.blocks)
		return
	}
	e.preempted = without(e.preempted, r)
	e.waiting.queue = append(e.waiting.queue[:e.waiting.head], without(e.waiting.queue[e.waiting.head:], r)...)
}

func without(list []*Request, r *Request) []*Request {
	for i, x := range list {
		if x == r {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// Step does one step and moves the clock to its end. It returns its duration and
// the requests that got a token, each one token, in a slice that the next
// Step reuses. On an idle engine it does nothing.
func (e *Engine) Step() (time.Duration, []*Request) {
	if e.Idle() {
		return 0, nil
	}
	e.load, e.emitted = load{}, e.emitted[:0]
	if budget := e.continueRunning(); budget > 0 {
		e.admitWaiting(budget)
	}
	d := e.cfg.Cost.of(&e.load)
	e.now += d
	e.count.Steps++
	e.emit()
	return d, e.emitted
}

// emit gives every request whose tokens are all computed its next one.
func (e *Engine) emit() {
	finished := false
	for _, r := range e.emitted {
		switch {
		case r.Generated == 0:
			r.First = e.now
			e.count.Prompt += int64(r.Prompt)
		case e.now-r.Last > r.MaxGap:
			r.MaxGap = e.now - r.Last
		}
		r.Last = e.now
		r.Generated++
		r.tokens++
		r.decoding = true
		if r.Done() {
			finished = true
			e.count.Finished++
			e.pool.release(r.blocks)
		}
	}
	e.count.Generated += int64(len(e.emitted))
	if finished {
		e.dropFinished()
	}
}

func (e *Engine) dropFinished() {
	kept := e.running[:0]
	for _, r := range e.running {
		if !r.Done() {
			kept = append(kept, r)
		}
	}
	clear(e.running[len(kept):])
	e.running = kept
}

// A fifo is a queue whose memory is bounded by its longest length.
type fifo struct {
	queue []*Request
	head  int
}

func (q *fifo) len() int { return len(q.queue) - q.head }

func (q *fifo) push(r *Request) {
	if q.head > 64 && q.head > len(q.queue)/2 {
		n := copy(q.queue, q.queue[q.head:])
		clear(q.queue[n:])
		q.queue, q.head = q.queue[:n], 0
	}
	q.queue = append(q.queue, r)
}

func (q *fifo) peek() *Request { return q.queue[q.head] }

func (q *fifo) pop() {
	q.queue[q.head] = nil
	q.head++
}
