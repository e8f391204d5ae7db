package replay

import (
	"time"

	"wavetank/traces"
)

// schedule has the turn of it come at its deadline or, in a closed loop, when a
// slot is free.
func (r *run) schedule(it *item) {
	if r.o.Concurrency > 0 {
		r.takeSlot(it)
		return
	}
	r.pacer.At(r.start.Add(it.due), func(now time.Time) {
		if r.o.MaxInFlight > 0 {
			r.takeSlot(it)
			return
		}
		r.send(it, now)
	})
}

// takeSlot sends it on the slot that has been free for longest, or has it wait.
func (r *run) takeSlot(it *item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopped:
	case len(r.free) == 0:
		r.waiting = append(r.waiting, it)
	default:
		since := r.free[0]
		r.free = r.free[1:]
		r.grant(it, since)
	}
}

// giveSlot hands a slot that has just become free to the one who waited longest.
func (r *run) giveSlot() {
	if r.o.Concurrency == 0 && r.o.MaxInFlight == 0 {
		return
	}
	now := time.Since(r.start)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) == 0 || r.stopped {
		r.free = append(r.free, now)
		return
	}
	it := r.waiting[0]
	r.waiting = r.waiting[1:]
	r.grant(it, now)
}

// grant sends it by way of the pacer, who alone stamps what is sent. r.mu is held.
func (r *run) grant(it *item, since time.Duration) {
	if r.o.Concurrency > 0 {
		it.due = since
	}
	r.pacer.At(r.start.Add(it.due), func(now time.Time) { r.send(it, now) })
}

// send lets it go. The pacer calls it.
func (r *run) send(it *item, now time.Time) {
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		return
	}
	r.result.Offered++
	r.unsent--
	r.live++
	r.mu.Unlock()
	r.budget.Release(it.cost)
	it.sent = now.Sub(r.start)
	it.call.Send()
	go r.finish(it)
}

func (r *run) finish(it *item) {
	out := it.call.Wait()
	r.giveSlot()
	out.Due, out.Sent = traces.Some(it.due), traces.Some(it.sent)
	it.rec.Outcome = out
	r.ended <- it
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live--
	r.checkIdle()
}

// settleUnsent ends a row that is offered without being sent.
func (r *run) settleUnsent(it *item, out traces.Outcome) {
	r.mu.Lock()
	r.result.Offered++
	r.mu.Unlock()
	it.rec.Outcome = out
	r.ended <- it
}

// stop ends the offering: what is not yet sent will not be.
func (r *run) stop() {
	r.endFeed()
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.idle: // it came to its end by itself
	default:
		r.stopped, r.result.Partial = true, true
		r.checkIdle()
	}
}

// checkIdle closes r.idle when its time has come. r.mu is held.
func (r *run) checkIdle() {
	if r.live > 0 || !r.fed || r.unsent > 0 && !r.stopped {
		return
	}
	select {
	case <-r.idle:
	default:
		close(r.idle)
	}
}

// watch stops the run when it is asked to, and hangs up when grace has passed.
func (r *run) watch() {
	select {
	case <-r.o.Drain:
	case <-r.offer.Done():
	case <-r.idle:
		return
	}
	r.stop()
	grace := time.NewTimer(r.o.Grace)
	defer grace.Stop()
	select {
	case <-grace.C:
		r.hangUp()
	case <-r.idle:
	}
}

// settle waits until nothing is in flight. What was due before a stop and got no
// slot was offered all the same, and is written as dropped.
func (r *run) settle() {
	<-r.idle
	if r.o.MaxInFlight == 0 {
		return
	}
	for _, it := range r.waiting {
		r.settleUnsent(it, traces.Outcome{
			Status: traces.Dropped, Error: traces.Some("interrupted"), Due: traces.Some(it.due),
		})
	}
}
