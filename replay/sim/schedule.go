package sim

import "time"

// continueRunning gives running requests their share of the step, in order of
// arrival, and returns the budget that is left for waiting ones: none after a
// preemption, since what memory that freed is spoken for.
func (e *Engine) continueRunning() (budget int32) {
	budget = e.cfg.MaxBatchedTokens
	calm := true
	for i := 0; i < len(e.running) && budget > 0; i++ {
		r := e.running[i]
		if r.decoding && r.room > 0 && int(r.listed) == len(r.Keys) {
			e.decode(r) // all that schedule would do, and what nearly every request needs in nearly every step
			budget--
			continue
		}
		n := min(r.tokens-r.computed, budget)
		if n > r.room && e.makeRoom(r, n) {
			calm = false
			if i >= len(e.running) {
				break
			}
		}
		e.schedule(r, n)
		budget -= n
	}
	if !calm {
		return 0
	}
	return budget
}

// makeRoom preempts the latest arrivals until there are blocks for n more tokens
// of r, which may be among them, and says whether it had to.
func (e *Engine) makeRoom(r *Request, n int32) (preempted bool) {
	for e.blocksFor(n-r.room) > e.pool.free {
		victim := e.running[len(e.running)-1]
		e.preempt(victim)
		preempted = true
		if victim == r {
			break
		}
	}
	return preempted
}

func (e *Engine) preempt(r *Request) {
	e.running = e.running[:len(e.running)-1]
	e.preempted = append(e.preempted, r)
	e.pool.release(r.blocks)
	e.count.Preemptions++
	e.count.Recomputed += int64(r.computed)
	r.Preemptions++
	r.decoding = false
}

// admitWaiting starts waiting requests, first come first, preempted ones before
// all others, until the first that does not fit.
func (e *Engine) admitWaiting(budget int32) {
	for budget > 0 && len(e.running) < e.cfg.MaxSeqs {
		switch {
		case len(e.preempted) > 0:
			top := len(e.preempted) - 1
			n := e.admit(e.preempted[top], budget)
			if n == 0 {
				return
			}
			e.preempted = e.preempted[:top]
			budget -= n
		case e.waiting.len() > 0:
			n := e.admit(e.waiting.peek(), budget)
			if n == 0 {
				return
			}
			e.waiting.pop()
			budget -= n
		default:
			return
		}
	}
}

// admit starts r on its cached prefix and returns how many tokens it was given;
// 0 if there is no memory for them.
func (e *Engine) admit(r *Request, budget int32) int32 {
	e.lookup(r)
	hits := int32(len(e.found))
	start := hits * e.cfg.BlockTokens
	n := min(r.tokens-start, budget)
	if need := e.blocksFor(n); need+e.freeAmong(e.found) > e.pool.free {
		return 0
	}
	for _, b := range e.found {
		e.pool.hold(b)
	}
	r.blocks = append(r.blocks[:0], e.found...)
	r.computed, r.room, r.listed = start, 0, min(hits, int32(len(r.Keys)))
	e.count.note(r, start, e.now)
	e.running = append(e.running, r)
	e.schedule(r, n)
	return n
}

// lookup finds the longest cached prefix of r in whole blocks, and never all of
// it: the last token must run through the model to give the next one.
func (e *Engine) lookup(r *Request) {
	e.found = e.found[:0]
	if e.cfg.Cache == NoPrefixCache {
		return
	}
	whole := int((r.tokens - 1) / e.cfg.BlockTokens)
	shared := min(whole, len(r.Keys))
	for _, key := range r.Keys[:shared] {
		b, _ := e.pool.index.find(e.pool.blocks, key)
		if b == 0 {
			return
		}
		e.found = append(e.found, b)
	}
	// Nobody else can look for a private block, so it needs no index: a preempted
	// request knows which ones it had, and they know whose they are.
	mine := min(whole, int(r.computed/e.cfg.BlockTokens))
	for j := shared; j < mine && e.pool.keeps(r.blocks[j], r.private(j)); j++ {
		e.found = append(e.found, r.blocks[j])
	}
}

func (e *Engine) freeAmong(blocks []int32) (n int32) {
	for _, b := range blocks {
		if e.pool.blocks[b].refs == 0 {
			n++
		}
	}
	return n
}

func (c *Counters) note(r *Request, hit int32, now time.Duration) {
	if r.admitted {
		c.Recomputed -= int64(hit)
		return
	}
	r.admitted, r.Admitted, r.Cached = true, now, hit
	c.PrefixQueries += int64(r.tokens)
	c.PrefixHits += int64(hit)
}

// schedule gives r n tokens of the step. Blocks that this fills are findable at
// once: a request admitted later in the same step shares them.
func (e *Engine) schedule(r *Request, n int32) {
	for r.room < n {
		r.blocks = append(r.blocks, e.pool.alloc(r.private(len(r.blocks))))
		r.room += e.cfg.BlockTokens
	}
	if r.decoding {
		e.decode(r)
	} else {
		e.prefill(r, n)
	}
	if int(r.listed) < len(r.Keys) {
		e.publish(r)
	}
}

func (e *Engine) decode(r *Request) {
	e.load.decoding++
	e.load.context += int64(r.tokens)
	e.count.Computed++
	r.room--
	r.computed++
	e.emitted = append(e.emitted, r)
}

func (e *Engine) prefill(r *Request, n int32) {
	e.load.prefill += int64(n)
	e.load.attended += int64(n) * int64(r.computed)
	e.count.Computed += int64(n)
	r.room -= n
	r.computed += n
	if r.computed == r.tokens {
		e.emitted = append(e.emitted, r)
	}
}

func (e *Engine) publish(r *Request) {
	full := min(r.computed/e.cfg.BlockTokens, int32(len(r.Keys)))
	for ; r.listed < full; r.listed++ {
		e.pool.publish(r.blocks[r.listed], r.Keys[r.listed])
	}
}

// blocksFor returns how many blocks hold n tokens.
func (e *Engine) blocksFor(n int32) int32 {
	return (n + e.cfg.BlockTokens - 1) / e.cfg.BlockTokens
}

// private is the identity of a block that belongs to r alone.
func (r *Request) private(j int) uint64 { return r.serial<<24 | uint64(j) }
