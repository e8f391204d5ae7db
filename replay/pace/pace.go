// Package pace fires calls at absolute deadlines.
package pace

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// A Pacer fires calls, each at its own deadline on the monotonic clock, earliest
// first and equal ones in the order in which they were given. A wait always ends
// at a deadline and is never the length of a gap, so that being late once makes
// nothing after it late. The zero Pacer is ready to use.
type Pacer struct {
	mu    sync.Mutex
	calls calls
	given uint64
	wake  chan struct{}
}

// At has fire called at due, or at once where due has passed. fire is given the
// instant at which it was called and must not block: all calls share one
// goroutine. At may be called by any goroutine, before and during Run.
func (p *Pacer) At(due time.Time, fire func(now time.Time)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given++
	heap.Push(&p.calls, call{due, p.given, fire})
	if p.calls[0].order == p.given {
		select {
		case p.alarm() <- struct{}{}:
		default:
		}
	}
}

// Run fires calls until ctx ends; those that are left are forgotten.
//
// It sleeps on the runtime's timers, which come up to a millisecond late on
// Linux (median about 0.5 ms) and exactly in a testing/synctest bubble.
func (p *Pacer) Run(ctx context.Context) {
	p.mu.Lock()
	wake := p.alarm()
	p.mu.Unlock()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(p.fireDue())
		select {
		case <-timer.C:
		case <-wake:
		case <-ctx.Done():
		}
	}
}

// fireDue fires all that is due and returns how long nothing will be.
func (p *Pacer) fireDue() time.Duration {
	for {
		p.mu.Lock()
		if len(p.calls) == 0 {
			p.mu.Unlock()
			return time.Hour
		}
		now := time.Now()
		if wait := p.calls[0].due.Sub(now); wait > 0 {
			p.mu.Unlock()
			return wait
		}
		c := heap.Pop(&p.calls).(call)
		p.mu.Unlock()
		c.fire(now)
	}
}

// alarm returns the channel that tells Run of an earlier first call. p.mu is held.
func (p *Pacer) alarm() chan struct{} {
	if p.wake == nil {
		p.wake = make(chan struct{}, 1)
	}
	return p.wake
}

type call struct {
	due   time.Time
	order uint64
	fire  func(now time.Time)
}

type calls []call

// Len implements heap.Interface.
func (c calls) Len() int { return len(c) }

// Less implements heap.Interface.
func (c calls) Less(i, j int) bool {
	if d := c[i].due.Compare(c[j].due); d != 0 {
		return d < 0
	}
	return c[i].order < c[j].order
}

// Swap implements heap.Interface.
func (c calls) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

// Push implements heap.Interface.
func (c *calls) Push(x any) { *c = append(*c, x.(call)) }

// Pop implements heap.Interface.
func (c *calls) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	(*c)[last] = call{}
	*c = (*c)[:last]
	return x
}
