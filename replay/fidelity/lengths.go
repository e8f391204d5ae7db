package fidelity

import (
	"math"
	"slices"
	"strconv"
)

// distances are the three of apart, as the points of one figure. That of Anderson
// and Darling is a square: at a KS of .02 it is about .002.
func distances(m measure, of func(*summary) []float64) []measure {
	points := []struct {
		at        string
		tolerance float64
		pick      func(ks, ad, w1 float64) float64
	}{
		{"ks", .02, func(ks, _, _ float64) float64 { return ks }},
		{"ad", .002, func(_, ad, _ float64) float64 { return ad }},
		{"w1/mean", .05, func(_, _, w1 float64) float64 { return w1 }},
	}
	var ms []measure
	for _, p := range points {
		m.at, m.tolerance, m.kind = p.at, p.tolerance, Distance
		m.apart = func(a, b *summary) float64 { return p.pick(apart(of(a), of(b))) }
		ms = append(ms, m)
	}
	return ms
}

func quantiles(m measure, of func(*summary) []float64) (ms []measure) {
	for _, p := range []struct {
		at           string
		p, tolerance float64
	}{{"q50", .5, 1.02}, {"q90", .9, 1.05}, {"q99", .99, 1.05}, {"q99.9", .999, 1.1}} {
		m.at, m.tolerance, m.kind = p.at, p.tolerance, Ratio
		m.value = func(s *summary) float64 {
			if v := of(s); float64(len(v))*(1-p.p) >= 5 { // fewer lie beyond it than say where it is
				return quantile(v, p.p)
			}
			return math.NaN()
		}
		ms = append(ms, m)
	}
	return ms
}

// lengthMeasures are of the lengths of a scope. ref is of the reference, whose
// spikes are looked for on both sides.
func lengthMeasures(app string, scope int, ref *summary) (ms []measure) {
	for i, name := range []string{"prompt", "output"} {
		of := func(s *summary) []float64 { return s.scopes[scope].lengths[i] }
		m := measure{group: Marginals, app: app, unit: "tokens"}
		m.name = name + " cdf"
		ms = append(ms, distances(m, of)...)
		m.name = name
		ms = append(ms, quantiles(m, of)...)
		for _, v := range spikes(of(ref)) {
			m.name, m.at = name+" spike", "at "+strconv.Itoa(int(v))
			m.unit, m.kind, m.tolerance = "share", Difference, .01
			m.value = func(s *summary) float64 { return massAt(of(s), v) }
			ms = append(ms, m)
		}
	}
	return ms
}

func massAt(sorted []float64, v float64) float64 {
	from, _ := slices.BinarySearch(sorted, v)
	to, _ := slices.BinarySearch(sorted, v+.5)
	return float64(to-from) / float64(len(sorted))
}

const (
	maxSpikes  = 8  // the greatest are figures of their own
	leastSpike = 10 // times that a value must be there
)

// spikes returns the values that occur far oftener than those around them: in .4 %
// of the sample, four times as often as the mean of the values within 4 % of them
// and six standard errors above it.
func spikes(sorted []float64) []float64 {
	type spike struct{ v, mass float64 }
	var found []spike
	for i := 0; i < len(sorted); {
		from, v := i, sorted[i]
		for i < len(sorted) && sorted[i] == v {
			i++
		}
		c := float64(i - from)
		if c < max(.004*float64(len(sorted)), leastSpike) {
			continue
		}
		reach := math.Max(1, math.Floor(.04*v))
		lo, _ := slices.BinarySearch(sorted, v-reach)
		hi, _ := slices.BinarySearch(sorted, v+reach+.5)
		around := (float64(hi-lo) - c) / (2 * reach)
		if c > 4*around && c-around > 6*math.Sqrt(around) && v > 8 {
			found = append(found, spike{v, c})
		}
	}
	slices.SortStableFunc(found, func(a, b spike) int { return int(b.mass - a.mass) })
	var vs []float64
	for _, s := range found[:min(len(found), maxSpikes)] {
		vs = append(vs, s.v)
	}
	slices.Sort(vs)
	return vs
}
