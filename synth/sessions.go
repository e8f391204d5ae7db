package synth

import (
	"container/heap"
	"strconv"
	"time"

	"wavetank/fit"
	"wavetank/traces"
)

const (
	warmPauses = 8       // mean sessions that the time before the trace lasts, and
	warmMost   = 1 << 17 // at most so many arrivals
	mostOpen   = 1 << 22 // sessions that wait for a turn: memory is bounded, whatever the pauses
)

// sessions give arrivals to sessions. An arrival is the next turn of the session that
// has waited longest for it, or, if none is due, the first of a new one: so the
// arrivals stay as they are, and the numbers of turns come out as they were fitted. A pause
// is never too short, and longer by what a turn waits for an arrival, as in a queue: a mean
// session's turns over the rate at most, about. At the trace's start as many sessions are open
// as later, for arrivals before it have been played too.
type sessions struct {
	share  float64
	turns  *fit.Turns
	pauses *fit.GapTable
	mean   float64 // seconds, of pauses
	draws  *draws
	open   dueQueue
	made   int
	prefix string
}

// An open session waits for its next turn.
type openSession struct {
	due  time.Duration
	id   int
	turn int // the next, from 0
}

func newSessions(s *fit.Sessions, prefix string, rate float64, d *draws) *sessions {
	if s == nil || s.Turns == nil || s.Pauses == nil {
		return nil
	}
	out := &sessions{share: s.Share, turns: s.Turns, mean: s.Pauses.Mean, pauses: fit.NewGapTable(s.Pauses.Dist()), draws: d, prefix: prefix}
	out.warm(rate)
	return out
}

// warm plays evenly spaced arrivals up to time 0.
func (s *sessions) warm(rate float64) {
	n := min(warmPauses*s.mean*s.turns.Mean()*rate, warmMost)
	for i := n; i > 0; i-- {
		s.next(time.Duration(-i / rate * float64(time.Second)))
	}
}

// next returns the session and the turn of an arrival; false if it is of none.
func (s *sessions) next(at time.Duration) (id, turn int, ok bool) {
	if s.share < 1 && s.draws.next() >= s.share {
		return 0, 0, false
	}
	now := openSession{id: s.made}
	if len(s.open) > 0 && s.open[0].due <= at {
		now = s.open[0]
		heap.Pop(&s.open)
	} else {
		s.made++
	}
	if s.draws.next() >= s.turns.HazardAt(now.turn+1) && len(s.open) < mostOpen {
		pause := instant(float64(at) + s.mean*s.pauses.At(s.draws.next())*float64(time.Second))
		heap.Push(&s.open, openSession{pause, now.id, now.turn + 1})
	}
	return now.id, now.turn, true
}

// name says of a request which turn of which session it is.
func (s *sessions) name(r *traces.Request) {
	if id, turn, ok := s.next(r.Arrival); ok {
		r.Session, r.Turn = traces.Some(s.prefix+strconv.Itoa(id)), traces.Some(int32(turn))
	}
}

type dueQueue []openSession

// Len implements heap.Interface.
func (q dueQueue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q dueQueue) Less(i, j int) bool {
	if q[i].due != q[j].due {
		return q[i].due < q[j].due
	}
	return q[i].id < q[j].id
}

// Swap implements heap.Interface.
func (q dueQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *dueQueue) Push(x any) { *q = append(*q, x.(openSession)) }

// Pop implements heap.Interface.
func (q *dueQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
