package formats

import (
	"bytes"
	"math"
	"strconv"

	"wavetank/traces"
)

// blockIDs is a JSON list of ids as runs, with all 64 bits of each: a slice of
// the ids themselves would be most of a log's memory.
type blockIDs struct {
	runs  []traces.BlockRun
	n     int
	known bool
}

// UnmarshalJSON reads a list of whole numbers, or null.
func (b *blockIDs) UnmarshalJSON(raw []byte) error {
	*b = blockIDs{}
	if string(raw) == "null" {
		return nil
	}
	rest, ok := bytes.CutPrefix(raw, []byte("["))
	if !ok {
		return inField("hash_ids", rejectf(BadValue, "%q where a list of ids must be", clip(raw)))
	}
	b.known = true
	for rest = trimJSON(rest); rest[0] != ']'; {
		digits := countDigits(rest)
		id, err := strconv.ParseUint(string(rest[:digits]), 10, 64)
		after := trimJSON(rest[digits:])
		if err != nil || after[0] != ',' && after[0] != ']' {
			return inField("hash_ids", rejectf(BadValue, "%q where an id must be, a whole number of 64 bits", clip(rest)))
		}
		b.runs = appendID(b.runs, id)
		b.n++
		rest = trimJSON(bytes.TrimPrefix(after, []byte(",")))
	}
	return nil
}

// trimJSON steps over the space of valid JSON.
func trimJSON(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	return b
}

// each calls f for every id.
func (b *blockIDs) each(f func(id uint64)) {
	for _, run := range b.runs {
		for i := range uint64(run.Len) {
			f(run.Start + i)
		}
	}
}

// appendID adds an id to runs.
func appendID(runs []traces.BlockRun, id uint64) []traces.BlockRun { return appendRun(runs, id, 1) }

// appendRun adds n ids from start on to runs.
func appendRun(runs []traces.BlockRun, start uint64, n uint32) []traces.BlockRun {
	if n == 0 {
		return runs
	}
	if k := len(runs); k > 0 {
		// The id 0 follows on no other, though 2^64-1 plus one is 0.
		if last := &runs[k-1]; last.Start+uint64(last.Len) == start && start > 0 && last.Len <= math.MaxUint32-n {
			last.Len += n
			return runs
		}
	}
	return append(runs, traces.BlockRun{Start: start, Len: n})
}

// A chain turns ids of contents into ids of prefixes: equal ids of equal prefixes
// and of nothing else. It holds one entry for each distinct prefix.
type chain struct {
	first  map[uint64]uint64    // the prefix before an id's first place
	nodes  map[chainLink]uint64 // all other places
	blocks uint64               // numbers given to prefixes of whole blocks
	parts  uint64               // and to those that are no id of a block, from notSource on
}

// A chainLink is a piece of content behind a prefix.
type chainLink struct {
	before   uint64
	id       uint64
	from, to int32 // tokens of the content; 0, 0: a whole block
}

const (
	chainStart = math.MaxUint64
	notSource  = 1 << 63
)

func newChain() *chain {
	return &chain{first: make(map[uint64]uint64), nodes: make(map[chainLink]uint64)}
}

// keep returns the id itself at the place where it first appeared, and a number
// from notSource on behind any other prefix: what are prefix ids already stay as
// they are.
func (c *chain) keep(before, id uint64) uint64 {
	first, ok := c.first[id]
	switch {
	case id >= notSource || ok && first != before:
		return c.part(chainLink{before: before, id: id})
	case !ok:
		c.first[id] = before
	}
	return id
}

// block returns the number of the prefix that ends with l and fills a block, in the
// order in which they first appear.
func (c *chain) block(l chainLink) uint64 { return c.number(l, &c.blocks, 0) }

// part returns a number of the prefix that ends with l and is no block's.
func (c *chain) part(l chainLink) uint64 { return c.number(l, &c.parts, notSource) }

func (c *chain) number(l chainLink, count *uint64, base uint64) uint64 {
	n, ok := c.nodes[l]
	if !ok {
		n = base + *count
		c.nodes[l] = n
		*count++
	}
	return n
}
