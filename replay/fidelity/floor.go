package fidelity

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// blocks is how many a trace is cut into. They must be long beside what makes
	// arrivals bunch, and short beside what the load does by and by.
	blocks   = 60
	maxBlock = 10 * time.Minute

	// reach is how many blocks from its place one may come from.
	reach = 2.5

	confidence = .95
)

func blockOf(span time.Duration) time.Duration { return min(max(span/blocks, 1), maxBlock) }

// floor finds what chance alone does to every figure: A is drawn twice from blocks
// of its own, as long as A and as long as B, and the two are held against each
// other. Each block comes from the neighbourhood of its place (the local block
// bootstrap of Paparoditis and Politis, 2002), so that the course of the load, its
// slow rise and change of mix, stays what it was: drawn from anywhere, traffic that
// drifts is so far from itself that nothing is further. A figure's floor is so
// many times the root mean square of what it does there that in 95 % of the draws
// no figure of its group is above its floor: a group has many figures, and one of
// them would be above a floor of its own by chance.
func (c *comparison) floor() error {
	all := make([][]float64, c.Resamples)
	parallel(c.Resamples, func(i int) {
		rng := newRand(c.Seed, "floor", uint64(i))
		a, b := c.ref.redraw(c.ref.span, c.block, rng), c.ref.redraw(min(c.ref.span, c.first.span), c.block, rng)
		all[i] = c.apart(c.survey.sum(a), c.survey.sum(b))
	})
	c.floors = make([]float64, len(c.measures))
	byGroup := map[string][]int{}
	for i, m := range c.measures {
		byGroup[m.group] = append(byGroup[m.group], i)
	}
	for _, own := range byGroup {
		simultaneous(all, own, c.floors)
	}
	return nil
}

// simultaneous fills the floors of the figures own. A draw that lacks a figure, as
// one without any output does, says nothing of it.
func simultaneous(draws [][]float64, own []int, floors []float64) {
	for _, m := range own {
		var sum, n float64
		for _, d := range draws {
			if isFinite(d[m]) {
				sum, n = sum+d[m]*d[m], n+1
			}
		}
		if n > 0 {
			floors[m] = math.Sqrt(sum / n)
		}
	}
	var worst []float64
	for _, d := range draws {
		w := 0.
		for _, m := range own {
			if isFinite(d[m]) && floors[m] > 0 {
				w = max(w, math.Abs(d[m])/floors[m])
			}
		}
		worst = append(worst, w)
	}
	slices.Sort(worst)
	times := quantile(worst, confidence)
	for _, m := range own {
		floors[m] *= times
	}
}

// redraw draws a trace of a span from blocks of t. Where it is shorter than t, its
// places are spread over all of t.
func (t *Trace) redraw(span, block time.Duration, rng *rand.Rand) *Trace {
	out := &Trace{span: span, apps: t.apps}
	near := time.Duration(reach * float64(block))
	for at := time.Duration(0); at < span; at += block {
		width := min(block, span-at)
		place := time.Duration(float64(at) / float64(span) * float64(t.span))
		lo, hi := max(place-near, 0), min(place+near, t.span-width)
		lo = min(lo, max(hi, 0))
		from := lo + time.Duration(rng.Int64N(int64(max(hi-lo, 0))+1))
		part := [2]time.Duration{from, from + width}
		inPart := func(dst, src []timed) []timed {
			return appendBetween(dst, src, part, func(v *timed) *time.Duration { return &v.at }, at-from)
		}
		out.rows = appendBetween(out.rows, t.rows, part, func(q *row) *time.Duration { return &q.at }, at-from)
		out.turns, out.gaps, out.open = inPart(out.turns, t.turns), inPart(out.gaps, t.gaps), inPart(out.open, t.open)
	}
	return out
}

// appendBetween appends what of src is at part[0] or later and before part[1].
func appendBetween[T any](dst, src []T, part [2]time.Duration, at func(*T) *time.Duration, shift time.Duration) []T {
	search := func(t time.Duration) int {
		i, _ := slices.BinarySearchFunc(src, t, func(v T, t time.Duration) int {
			if *at(&v) < t {
				return -1
			}
			return 1
		})
		return i
	}
	from, to := search(part[0]), search(part[1])
	if to <= from {
		return dst
	}
	n := len(dst)
	dst = append(dst, src[from:to]...)
	for i := range dst[n:] {
		*at(&dst[n+i]) += shift
	}
	return dst
}

func newRand(seed uint64, purpose string, i uint64) *rand.Rand {
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, seed)
	binary.Write(h, binary.LittleEndian, i)
	h.Write([]byte(purpose))
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])))
}

// parallel calls f for 0 to n-1, on every CPU. f(i) writes nothing but the i-th of
// something, so that the order does not matter.
func parallel(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
