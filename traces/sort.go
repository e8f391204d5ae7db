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
)

// Sorted is a Reader of the rows of another, in the order of a trace file: by
// arrival, then Seq, equal ones as they came.
type Sorted struct {
	src   Reader
	dir   string
	runs  []*spill
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
		chunk, err := s.chunk()
		if err != nil {
			return err
		}
		if len(chunk) < s.limit && len(s.runs) == 0 {
			s.rows = FromSlice(chunk)
			return nil
		}
		if len(chunk) > 0 {
			if err := s.spill(FromSlice(chunk)); err != nil {
				return err
			}
		}
		if len(chunk) < s.limit {
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

// chunk reads and sorts as many rows as may be held.
func (s *Sorted) chunk() ([]Record, error) {
	chunk := make([]Record, 0, 64)
	var rec Record
	for len(chunk) < s.limit {
		err := s.src.Read(&rec)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		chunk = append(chunk, rec)
	}
	slices.SortStableFunc(chunk, compare)
	return chunk, nil
}

func compare(a, b Record) int {
	switch {
	case before(&a, &b):
		return -1
	case before(&b, &a):
		return 1
	}
	return 0
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
	enc, err := newEncoder(f, allColumns, Meta{})
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
