package sim

import (
	"math/rand/v2"
	"testing"
)

// An index is a map, however its keys collide.
func TestIndexIsAMap(t *testing.T) {
	for _, spread := range []uint64{8, 64, 1 << 62} {
		const n = 40
		rng := rand.New(rand.NewPCG(spread, 1))
		x, blocks, want := newIndex(n), make([]block, n+1), map[uint64]int32{}
		for range 20_000 {
			// The multiplier's inverse makes neighbours of small numbers.
			key := rng.Uint64N(spread) * 0xf1de83e19937733d
			b := int32(1 + rng.IntN(n))
			switch found, slot := x.find(blocks, key); {
			case found != want[key]:
				t.Fatalf("block %d under key %x, want %d", found, key, want[key])
			case found != 0:
				x.remove(blocks, key)
				blocks[found] = block{}
				delete(want, key)
			case !blocks[b].shared:
				blocks[b] = block{key: key, shared: true}
				x.slots[slot], want[key] = b, b
				x.len++
			}
			if x.len != len(want) {
				t.Fatalf("%d blocks, want %d", x.len, len(want))
			}
		}
	}
}
