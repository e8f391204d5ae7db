package formats

import (
	"time"

	"wavetank/traces"
)

// threads hold sessions of workload files, which say when a session starts and how
// long it pauses between its turns, and not when a later turn leaves. Such a turn
// gets the earliest arrival that it can have: as if every answer took no time. One
// entry a session stays in memory.
type threads map[string]*thread

// A thread is what was said of a session so far.
type thread struct {
	turns  int32
	at     int64                     // the last turn's arrival
	pause  traces.Opt[time.Duration] // after the last turn, where the file says it there
	prompt threadPrompt
}

const noteThreads = "a later turn of a session has the earliest arrival that its pauses allow: how long answers took is not in the file"

// turn makes rec the next turn of a session, after a pause of think. Known arrivals
// stay as they are.
func (ts threads) turn(rec *traces.Record, session string, arrival traces.Opt[int64], think traces.Opt[time.Duration]) *thread {
	t := ts[session]
	if t == nil {
		t = new(thread)
		ts[session] = t
	}
	rec.Session, rec.Turn = traces.Some(session), traces.Some(t.turns)
	if t.turns > 0 {
		rec.Think = think
	}
	t.at = arrival.Or(t.at + int64(rec.Think.V))
	t.turns++
	rec.Arrival = time.Duration(t.at)
	return t
}

// A threadPrompt is the ids of what a session's next prompt can begin with.
type threadPrompt struct {
	runs   []traces.BlockRun
	tokens int32
}

// keep cuts the prompt to the blocks that whole lie in its first tokens tokens.
func (p *threadPrompt) keep(tokens, block int32) {
	p.tokens = min(p.tokens, tokens)
	left := uint32(p.tokens / block)
	kept := make([]traces.BlockRun, 0, len(p.runs)+1)
	for _, run := range p.runs {
		run.Len = min(run.Len, left)
		if left -= run.Len; run.Len > 0 {
			kept = append(kept, run)
		}
	}
	p.runs = kept
}

// add appends tokens that no other prompt has; ids are taken from next on.
func (p *threadPrompt) add(tokens, block int32, next *uint64) {
	have := uint32(0)
	for _, run := range p.runs {
		have += run.Len
	}
	p.tokens += tokens
	fresh := uint32(p.tokens/block) - have
	p.runs = appendRun(p.runs, *next, fresh)
	*next += uint64(fresh)
}
