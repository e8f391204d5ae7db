package fit

import (
	"maps"
	"math"
	"slices"
)

const (
	exactBelow = 128     // tokens; from there a bin is 1 % wide
	exactMemo  = 1 << 20 // tokens; longer ones are remembered to 1 %, so that memory is bounded
	binRatio   = 1.01
)

// counts says how often each length occurred. It holds no row, and two of them are
// merged by adding.
type counts map[int32]int64

func (c counts) add(v int32) {
	if v >= exactMemo {
		_, hi := tokenBin(v)
		v = hi
	}
	c[v]++
}

func (c counts) n() (n int64) {
	for _, k := range c {
		n += k
	}
	return n
}

// tokenBin returns the least and the greatest length of v's bin.
func tokenBin(v int32) (lo, hi int32) {
	if v < exactBelow {
		return v, v
	}
	i := math.Floor(math.Log(float64(v)/exactBelow) / math.Log(binRatio))
	start := func(i float64) float64 { return math.Ceil(exactBelow * math.Pow(binRatio, i)) }
	if start(i+1) <= float64(v) {
		i++
	}
	return int32(start(i)), int32(min(start(i+1)-1, math.MaxInt32))
}

// exact is every length on its own.
func (c counts) exact() Sample {
	s := Sample{Lo: .5, Hi: math.Inf(1)}
	for _, v := range slices.Sorted(maps.Keys(c)) {
		s.Bins = append(s.Bins, Bin{float64(v) - .5, float64(v) + .5, float64(c[v])})
	}
	return s
}

// binned is what likelihoods are taken of: its size does not grow with the trace.
func binned(s Sample) Sample {
	out := Sample{Lo: s.Lo, Hi: s.Hi}
	for _, b := range s.Bins {
		lo, hi := tokenBin(int32(b.Hi))
		bin := Bin{float64(lo) - .5, min(float64(hi)+.5, s.Hi), b.N}
		if last := len(out.Bins) - 1; last >= 0 && out.Bins[last].Lo == bin.Lo {
			out.Bins[last].N += bin.N
			continue
		}
		out.Bins = append(out.Bins, bin)
	}
	return out
}
