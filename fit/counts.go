package fit

import (
	"maps"
	"math"
	"slices"
	"time"
)

const (
	exactBelow = 128     // tokens; from there a bin is 1 % wide
	exactMemo  = 1 << 20 // tokens; longer ones are remembered to 1 %, so that memory is bounded
	binRatio   = 1.01

	likelyBelow = 32 // tokens; from there the bin of a likelihood is 3 % wide
	likelyRatio = 1.03
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

// observed are lengths: whole ones, and those that a limit cut, by the limit. Of a cut
// one it is known only that it would have been at least that long.
type observed struct{ whole, cut counts }

func newObserved() observed { return observed{make(counts), make(counts)} }

func (o observed) add(v int32, cut bool) {
	if cut {
		o.cut.add(v)
		return
	}
	o.whole.add(v)
}

// foldBlock is how long requests go to one fold before they go to the other. Folds by
// turns would see the same bursts, and so hold nothing out.
const foldBlock = time.Minute

// folded are lengths by alternating blocks of time.
type folded [2]observed

func newFolded() folded { return folded{newObserved(), newObserved()} }

// add counts a length of a request that came at t.
func (f folded) add(t time.Duration, v int32, cut bool) { f[t/foldBlock%2].add(v, cut) }

func (f folded) n() int64 { return f.whole() + f.cut() }

func (f folded) whole() int64 { return f[0].whole.n() + f[1].whole.n() }

func (f folded) cut() int64 { return f[0].cut.n() + f[1].cut.n() }

// uncut takes the limits for lengths.
func (f folded) uncut() folded {
	out := newFolded()
	for i := range f {
		for _, c := range []counts{f[i].whole, f[i].cut} {
			for v, n := range c {
				out[i].whole[v] += n
			}
		}
	}
	return out
}

// tokenBin returns the least and the greatest length of v's bin.
func tokenBin(v int32) (lo, hi int32) { return ratioBin(v, exactBelow, binRatio) }

func ratioBin(v int32, exact, ratio float64) (lo, hi int32) {
	if float64(v) < exact {
		return v, v
	}
	i := math.Floor(math.Log(float64(v)/exact) / math.Log(ratio))
	start := func(i float64) float64 { return math.Ceil(exact * math.Pow(ratio, i)) }
	if start(i+1) <= float64(v) {
		i++
	}
	return int32(start(i)), int32(min(start(i+1)-1, math.MaxInt32))
}

// exact is every length on its own.
func (c counts) exact() Sample { return folded{{whole: c}}.exact() }

func (f folded) exact() Sample {
	all, _ := f.each()
	return all
}

// each is every length on its own, of both folds and of either. The three have the
// same bins, and the same limits.
func (f folded) each() (all Sample, either [2]Sample) {
	all = Sample{Lo: .5, Hi: math.Inf(1)}
	for _, v := range inOrder(f[0].whole, f[1].whole) {
		bin := Bin{Lo: float64(v) - .5, Hi: float64(v) + .5}
		for i := range f {
			n := float64(f[i].whole[v])
			bin.N += n
			either[i].Bins = append(either[i].Bins, Bin{bin.Lo, bin.Hi, n})
		}
		all.Bins = append(all.Bins, bin)
	}
	for _, v := range inOrder(f[0].cut, f[1].cut) {
		over := Over{Above: float64(v) - .5}
		for i := range f {
			n := float64(f[i].cut[v])
			over.N += n
			either[i].Over = append(either[i].Over, Over{over.Above, n})
		}
		all.Over = append(all.Over, over)
	}
	return all, either
}

// inOrder returns every length of both, ascending and once.
func inOrder(a, b counts) []int32 {
	lengths := slices.AppendSeq(make([]int32, 0, len(a)+len(b)), maps.Keys(a))
	lengths = slices.AppendSeq(lengths, maps.Keys(b))
	slices.Sort(lengths)
	return slices.Compact(lengths)
}

// binned groups s to 1 %: its size does not grow with the trace.
func binned(s Sample) Sample { return s.group(tokenBin) }

// likely groups s to what likelihoods are taken of.
func likely(s Sample) Sample {
	return s.group(func(v int32) (lo, hi int32) { return ratioBin(v, likelyBelow, likelyRatio) })
}

func (s Sample) group(bin func(int32) (lo, hi int32)) Sample {
	out := Sample{Lo: s.Lo, Hi: s.Hi}
	var to Bin
	into := func(v float64) Bin { // bins come in order, so that most ask for the last one again
		if !(v > to.Lo && v < to.Hi) {
			lo, hi := bin(int32(v))
			to = Bin{float64(lo) - .5, min(float64(hi)+.5, s.Hi), 0}
		}
		return to
	}
	for _, b := range s.Bins {
		if b.N == 0 {
			continue
		}
		grouped := into(b.Hi - .5)
		if last := len(out.Bins) - 1; last >= 0 && out.Bins[last].Lo == grouped.Lo {
			out.Bins[last].N += b.N
			continue
		}
		grouped.N = b.N
		out.Bins = append(out.Bins, grouped)
	}
	for _, o := range s.Over {
		if o.N == 0 {
			continue
		}
		lo := into(o.Above + .5).Lo
		if last := len(out.Over) - 1; last >= 0 && out.Over[last].Above >= lo {
			out.Over[last].N += o.N
			continue
		}
		out.Over = append(out.Over, o)
	}
	return out
}
