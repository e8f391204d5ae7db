package traces

import (
	"errors"
	"io"
	"os"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/ipc"
)

const (
	sortRows   = 32768 // held in memory; about 1 KB a row
	spillRows  = 1024  // a batch of a spilled run: what a merge holds of each
	mergeWidth = 128   // runs merged at once: bounds memory and open files
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
}

// Sort reads src to its end before the first Read returns. What does not fit in
// memory goes through files in dir (the system's own if empty), which Close and
// the end of the rows remove.
func Sort(src Reader, dir string) *Sorted {
	return &Sorted{src: src, dir: dir, limit: sortRows}
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
		chunk, n, err := s.chunk()
		if err != nil {
			return err
		}
		if n < s.limit && len(s.runs) == 0 {
			s.rows = chunk
			return nil
		}
		if n > 0 {
			if err := s.spill(chunk); err != nil {
				return err
			}
		}
		if n < s.limit {
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
// Record is a kilobyte.
func (s *Sorted) chunk() (sorted Reader, n int, err error) {
	for n < s.limit {
		if n == len(s.held) {
			s.held = append(s.held, Record{})
		}
		err := s.src.Read(&s.held[n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		s.known |= knownTo(&s.held[n])
		n++
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
	}), n, nil
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
	// LZ4, since what is read again at once need not be as small as can be.
	enc, err := newEncoderAs(f, s.known, Meta{}, ipc.WithLZ4())
	if err != nil {
		return err
	}
	if err := enc.copy(rows, spillRows); err != nil {
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
