package reuse

import (
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"sort"

	"wavetank/traces"
)

// A Curve is the hit rate of LRU prefix caches of every size. Rates are shares of
// the blocks that were asked for.
type Curve struct {
	Requests int64 // that have blocks
	Blocks   int64 // they asked for, repeated ones included
	Unique   int64 // different ones: a cache of so many blocks never evicts

	steps []step
}

// From the distance at of a step to that of the next, each further block of
// capacity hits slope times more often.
type step struct{ at, hits, slope int64 }

// Curve is of the requests touched so far.
func (s *Stack) Curve() *Curve {
	c := &Curve{Requests: int64(len(s.from)), Blocks: s.blocks, Unique: s.owned.total()}
	var now step
	for _, at := range slices.Sorted(maps.Keys(s.hits)) {
		now.hits += now.slope * (at - now.at)
		now.at = at
		now.slope += s.hits[at]
		c.steps = append(c.steps, now)
	}
	return c
}

// Hits returns how many of the blocks an LRU cache of that many blocks has when
// they are asked for.
func (c *Curve) Hits(capacity int64) int64 {
	i := sort.Search(len(c.steps), func(i int) bool { return c.steps[i].at > capacity })
	if i == 0 {
		return 0
	}
	s := c.steps[i-1]
	return s.hits + s.slope*(capacity-s.at+1)
}

// Rate is Hits over Blocks; NaN where no request has blocks.
func (c *Curve) Rate(capacity int64) float64 { return float64(c.Hits(capacity)) / float64(c.Blocks) }

// Infinite is the Rate of a cache that never evicts.
func (c *Curve) Infinite() float64 { return c.Rate(math.MaxInt64 / 4) }

// Of reads r, a trace in the order of arrival that says m of itself, to its end.
func Of(r traces.Reader, m traces.Meta) (*Curve, error) {
	s := &Stack{PerSession: m.BlockScope == traces.ScopeSession}
	var rec traces.Record
	for {
		switch err := r.Read(&rec); {
		case errors.Is(err, io.EOF):
			return s.Curve(), nil
		case err != nil:
			return nil, err
		}
		if _, err := s.Touch(&rec); err != nil {
			return nil, err
		}
	}
}
