package sim

// A block is a piece of KV memory. While nobody holds it, it stands in the free
// list and what was computed in it stays findable until the block is taken.
type block struct {
	key        uint64
	next, prev int32
	refs       int32
	shared     bool // the index finds it by key
}

// A pool is the KV memory: blocks with reference counts, and the free ones in
// the order in which they were let go, the longest free first. blocks[0] is the
// list's end, no block.
type pool struct {
	blocks []block
	index  index
	free   int32
}

func newPool(n int32) *pool {
	p := &pool{blocks: make([]block, n+1), index: newIndex(n), free: n}
	for i := range p.blocks {
		p.blocks[i].prev, p.blocks[i].next = int32(i)-1, int32(i)+1
	}
	p.blocks[0].prev, p.blocks[n].next = n, 0
	return p
}

// alloc takes the longest free block and forgets what was in it. There must be one.
func (p *pool) alloc(key uint64) int32 {
	b := p.blocks[0].next
	blk := &p.blocks[b]
	if blk.shared {
		p.index.remove(p.blocks, blk.key)
		blk.shared = false
	}
	blk.key = key
	p.hold(b)
	return b
}

// hold counts one more holder of b.
func (p *pool) hold(b int32) {
	blk := &p.blocks[b]
	if blk.refs == 0 {
		p.blocks[blk.prev].next, p.blocks[blk.next].prev = blk.next, blk.prev
		p.free--
	}
	blk.refs++
}

// release lets every block of a sequence go, the last first: what follows a
// prefix is worth nothing without it, so the prefix must be taken later.
func (p *pool) release(held []int32) {
	for i := len(held) - 1; i >= 0; i-- {
		b := held[i]
		blk := &p.blocks[b]
		if blk.refs--; blk.refs > 0 {
			continue
		}
		last := p.blocks[0].prev
		blk.prev, blk.next = last, 0
		p.blocks[last].next, p.blocks[0].prev = b, b
		p.free++
	}
}

// publish makes a full block findable by key. The first of two equal ones stays.
func (p *pool) publish(b int32, key uint64) {
	found, slot := p.index.find(p.blocks, key)
	if found != 0 {
		return
	}
	p.blocks[b].key, p.blocks[b].shared = key, true
	p.index.slots[slot] = b
	p.index.len++
}

// keeps says whether private block b still holds what it did under key.
func (p *pool) keeps(b int32, key uint64) bool {
	return p.blocks[b].key == key && !p.blocks[b].shared
}
