package fit

import (
	"cmp"
	"math"
	"slices"
)

// KS returns the greatest distance between the cumulative shares of s and cdf, over
// both edges of every bin (the statistic of Kolmogorov and Smirnov, for grouped data).
func KS(s Sample, cdf func(float64) float64) float64 {
	var d, below float64
	n := s.N()
	for _, b := range s.Bins {
		d = max(d, math.Abs(below/n-cdf(b.Lo)))
		below += b.N
		d = max(d, math.Abs(below/n-cdf(b.Hi)))
	}
	return d
}

// Wasserstein returns the area between the cumulative shares of s and cdf from the
// first bin to the last (the distance W1), in the unit of s.
func Wasserstein(s Sample, cdf func(float64) float64) float64 {
	var area, below float64
	n := s.N()
	at, apart := s.Bins[0].Lo, math.Abs(cdf(s.Bins[0].Lo))
	to := func(x float64) {
		d := math.Abs(below/n - cdf(x))
		area += (x - at) * (apart + d) / 2
		at, apart = x, d
	}
	for _, b := range s.Bins {
		if b.Lo != at {
			to(b.Lo)
		}
		below += b.N
		to(b.Hi)
	}
	return area
}

// SmirnovFloor returns the KS distance that two samples of n observations of one
// and the same distribution stay under with 95 % (Smirnov, 1948): nearer than that is noise.
func SmirnovFloor(n float64) float64 { return 1.358 * math.Sqrt(2/n) }

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
	for _, p := range pairs {
		dx, dy := x[p.X]-(n+1)/2, y[p.Y]-(n+1)/2
		xy, xx, yy = xy+p.N*dx*dy, xx+p.N*dx*dx, yy+p.N*dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}

func midRanks(pairs []Pair, of func(Pair) float64) map[float64]float64 {
	sorted := slices.Clone(pairs)
	slices.SortFunc(sorted, func(a, b Pair) int { return cmp.Compare(of(a), of(b)) })
	ranks := make(map[float64]float64)
	var below float64
	for i := 0; i < len(sorted); {
		v, tied := of(sorted[i]), 0.
		for ; i < len(sorted) && of(sorted[i]) == v; i++ {
			tied += sorted[i].N
		}
		ranks[v] = below + (tied+1)/2
		below += tied
	}
	return ranks
}

// GaussianCopula returns the correlation of two normals whose copula has that rank
// correlation: 2 sin(pi rho / 6) (Kruskal, 1958).
func GaussianCopula(spearman float64) float64 { return 2 * math.Sin(math.Pi*spearman/6) }

// GapCV returns the coefficient of variation of gaps: standard deviation over mean.
func GapCV(gaps Sample) float64 {
	mean, variance := gaps.Moments()
	return math.Sqrt(variance) / mean
}

// IDC returns the index of dispersion of counts in equal intervals, variance over
// mean (Cox and Lewis, 1966): 1 for a Poisson process at any interval.
func IDC(counts []int64) float64 {
	var mean, sum float64
	for _, c := range counts {
		mean += float64(c) / float64(len(counts))
	}
	for _, c := range counts {
		sum += (float64(c) - mean) * (float64(c) - mean)
	}
	return sum / float64(len(counts)-1) / mean
}
