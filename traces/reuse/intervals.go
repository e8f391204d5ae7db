package reuse

import (
	"cmp"
	"slices"
)

// An interval is n consecutive ids that one request touched last, the first of
// them at some depth of its prompt. It does not go on behind the last id.
type interval struct {
	start           uint64
	n, owner, depth uint32
}

func (iv interval) last() uint64 { return iv.start + uint64(iv.n-1) }

// intervals are disjoint and in order, in chunks: an insertion moves a chunk, and
// seldom the list of them. A balanced tree would be twice the code and no faster
// up to some ten million.
type intervals struct {
	chunks [][]interval
	n      int
}

const chunkRuns = 256

// at returns the place of the first interval that ends at or behind x, or the end
// of the chunk in which it would be.
func (v *intervals) at(x uint64) (chunk, i int) {
	chunk, found := slices.BinarySearchFunc(v.chunks, x, func(c []interval, x uint64) int { return cmp.Compare(c[0].start, x) })
	if !found && chunk > 0 {
		chunk--
	}
	i, _ = slices.BinarySearchFunc(v.chunks[chunk], x, func(iv interval, x uint64) int { return cmp.Compare(iv.last(), x) })
	return chunk, i
}

// holding returns the interval with x in it.
func (v *intervals) holding(x uint64) (iv interval, ok bool) {
	if len(v.chunks) == 0 {
		return iv, false
	}
	c, i := v.at(x)
	if i == len(v.chunks[c]) {
		return iv, false
	}
	iv = v.chunks[c][i]
	return iv, iv.start <= x
}

// free tells whether no interval has any of the n ids from start.
func (v *intervals) free(start uint64, n uint32) bool {
	if len(v.chunks) == 0 {
		return true
	}
	c, i := v.at(start)
	if i == len(v.chunks[c]) {
		if c, i = c+1, 0; c == len(v.chunks) {
			return true
		}
	}
	return v.chunks[c][i].start > start+uint64(n-1)
}

// assign puts in an interval and cuts away what it covers of others.
func (v *intervals) assign(iv interval) {
	if len(v.chunks) == 0 {
		v.chunks, v.n = [][]interval{{iv}}, 1
		return
	}
	c, i := v.at(iv.start)
	var put [3]interval
	in := put[:0]
	if i < len(v.chunks[c]) {
		if left := v.chunks[c][i]; left.start < iv.start {
			left.n = uint32(iv.start - left.start)
			in = append(in, left)
		}
	}
	in = append(in, iv)
	if right, ok := v.clear(c, i, iv.last()); ok {
		in = append(in, right)
	}
	v.n += len(in)
	v.chunks[c] = slices.Insert(v.chunks[c], i, in...)
	if chunk := v.chunks[c]; len(chunk) > chunkRuns {
		half := len(chunk) / 2
		v.chunks = slices.Insert(v.chunks, c+1, slices.Clone(chunk[half:]))
		v.chunks[c] = chunk[:half]
	}
}

// clear takes out the intervals from a place on that start at or before last,
// and returns what one of them has behind it.
func (v *intervals) clear(chunk, i int, last uint64) (right interval, ok bool) {
	k, done := chunk, false
	for ; k < len(v.chunks) && !done; k++ {
		list, to := v.chunks[k], i
		for ; to < len(list) && list[to].start <= last; to++ {
			if iv := list[to]; iv.last() > last {
				cut := uint32(last - iv.start + 1)
				right, ok = interval{last + 1, iv.n - cut, iv.owner, iv.depth + cut}, true
			}
		}
		done = to < len(list)
		v.n -= to - i
		v.chunks[k] = slices.Delete(list, i, to)
		i = 0
	}
	gone := chunk + 1
	for gone < k && len(v.chunks[gone]) == 0 {
		gone++
	}
	v.chunks = slices.Delete(v.chunks, chunk+1, gone)
	return right, ok
}
