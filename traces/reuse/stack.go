// Package reuse follows block ids through a trace: the hit rates of every LRU
// prefix cache at once, exactly, and the chains that growing prefixes make.
package reuse

import (
	"errors"
	"fmt"

	"wavetank/traces"
)

// ErrUnchained is wrapped by Touch's error where an id stands behind two
// different prefixes: the ids then do not name prefixes, and no prefix cache can
// be told from them.
var ErrUnchained = errors.New("block ids do not name prefixes")

// ErrTooMany is wrapped by Touch's error where there are more runs of ids than a
// Stack holds.
var ErrTooMany = errors.New("too many runs of block ids")

// maxRuns bounds the memory of a Stack: 16 million runs are 400 MB.
const maxRuns = 1 << 24

// A Stack is every least-recently-used cache of prompt blocks at once (Mattson et
// al., Evaluation techniques for storage hierarchies, IBM Systems Journal 9,
// 1970). A request finds its leading blocks in a cache or not, and then touches
// all of its blocks, the last one first: so servers free a prompt's blocks, and a
// block is never in a cache that lacks the ones before it.
//
// Requests must be touched in the order of their arrival. All of a request's
// blocks count as one access at one instant: blocks that running requests hold,
// and those that an answer adds, are not modelled.
//
// Later requests take only prefixes of an earlier one, so each request still owns
// a suffix of its blocks, and the cache is the requests by recency, each with its
// suffix. That makes one step of a whole run of ids: memory is 24 bytes a run that
// somebody owns, 12 a request, and 16 or so for each different stack distance,
// however many blocks the runs are.
//
// The zero Stack is ready for ids of one scope.
type Stack struct {
	PerSession bool // equal ids of different sessions are different blocks (traces.Meta.BlockScope is session)

	spaces map[string]*intervals // by session; "" if ids are global
	lone   intervals             // of a request that has nothing to share
	runs   int                   // in all of spaces
	owned  fenwick               // blocks of each request that no later one has touched
	from   []uint32              // the depth of the first of them
	hits   map[int64]int64       // by stack distance: change of the number of hits from the distance below
	blocks int64
	pieces []piece // of the request at hand
	err    error
}

// A piece is a part of a request that an earlier one touched last.
type piece struct {
	owner uint32
	n     int64
}

// A Hit is what an unbounded cache had of a request.
type Hit struct {
	Blocks int64 // leading blocks that were seen before
	Owner  int   // the last request before, counted from 0 among those with blocks, that touched the last of them; -1 if there is none
}

// Touch has a request find its blocks and touch them. A request without any does
// nothing. After an error the Stack is of no more use.
func (s *Stack) Touch(rec *traces.Record) (Hit, error) {
	none := Hit{Owner: -1}
	if s.err != nil || len(rec.Blocks) == 0 {
		return none, s.err
	}
	space := s.space(rec)
	before := space.n
	seen, err := s.find(space, rec.Blocks)
	var depth int64
	if err == nil {
		depth, err = s.take(space, rec.Blocks, seen)
	}
	if space != &s.lone {
		s.runs += space.n - before
	}
	if err == nil && s.runs > maxRuns {
		err = fmt.Errorf("%w: over %d", ErrTooMany, maxRuns)
	}
	if err != nil {
		s.err = fmt.Errorf("row with seq %d: %w", rec.Seq, err)
		return none, s.err
	}
	s.blocks += depth
	if seen == 0 {
		return none, nil
	}
	return Hit{seen, int(s.pieces[len(s.pieces)-1].owner)}, nil
}

// space is where a request's ids mean something. In a trace whose ids are a
// session's own, a request without a session shares none.
func (s *Stack) space(rec *traces.Record) *intervals {
	if s.spaces == nil {
		s.spaces, s.hits = make(map[string]*intervals), make(map[int64]int64)
	}
	name := ""
	if s.PerSession {
		if name = rec.Session.V; !rec.Session.Known {
			s.lone = intervals{}
			return &s.lone
		}
	}
	space := s.spaces[name]
	if space == nil {
		space = &intervals{}
		s.spaces[name] = space
	}
	return space
}

// find counts the request's leading blocks that space has, notes their stack
// distances and whose they were.
func (s *Stack) find(space *intervals, runs []traces.BlockRun) (depth int64, err error) {
	s.pieces = s.pieces[:0]
	var distance int64 // of the piece's first block
	for _, run := range runs {
		for x, n := run.Start, int64(run.Len); n > 0; {
			iv, ok := space.holding(x)
			if !ok {
				return depth, nil // chained ids: all deeper blocks are new, too
			}
			k := min(n, int64(iv.n)-int64(x-iv.start))
			if last := len(s.pieces) - 1; last >= 0 && s.pieces[last].owner == iv.owner {
				distance += s.pieces[last].n
			} else {
				distance = s.owned.total() - s.owned.upTo(int(iv.owner)) + 1
			}
			if int64(iv.depth)+int64(x-iv.start) != depth || int64(s.from[iv.owner]) != depth {
				return 0, fmt.Errorf("id %d at depth %d: %w", x, depth, ErrUnchained)
			}
			s.hits[distance]++
			s.hits[distance+k]--
			s.pieces = append(s.pieces, piece{iv.owner, k})
			depth += k
			s.from[iv.owner] = uint32(depth)
			x, n = x+uint64(k), n-k
		}
	}
	return depth, nil
}

// take makes all blocks of a request, of which seen have been found, its own.
func (s *Stack) take(space *intervals, runs []traces.BlockRun, seen int64) (depth int64, err error) {
	for _, p := range s.pieces {
		s.owned.add(int(p.owner), -p.n)
	}
	me := uint32(len(s.from))
	for _, run := range runs {
		for _, part := range split(run) {
			n := int64(part.Len)
			if n == 0 {
				continue
			}
			if fresh := n - max(0, min(n, seen-depth)); fresh > 0 && !space.free(part.Start+uint64(n-fresh), uint32(fresh)) {
				return 0, fmt.Errorf("ids %d to %d, not all of them new: %w", part.Start, part.Start+uint64(n-1), ErrUnchained)
			}
			if depth+n > 1<<32-1 {
				return 0, fmt.Errorf("a prompt of over %d blocks", 1<<32-1)
			}
			space.assign(interval{start: part.Start, n: part.Len, owner: me, depth: uint32(depth)})
			depth += n
		}
	}
	s.from = append(s.from, 0)
	s.owned.append(depth)
	return depth, nil
}

// split cuts a run that goes on at id 0 behind the last one.
func split(run traces.BlockRun) [2]traces.BlockRun {
	if left := -run.Start; left != 0 && left < uint64(run.Len) {
		return [2]traces.BlockRun{{Start: run.Start, Len: uint32(left)}, {Start: 0, Len: run.Len - uint32(left)}}
	}
	return [2]traces.BlockRun{run}
}
