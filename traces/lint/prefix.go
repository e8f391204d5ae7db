package lint

import (
	"errors"
	"math"

	"wavetank/traces/reuse"
)

// Reuse says how many of the prompts' blocks are in a prefix cache when they are
// asked for (package reuse), as shares of all blocks of rows with any. Blocks that
// answers add, and prompts that are evicted while they run, are not counted.
type Reuse struct {
	Unique   *int64   `json:"unique"`   // different blocks; nil where there are none, or ids do not name prefixes
	Infinite *float64 `json:"infinite"` // hit rate of a cache that never evicts
	LRU      []LRU    `json:"lru"`      // of caches of 1, 2, 5, 10, ... blocks from 100 up to all; none where the rows are not sorted
	Why      string   `json:"why,omitempty"`
}

// LRU is the hit rate of a least-recently-used cache.
type LRU struct {
	Blocks  int64   `json:"blocks"`
	HitRate float64 `json:"hit_rate"`
}

// leastCache is one prompt or so: smaller caches are of no use to anybody.
const leastCache = 100

func (s *scan) reuse() Reuse {
	r := Reuse{LRU: []LRU{}}
	switch {
	case s.stack == nil:
		return r
	case s.stackErr != nil:
		r.Why = s.stackErr.Error()
		return r
	}
	c := s.stack.Curve()
	if c.Blocks == 0 {
		return r
	}
	r.Unique, r.Infinite = &c.Unique, known(c.Infinite())
	if s.falls > 0 {
		r.Why = "the rows are not in the order of arrival"
		return r
	}
	for n := int64(leastCache); n < c.Unique && n < math.MaxInt64/10; n *= 10 {
		for _, k := range []int64{n, 2 * n, 5 * n} {
			if k < c.Unique {
				r.LRU = append(r.LRU, LRU{k, c.Rate(k)})
			}
		}
	}
	return r
}

func findUnchained(s *scan) []Finding {
	if !errors.Is(s.stackErr, reuse.ErrUnchained) {
		return nil
	}
	return []Finding{{"unchained", s.stackErr.Error(),
		"ids of blocks stand for their own text and not for the prefix up to it, or are of several scopes: no prefix cache can be told from them, and a replay makes other prefixes of them",
		"convert the source again with the format that it is of, or leave the blocks out"}}
}
