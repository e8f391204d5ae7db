package fit

import (
	"errors"
	"io"
	"math"
	"slices"
	"time"

	"wavetank/traces"
)

const (
	tickHead  = 8192                   // records that the grid is looked for in
	tickLeast = 250 * time.Millisecond // finer grids do not disturb the gaps of one model server
	tickShare = .9                     // of the differences that must be multiples of the tick
	tickSlack = .01                    // of a tick, that a multiple may be off
)

// untick returns r with the requests of each tick spread evenly over it, in their
// order, where r's arrivals stand on a coarse grid: the log's clock, not the
// traffic, put them there. It also returns the resolution of the arrivals.
func untick(r traces.Reader) (traces.Reader, time.Duration, error) {
	head, err := readHead(r)
	if err != nil {
		return nil, 0, err
	}
	joined := chain(head, r)
	if tick := findTick(head); tick > 0 {
		return spreadTicks(joined, tick), tick.Round(time.Millisecond), nil
	}
	return joined, resolution(head), nil
}

func readHead(r traces.Reader) (head []traces.Record, err error) {
	for len(head) < tickHead {
		var rec traces.Record
		err := r.Read(&rec)
		if errors.Is(err, io.EOF) {
			return head, nil
		}
		if err != nil {
			return nil, err
		}
		head = append(head, rec)
	}
	return head, nil
}

// chain reads head and then r.
func chain(head []traces.Record, r traces.Reader) traces.Reader {
	first := traces.FromSlice(head)
	return traces.ReaderFunc(func(rec *traces.Record) error {
		if err := first.Read(rec); !errors.Is(err, io.EOF) {
			return err
		}
		return r.Read(rec)
	})
}

// findTick returns the step of the grid on which the arrivals stand, or 0. The 10 %
// quantile of the differences is a first guess, for stamps jitter by a few ms
// (Mooncake: 2999, 3000, 3001); the mean over the multiples makes it exact.
func findTick(head []traces.Record) time.Duration {
	var steps []time.Duration
	for i := 1; i < len(head); i++ {
		if d := head[i].Arrival - head[i-1].Arrival; d > tickLeast {
			steps = append(steps, d)
		}
	}
	if len(steps) < minRequests {
		return 0
	}
	slices.Sort(steps)
	for _, guess := range []time.Duration{steps[len(steps)/10], time.Second} {
		if tick, ok := grid(steps, guess); ok && tied(head, tick) {
			return tick
		}
	}
	return 0
}

// grid says whether the steps are multiples of about guess, and of what exactly.
func grid(steps []time.Duration, guess time.Duration) (tick time.Duration, ok bool) {
	var on, sum, multiples float64
	for _, d := range steps {
		k := math.Round(float64(d) / float64(guess))
		if math.Abs(float64(d)-k*float64(guess)) <= tickSlack*float64(guess)*math.Sqrt(k) {
			on, sum, multiples = on+1, sum+float64(d), multiples+k
		}
	}
	return time.Duration(sum / multiples), on >= tickShare*float64(len(steps))
}

// tied says whether requests share a tick. Without ties a grid cannot be told from
// a client that sends at equal intervals, and there is nothing to spread.
func tied(head []traces.Record, tick time.Duration) bool {
	for i := 1; i < len(head); i++ {
		if tickOf(head[i].Arrival, tick) == tickOf(head[i-1].Arrival, tick) {
			return true
		}
	}
	return false
}

func tickOf(t, tick time.Duration) int64 { return int64(math.Round(float64(t) / float64(tick))) }

// spreadTicks moves the i-th of the k requests of a tick to its fraction i/k.
func spreadTicks(r traces.Reader, tick time.Duration) traces.Reader {
	var group []traces.Record
	var next traces.Record
	pending := r.Read(&next)
	return traces.ReaderFunc(func(rec *traces.Record) error {
		if len(group) == 0 {
			if pending != nil {
				return pending
			}
			now := tickOf(next.Arrival, tick)
			for pending == nil && tickOf(next.Arrival, tick) == now {
				group = append(group, next)
				pending = r.Read(&next)
			}
			for i := range group {
				group[i].Arrival = time.Duration(now)*tick + tick*time.Duration(i)/time.Duration(len(group))
			}
		}
		*rec, group = group[0], group[1:]
		return nil
	})
}

// resolution returns the greatest decimal unit that all arrivals are multiples of,
// relative to the first.
func resolution(head []traces.Record) time.Duration {
	for unit := time.Second; unit > 1; unit /= 10 {
		if !slices.ContainsFunc(head, func(r traces.Record) bool { return (r.Arrival-head[0].Arrival)%unit != 0 }) {
			return unit
		}
	}
	return 1
}
