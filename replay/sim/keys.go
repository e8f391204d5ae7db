package sim

import (
	"math/rand/v2"

	"wavetank/traces"
)

// A chain makes the keys of a token sequence: one for each whole block, each of
// all tokens up to it.
type chain struct {
	keys []uint64
	last uint64
	n    int32 // tokens in the block that is not whole yet
	size int32 // tokens a block
}

func (c *chain) add(token uint64) {
	c.last = mix(c.last ^ token)
	if c.n++; c.n == c.size {
		c.keys = append(c.keys, c.last)
		c.n = 0
	}
}

// traceKeys appends the keys of a trace's prompt: its blocks of from tokens cut
// into whole blocks of size tokens. A block that the prompt's end cuts short
// counts as far as it goes, since an id names what follows from its start.
func traceKeys(keys []uint64, runs []traces.BlockRun, from, prompt, size int64) []uint64 {
	var key uint64
	known := int64(0) // tokens that the runs up to here cover
	end := size       // of the next whole block
	for _, run := range runs {
		if known >= prompt {
			break
		}
		start := known
		known += int64(run.Len) * from
		for ; end <= min(known, prompt); end += size {
			at := end - 1 - start
			key = mix(mix(key^(run.Start+uint64(at/from))) ^ uint64(at%from))
			keys = append(keys, key)
		}
	}
	return keys
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014) after one step of its counter,
// so that 0 does not stay 0.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// hash is 64-bit FNV-1a (Fowler, Noll and Vo).
func hash(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}

// stream returns the random numbers of one purpose for the nth request, which
// depend on nothing but seed, purpose and n.
func stream(seed uint64, purpose string, n uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, mix(hash(purpose)^mix(n))))
}
