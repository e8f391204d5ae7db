package sim

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

var errClosed = errors.New("sim: the engine is closed")

// A call is a request on its way through a live engine.
type call struct {
	Request
	at     time.Duration // arrival on the engine's clock
	finish string        // reason, for the gauges
	last   time.Duration // of the token before
	tokens atomic.Int32  // given so far; orders what the engine wrote before what a reader of it reads
	news   chan struct{} // holds one: there are more tokens
}

// A live engine does its steps in real time: one goroutine that begins a step
// where the one before ended, not when it woke up, so that it never drifts, and
// shows each step only what had arrived at its beginning, so that being late
// changes no answer. While there is nothing to do it waits.
type live struct {
	speed float64
	start time.Time
	wake  chan struct{} // holds one: there is work
	stop  chan struct{} // closed by close
	done  chan struct{} // closed by the loop's end

	mu      sync.Mutex // of what follows
	engine  *Engine
	pending []*call // by arrival; not yet in the engine
	closed  bool
	gauge   gauges
}

func newLive(c Config) (*live, error) {
	e, err := NewEngine(c)
	if err != nil {
		return nil, err
	}
	l := &live{
		speed:  e.cfg.Speed,
		start:  time.Now(),
		wake:   make(chan struct{}, 1),
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
		engine: e,
		gauge:  newGauges(),
	}
	go l.loop()
	return l, nil
}

// close ends the loop and every wait, and returns when the loop has ended.
func (l *live) close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.stop)
	}
	l.mu.Unlock()
	<-l.done
}

func (l *live) loop() {
	defer close(l.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for l.awaitWork() {
		end, emitted := l.step()
		timer.Reset(time.Until(l.start.Add(l.real(end))))
		select {
		case <-timer.C:
		case <-l.stop:
			return
		}
		l.publish(emitted)
	}
}

// awaitWork returns whether there is work; it returns false when the engine closes.
func (l *live) awaitWork() bool {
	for {
		l.mu.Lock()
		idle := len(l.pending) == 0 && l.engine.Idle()
		l.mu.Unlock()
		if !idle {
			return true
		}
		select {
		case <-l.wake:
		case <-l.stop:
			return false
		}
	}
}

func (l *live) step() (end time.Duration, emitted []*Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.pending) > 0 && (l.engine.Idle() || l.pending[0].at <= l.engine.Now()) {
		c := l.pending[0]
		l.pending[0], l.pending = nil, l.pending[1:]
		if err := l.engine.Submit(c.at, &c.Request); err != nil {
			panic(err) // submit has checked it
		}
	}
	_, emitted = l.engine.Step()
	return l.engine.Now(), emitted
}

func (l *live) publish(emitted []*Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range emitted {
		c := r.Data.(*call)
		l.gauge.token(c, l.real)
		c.last = r.Last
		c.tokens.Add(1)
		notify(c.news)
	}
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// submit hands c to the engine, as arriving now.
func (l *live) submit(c *call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	if err := l.engine.Check(c.Prompt, c.Output); err != nil {
		return err
	}
	c.Data, c.news = c, make(chan struct{}, 1)
	c.at = time.Duration(float64(time.Since(l.start)) * l.speed)
	l.pending = append(l.pending, c)
	notify(l.wake)
	return nil
}

// abort forgets c unless all its tokens are given or are about to be.
func (l *live) abort(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Done() {
		return
	}
	l.gauge.finished["abort"]++
	for i, p := range l.pending {
		if p == c {
			l.pending = append(l.pending[:i], l.pending[i+1:]...)
			return
		}
	}
	l.engine.Abort(&c.Request)
}

// wait returns the number of c's tokens as soon as it is at least want.
func (l *live) wait(ctx context.Context, c *call, want int32) (int32, error) {
	for {
		if n := c.tokens.Load(); n >= want {
			return n, nil
		}
		select {
		case <-c.news:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-l.stop:
			return 0, errClosed
		}
	}
}

// counters returns the engine's account, requests on the doorstep included.
func (l *live) counters() Counters {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.engine.Counters()
	c.Waiting += len(l.pending)
	return c
}

// real turns engine time into real time.
func (l *live) real(d time.Duration) time.Duration { return time.Duration(float64(d) / l.speed) }
