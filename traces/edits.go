package traces

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"time"
)

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
