package main

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"wavetank/fit"
)

// A draws is one stream of uniforms, named by its purpose.
type draws struct{ *rand.Rand }

func newDraws(seed uint64, purpose string) draws {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return draws{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

func (d draws) unit() float64 { return fit.Uniform(d) }

// A sampler is a quantile function: the value of a uniform in (0, 1).
type sampler func(u float64) float64

// clampedNormal piles up at the limits what lies beyond them.
func clampedNormal(xs []float64) sampler {
	mean, sd := moments(xs)
	lo, hi := slices.Min(xs), slices.Max(xs)
	return func(u float64) float64 {
		return min(max(math.Round(mean+sd*fit.NormalQuantile(u)), lo), hi)
	}
}

// clampedLognormal has the mean and the standard deviation of xs before it is
// clamped to their range; it begins at their minimum.
func clampedLognormal(xs []float64) sampler {
	mean, sd := moments(xs)
	lo, hi := slices.Min(xs), slices.Max(xs)
	if mean == lo {
		return func(float64) float64 { return lo }
	}
	s2 := math.Log1p(sd * sd / ((mean - lo) * (mean - lo)))
	mu := math.Log(mean-lo) - s2/2
	return func(u float64) float64 {
		return min(math.Round(lo+math.Exp(mu+math.Sqrt(s2)*fit.NormalQuantile(u))), hi)
	}
}

// empirical is the distribution of xs itself.
func empirical(xs []float64) sampler {
	sorted := slices.Sorted(slices.Values(xs))
	return func(u float64) float64 { return sorted[int(u*float64(len(sorted)))] }
}

// zipf is 1, 2, ..., last with weights k^-exponent.
func zipf(exponent float64, last int) sampler {
	cum := make([]float64, last)
	var sum float64
	for i := range cum {
		sum += math.Pow(float64(i+1), -exponent)
		cum[i] = sum
	}
	return func(u float64) float64 { return float64(sort.SearchFloat64s(cum, u*sum) + 1) }
}

// gammaGaps are gaps of a mean in seconds; shape 1 makes a Poisson process.
func gammaGaps(shape, mean float64) sampler {
	name, params := "gamma", []float64{shape, mean / shape}
	if shape == 1 {
		name, params = "exponential", []float64{mean}
	}
	i := slices.IndexFunc(fit.Families, func(f fit.Family) bool { return f.Name == name })
	return fit.Families[i].Dist(params).Quantile
}

// gammaShape is the maximum likelihood estimate of a gamma's shape from positive
// values, by the closed approximation of Minka (2002), within 1.5 % of the exact one.
func gammaShape(xs []float64) float64 {
	mean, _ := moments(xs)
	logs := 0.
	for _, x := range xs {
		logs += math.Log(x) / float64(len(xs))
	}
	s := math.Log(mean) - logs
	if s < 1e-6 {
		return 1e6
	}
	return (3 - s + math.Sqrt((s-3)*(s-3)+24*s)) / (12 * s)
}

// positive replaces gaps of zero, which no gamma has, by the smallest other one.
func positive(gaps []float64) []float64 {
	least := math.Inf(1)
	for _, g := range gaps {
		if g > 0 {
			least = min(least, g)
		}
	}
	out := slices.Clone(gaps)
	for i, g := range out {
		out[i] = max(g, least)
	}
	return out
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
