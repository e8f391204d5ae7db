package sim

import "math/bits"

// An index finds shared blocks by key: a hash table with linear probing whose
// slots are block numbers, 0 where there is none. A Go map of the same would
// take most of a run's time: a prompt of 100,000 tokens is 6,250 look-ups.
type index struct {
	slots []int32
	shift int
	len   int
}

// newIndex returns an index for n blocks, at most half full.
func newIndex(n int32) index {
	size := bits.Len32(uint32(n)) + 1
	return index{slots: make([]int32, 1<<size), shift: 64 - size}
}

// home is the slot where the search for key begins (Knuth's multiplicative hashing).
func (x *index) home(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> x.shift) }

func (x *index) next(slot int) int { return (slot + 1) & (len(x.slots) - 1) }

// find returns the block under key, or 0, and the slot where it is or would be.
func (x *index) find(blocks []block, key uint64) (b int32, slot int) {
	slot = x.home(key)
	for ; x.slots[slot] != 0; slot = x.next(slot) {
		if b := x.slots[slot]; blocks[b].key == key {
			return b, slot
		}
	}
	return 0, slot
}

// remove takes the block under key out, and moves those that were pushed past
// its slot up, so that no search stops short of them.
func (x *index) remove(blocks []block, key uint64) {
	_, hole := x.find(blocks, key)
	x.len--
	for slot := x.next(hole); x.slots[slot] != 0; slot = x.next(slot) {
		home := x.home(blocks[x.slots[slot]].key)
		// It may stay only if its home lies after the hole, up to where it is.
		if mask := len(x.slots) - 1; (slot-home)&mask >= (slot-hole)&mask {
			x.slots[hole], hole = x.slots[slot], slot
		}
	}
	x.slots[hole] = 0
}
