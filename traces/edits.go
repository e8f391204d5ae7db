package traces

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"strings"
	"time"
)

// An Edit is a Reader around another that tells what it did to its rows.
type Edit struct {
	Reader
	Name   string        // what it does, with its parameters
	Counts []Count       // whole once Read has returned io.EOF
	Start  time.Duration // the edited trace's Arrival 0 in the trace it was made of; whole with Counts
}

// A Count is how many rows, or whatever What says, an Edit met.
type Count struct {
	What string
	N    int64
}

// String is a line for Meta.Edits.
func (e *Edit) String() string {
	var b strings.Builder
	b.WriteString(e.Name)
	for i, c := range e.Counts {
		b.WriteString([]string{": ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%d %s", c.N, c.What)
	}
	return b.String()
}

// newEdit begins an Edit with counts of 0.
func newEdit(name string, whats ...string) *Edit {
	e := &Edit{Name: name}
	for _, what := range whats {
		e.Counts = append(e.Counts, Count{What: what})
	}
	return e
}

// each reads r and has change look at every row.
func (e *Edit) each(r Reader, change func(*Record)) *Edit {
	e.Reader = ReaderFunc(func(rec *Record) error {
		err := r.Read(rec)
		if err == nil {
			change(rec)
		}
		return err
	})
	return e
}

// keep reads the rows of r for which keep is true.
func (e *Edit) keep(r Reader, keep func(*Record) bool) *Edit {
	e.Reader = Filter(r, keep)
	return e
}

// Filter keeps the rows for which keep is true.
func Filter(r Reader, keep func(*Record) bool) Reader {
	return ReaderFunc(func(rec *Record) error {
		for {
			if err := r.Read(rec); err != nil {
				return err
			}
			if keep(rec) {
				return nil
			}
		}
	})
}

// Window keeps the rows that arrive in [from, to) and starts the trace at from;
// to 0 is open. Sessions are cut where the window cuts them.
func Window(r Reader, from, to time.Duration) Reader {
	if to == 0 {
		to = math.MaxInt64
	}
	kept := Filter(r, func(rec *Record) bool { return rec.Arrival >= from && rec.Arrival < to })
	return ReaderFunc(func(rec *Record) error {
		err := kept.Read(rec)
		rec.Arrival -= from
		return err
	})
}

// Speed plays r factor times as fast: arrivals, and the pauses of sessions
// (Think). What the requests are, and what came of them, stays.
func Speed(r Reader, factor float64) Reader {
	scale := func(d time.Duration) time.Duration {
		return time.Duration(math.Round(float64(d) / factor))
	}
	return ReaderFunc(func(rec *Record) error {
		if err := r.Read(rec); err != nil {
			return err
		}
		rec.Arrival = scale(rec.Arrival)
		rec.Think.V = scale(rec.Think.V)
		return nil
	})
}

// Shard keeps the i-th (from 0) of n parts. All rows of a session are in one
// part; a row without a session goes by its Seq.
func Shard(r Reader, i, n int) (Reader, error) {
	if n < 1 || i < 0 || i >= n {
		return nil, fmt.Errorf("shard %d of %d: must be at least 0 and below the number of shards", i, n)
	}
	return Filter(r, func(rec *Record) bool {
		h := fnv.New64a()
		if rec.Session.Known {
			io.WriteString(h, rec.Session.V)
		} else {
			fmt.Fprintf(h, "#%d", rec.Seq)
		}
		return int(h.Sum64()%uint64(n)) == i
	}), nil
}

// ErrUnsorted is wrapped by InOrder's error.
var ErrUnsorted = errors.New("rows are not in the order of arrival")

// InOrder fails at the first row that arrives before the one ahead of it.
func InOrder(r Reader) Reader {
	var last time.Duration
	first := true
	return ReaderFunc(func(rec *Record) error {
		if err := r.Read(rec); err != nil {
			return err
		}
		if !first && rec.Arrival < last {
			return fmt.Errorf("row with seq %d: %w", rec.Seq, ErrUnsorted)
		}
		first, last = false, rec.Arrival
		return nil
	})
}
