package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"wavetank/replay/pace"
	"wavetank/traces"
)

// maxPrepared bounds the bytes of the requests that are prepared and not sent.
const maxPrepared = 64 << 20

// A run is the state of one Run.
type run struct {
	o      Options
	target Target
	due    func(arrival time.Duration) time.Duration
	pacer  pace.Pacer

	ctx     context.Context // of calls; ends when they are to hang up
	hangUp  context.CancelFunc
	offer   context.Context // ends when no more requests are to be offered
	endFeed context.CancelFunc

	budget *semaphore.Weighted // of maxPrepared
	start  time.Time           // zero until begin
	early  []*item             // prepared before the start
	whole  bool                // src was read to its end
	ended  chan *item

	mu      sync.Mutex // of all below
	result  Result
	waiting []*item         // for a slot
	free    []time.Duration // since when each slot that is free has been so
	unsent  int             // prepared, and their turn may still come
	live    int             // in flight
	fed     bool            // nothing more will be prepared
	stopped bool            // no turn comes any more
	idle    chan struct{}   // closed when nothing is in flight nor will be
}

// An item is a row on its way.
type item struct {
	rec       traces.Record
	req       traces.Request // what the Target sees
	call      Call
	cost      int64 // in budget
	due, sent time.Duration
}

func newRun(ctx context.Context, t Target, o Options) *run {
	r := &run{
		o: o, target: t, due: o.schedule(),
		budget: semaphore.NewWeighted(maxPrepared),
		ended:  make(chan *item, 256),
		free:   make([]time.Duration, max(o.Concurrency, o.MaxInFlight)),
		idle:   make(chan struct{}),
	}
	r.ctx, r.hangUp = context.WithCancel(ctx)
	r.offer, r.endFeed = context.WithCancel(r.ctx)
	return r
}

// feed prepares one request after the other, each when its time is near, until
// src ends or no more are to be offered.
func (r *run) feed(src traces.Reader) error {
	var last time.Duration
	for {
		it := new(item)
		switch err := src.Read(&it.rec); {
		case errors.Is(err, io.EOF):
			r.whole = true
			return nil
		case err != nil:
			return fmt.Errorf("read the trace: %w", err)
		case it.rec.Arrival < last:
			return fmt.Errorf("read the trace: the row with seq %d arrives at %v, before the row ahead of it (%v): sort the trace by arrival first",
				it.rec.Seq, it.rec.Arrival, last)
		}
		last = it.rec.Arrival
		r.result.Read++
		if !r.take(it) {
			return nil
		}
	}
}

// take sets one row on its way and reports whether another may follow.
func (r *run) take(it *item) bool {
	if class := reasonToSkip(&it.rec); class != "" {
		if r.offer.Err() != nil {
			return false
		}
		r.settleUnsent(it, traces.Outcome{Status: traces.Skipped, Error: traces.Some(class)})
		return true
	}
	it.due = r.due(it.rec.Arrival)
	it.cost = r.costOf(&it.rec.Request)
	if !r.near(it) || !r.affordable(it) {
		return false
	}
	it.req = it.rec.Request
	if r.o.Timeout > 0 && !it.req.Timeout.Known {
		it.req.Timeout = traces.Some(r.o.Timeout)
	}
	it.call = r.target.Prepare(r.ctx, &it.req)
	r.mu.Lock()
	r.unsent++
	r.mu.Unlock()
	if r.start.IsZero() {
		r.early = append(r.early, it)
	} else {
		r.schedule(it)
	}
	return true
}

// costOf estimates the bytes of a prepared request. In a closed loop no more are
// prepared than there are slots.
func (r *run) costOf(req *traces.Request) int64 {
	cost := 4<<10 + 8*int64(max(0, req.PromptTokens.Or(0))) + int64(len(req.Body))
	if r.o.Concurrency > 0 {
		cost = max(cost, maxPrepared/int64(r.o.Concurrency))
	}
	return min(cost, maxPrepared)
}

// near waits until it is time to prepare it. A wait starts the run's clock: what
// comes before the first wait is prepared ahead of the start.
func (r *run) near(it *item) bool {
	if r.o.Concurrency > 0 || it.due <= r.o.Ahead {
		return r.offer.Err() == nil
	}
	r.begin()
	timer := time.NewTimer(time.Until(r.start.Add(it.due - r.o.Ahead)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.offer.Done():
		return false
	}
}

// affordable waits until there is room for it among the prepared.
func (r *run) affordable(it *item) bool {
	if r.budget.TryAcquire(it.cost) {
		return true
	}
	r.begin()
	return r.budget.Acquire(r.offer, it.cost) == nil
}

func (r *run) begin() {
	if !r.start.IsZero() {
		return
	}
	r.start = time.Now()
	for _, it := range r.early {
		r.schedule(it)
	}
	r.early = nil
}

func (r *run) endOfFeed() {
	r.begin()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fed = true
	r.checkIdle()
}

// write writes what has ended, and stops the run when it cannot.
func (r *run) write(dst traces.Writer) error {
	var err error
	for it := range r.ended {
		if err != nil {
			continue
		}
		if err = dst.Write(&it.rec); err != nil {
			err = fmt.Errorf("write the run: %w", err)
			r.stop()
			r.hangUp()
			continue
		}
		r.result.Written++
	}
	return err
}

// countRest counts the rows that a stopped run left unread.
func (r *run) countRest(src traces.Reader) error {
	if r.whole {
		return nil
	}
	n, err := traces.Copy(traces.WriterFunc(func(*traces.Record) error { return nil }), src)
	r.result.Read += n
	if err != nil {
		return fmt.Errorf("count the rows that were not offered: %w", err)
	}
	return nil
}
