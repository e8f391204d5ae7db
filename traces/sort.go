package traces

import (
	"errors"
	"io"
	"os"
	"slices"
)

const (
	sortRows   = 32768 // held in memory; about 1 KB a row
	spillRows  = 1024  // a batch of a spilled run: what a merge holds of each
	mergeWidth = 128   // runs merged at once: bounds memory and open files

	sortBytes  = 256 << 20 // of bodies, held in memory
	spillBytes = 2 << 20   // of bodies, in a batch of a spilled run
)

// Sorted is a Reader of the rows of another, in the order of a trace file: by
// arrival, then Seq, equal ones as they came.
type Sorted struct {
	src   Reader
	dir   string
	runs  []*spill
	held  []Record
	known columnSet // to any row so far
	rows  Reader
	limit int

	limitBytes int64
	batch      int // rows of a spilled batch
}

// Sort reads src to its end before the first Read returns. What does not fit in
// memory goes through files in dir (the system's own if empty), which Close and
// the end of the rows remove.
func Sort(src Reader, dir string) *Sorted {
	return &Sorted{src: src, dir: dir, limit: sortRows, limitBytes: sortBytes, batch: spillRows}
}

// Read fills rec with the next row.
func (s *Sorted) Read(rec *Record) error {
	if s.rows == nil {
		if err := s.sort(); err != nil {
			return err
		}
	}
	return s.rows.Read(rec)
}

func (s *Sorted) sort() error {
	for {
		chunk, n, last, err := s.chunk()
		if err != nil {
			return err
		}
		if last && len(s.runs) == 0 {
			s.rows = chunk
			return nil
		}
		if n > 0 {
			if err := s.spill(chunk); err != nil {
				return err
			}
		}
		if last {
			s.rows, err = s.merged()
			return err
		}
		if len(s.runs) == mergeWidth {
			if err := s.mergeRuns(); err != nil {
				return err
			}
		}
	}
}

// chunk reads as many rows as may be held, and returns them sorted. They are held
// in place of the chunk's before it, and their order is sorted in place of them: a
// Record is a kilobyte. last says that there are no more.
func (s *Sorted) chunk() (sorted Reader, n int, last bool, err error) {
	bodies := int64(0)
	for n < s.limit && bodies < s.limitBytes {
		if n == len(s.held) {
			s.held = append(s.held, Record{})
		}
		err := s.src.Read(&s.held[n])
		if errors.Is(err, io.EOF) {
			last = true
			break
		}
		if err != nil {
			return nil, 0, false, err
		}
		s.known |= knownTo(&s.held[n])
		bodies += int64(len(s.held[n].Body))
		n++
	}
	if bodies > 0 {
		s.batch = max(1, min(s.batch, int(spillBytes*int64(n)/bodies)))
	}
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		switch x, y := &s.held[a], &s.held[b]; {
		case before(x, y):
			return -1
		case before(y, x):
			return 1
		}
		return int(a - b) // equal ones as they came
	})
	return ReaderFunc(func(rec *Record) error {
		if len(order) == 0 {
			return io.EOF
		}
		*rec, order = s.held[order[0]], order[1:]
		return nil
	}), n, last, nil
}

// mergeRuns replaces the runs by one.
func (s *Sorted) mergeRuns() error {
	old := s.runs
	all, err := s.merged()
	if err != nil {
		return err
	}
	s.runs = nil
	err = s.spill(all)
	for _, r := range old {
		err = errors.Join(err, r.remove())
	}
	return err
}

// A spill is a sorted run in a temporary file.
type spill struct{ f *os.File }

func (s *Sorted) spill(rows Reader) error {
	f, err := os.CreateTemp(s.dir, ".wavetank-sort-*")
	if err != nil {
		return err
	}
	r := &spill{f}
	s.runs = append(s.runs, r)
	enc, err := newEncoder(f, s.known, Meta{})
	if err != nil {
		return err
	}
	if err := enc.copy(rows, s.batch); err != nil {
		return err
	}
	return enc.close(Meta{})
}

func (r *spill) remove() error {
	return errors.Join(r.f.Close(), os.Remove(r.f.Name()))
}

func (s *Sorted) merged() (Reader, error) {
	rs := make([]Reader, len(s.runs))
	for i, r := range s.runs {
		if _, err := r.f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		dec, err := newDecoder(r.f)
		if err != nil {
			return nil, err
		}
		rs[i] = dec
	}
	return interleave(rs), nil
}

// Close removes what was spilled.
func (s *Sorted) Close() error {
	var err error
	for _, r := range s.runs {
		err = errors.Join(err, r.remove())
	}
	s.runs = nil
	return err
}
