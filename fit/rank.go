package fit

import (
	"cmp"
	"math"
	"slices"
)

// A Pair is N observations of (X, Y).
type Pair struct{ X, Y, N float64 }

// Spearman returns the rank correlation of the pairs, ties at their mid-ranks, which
// is the product-moment correlation of the ranks. It is NaN where X or Y is constant.
func Spearman(pairs []Pair) float64 {
	x := midRanks(pairs, func(p Pair) float64 { return p.X })
	y := midRanks(pairs, func(p Pair) float64 { return p.Y })
	var n, xy, xx, yy float64
	for _, p := range pairs {
		n += p.N
	}
	for i, p := range pairs {
		dx, dy := x[i]-(n+1)/2, y[i]-(n+1)/2
		xy, xx, yy = xy+p.N*dx*dy, xx+p.N*dx*dx, yy+p.N*dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}

// midRanks returns the mid-rank of each pair's value.
func midRanks(pairs []Pair, of func(Pair) float64) []float64 {
	order := ascending(pairs, of)
	ranks := make([]float64, len(pairs))
	var below float64
	for i := 0; i < len(order); {
		first, v, tied := i, of(pairs[order[i]]), 0.
		for ; i < len(order) && of(pairs[order[i]]) == v; i++ {
			tied += pairs[order[i]].N
		}
		for _, k := range order[first:i] {
			ranks[k] = below + (tied+1)/2
		}
		below += tied
	}
	return ranks
}

// ascending returns the places of the pairs in the order of that value.
func ascending(pairs []Pair, of func(Pair) float64) []int32 {
	type keyed struct {
		v float64
		i int32
	}
	keys := make([]keyed, len(pairs))
	for i, p := range pairs {
		keys[i] = keyed{of(p), int32(i)}
	}
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Compare(a.v, b.v) })
	order := make([]int32, len(pairs))
	for i, k := range keys {
		order[i] = k.i
	}
	return order
}

// KendallTauB returns Kendall's rank correlation tau-b of the pairs (Kendall, 1945):
// concordant less discordant pairs of observations over the geometric mean of those
// that X and those that Y tells apart. It takes O(n log n) (Knight, 1966) and is NaN
// where X or Y is constant.
func KendallTauB(pairs []Pair) float64 {
	byX := ascending(pairs, func(p Pair) float64 { return p.X })
	level, levels := denseRanks(pairs)
	seen := make(fenwick, levels+1)
	var n, s, tiedX float64
	for i := 0; i < len(byX); {
		first, x, tied := i, pairs[byX[i]].X, 0.
		for ; i < len(byX) && pairs[byX[i]].X == x; i++ {
			k := byX[i]
			s += pairs[k].N * (seen.upTo(level[k]-1) - (n - seen.upTo(level[k])))
			tied += pairs[k].N
		}
		for _, k := range byX[first:i] {
			seen.add(level[k], pairs[k].N)
		}
		n += tied
		tiedX += tied * (tied - 1) / 2
	}
	var tiedY float64
	for l := range levels {
		t := seen.upTo(int32(l+1)) - seen.upTo(int32(l))
		tiedY += t * (t - 1) / 2
	}
	all := n * (n - 1) / 2
	return s / math.Sqrt((all-tiedX)*(all-tiedY))
}

// denseRanks numbers the distinct values of Y from 1.
func denseRanks(pairs []Pair) (level []int32, levels int) {
	y := func(p Pair) float64 { return p.Y }
	level = make([]int32, len(pairs))
	last := math.Inf(-1)
	for _, k := range ascending(pairs, y) {
		if v := y(pairs[k]); v != last || levels == 0 {
			last = v
			levels++
		}
		level[k] = int32(levels)
	}
	return level, levels
}

// A fenwick tree adds to a cell and sums the first cells in logarithmic time
// (Fenwick, 1994). Cells count from 1.
type fenwick []float64

func (f fenwick) add(i int32, n float64) {
	for ; int(i) < len(f); i += i & -i {
		f[i] += n
	}
}

func (f fenwick) upTo(i int32) (sum float64) {
	for ; i > 0; i -= i & -i {
		sum += f[i]
	}
	return sum
}

// sortPairs puts pairs in an order that no map has a say in.
func sortPairs(pairs []Pair) {
	slices.SortFunc(pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
}
