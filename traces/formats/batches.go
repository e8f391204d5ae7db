package formats

import (
	"time"

	"wavetank/traces"
)

// ReadBatch returns the next rows by columns, which need never be Records, or nil
// where the next one is to be had by Read: that of a format whose rows depend on those
// before them, and those of the first block. A log gives the same rows, rejects and
// Meta either way.
func (s *Source) ReadBatch() (*traces.Batch, error) {
	if s.document.parse != nil || s.in.inOrder != nil {
		return nil, nil
	}
	for s.err == nil {
		if s.next < len(s.block.rows) {
			return nil, nil
		}
		s.err = s.nextBlock(true)
		if s.err == nil && s.block.wanted && s.placeBatch() {
			return &s.block.batch, nil
		}
	}
	return nil, s.err
}

// placeBatch gives the rows of the block their place in the trace, and rejects the
// others up to one that ends the log, which is left for Read. It returns false if
// there are none.
func (s *Source) placeBatch() bool {
	b := s.block
	for s.next < len(b.rows) && isRowError(b.rows[s.next].err) {
		s.take()
	}
	n := int64(b.batch.Rows())
	if n == 0 {
		return false
	}
	if s.emitted == 0 {
		s.base = b.first
	}
	s.grid = min(s.grid, b.grid)
	s.earliest = min(s.earliest, time.Duration(b.least-s.base))
	b.batch.Place(uint64(s.emitted), time.Duration(-s.base), uint64(s.before))
	s.read += n
	s.emitted += n
	return true
}

// coarsest is the grid on which stamps are until one is not.
const coarsest = int64(time.Second)

// gridOf returns the coarsest decimal grid on which a stamp is, from grid on.
func gridOf(stamp, grid int64) int64 {
	fits := false
	switch grid { // what is known beforehand takes a third of the time to divide by
	case 100:
		fits = stamp%100 == 0
	case 1e3:
		fits = stamp%1e3 == 0
	case 1e6:
		fits = stamp%1e6 == 0
	}
	for !fits && stamp%grid != 0 {
		grid /= 10
	}
	return grid
}
