package fit

import (
	"cmp"
	"math"
	"slices"
)

// A Spike is a point mass: a length that occurs far oftener than its neighbours.
type Spike struct {
	Value int32   `yaml:"value"` // tokens
	Mass  float64 `yaml:"mass"`  // share of the requests, above what the smooth part has there
	Cause Cause   `yaml:"cause"`
}

// Cause says why a length would be a point mass.
type Cause string

// The causes of a spike.
const (
	Cap      Cause = "cap"      // at the top of the data: a limit cut what would have been longer
	Template Cause = "template" // elsewhere: the same text again and again
)

// A value is a spike if it has 0.4 % of the data, four times and six standard
// errors more than the mean of its neighbours, and is not a handful of requests.
const (
	spikeShare  = .004
	spikeRatio  = 4
	spikeSigmas = 6
	spikeLeast  = 20
	spikeWindow = .04 // of the value, on each side; 4 tokens at least
	capNear     = .99 // of the greatest length
)

// takeSpikes removes the spikes from s and returns them in ascending order. The
// commonest value is judged first and then counts for no neighbour.
func takeSpikes(s Sample) (smooth Sample, spikes []Spike) {
	bins := slices.Clone(s.Bins)
	n, top := s.N(), bins[len(bins)-1].mid()
	order := make([]int, len(bins))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(bins[b].N, bins[a].N), a-b) })
	for _, i := range order {
		c := s.Bins[i].N
		if c < max(spikeShare*n, spikeLeast) {
			break
		}
		around := neighbours(bins, i)
		if bins[i].mid() >= exactMemo || c <= spikeRatio*around || c-around <= spikeSigmas*math.Sqrt(around) {
			continue
		}
		cause := Template
		if bins[i].mid() >= capNear*top {
			cause = Cap
		}
		spikes = append(spikes, Spike{int32(bins[i].mid()), (c - around) / n, cause})
		bins[i].N = around
	}
	bins = slices.DeleteFunc(bins, func(b Bin) bool { return b.N == 0 })
	slices.SortFunc(spikes, func(a, b Spike) int { return cmp.Compare(a.Value, b.Value) })
	return Sample{bins, s.Lo, s.Hi}, spikes
}

// neighbours is the mean count of the lengths round that of bin i, without it.
func neighbours(bins []Bin, i int) float64 {
	v := bins[i].mid()
	reach := max(math.Floor(spikeWindow*v), 4)
	first := max(v-reach, 1)
	var sum float64
	for j := i - 1; j >= 0 && bins[j].mid() >= first; j-- {
		sum += bins[j].N
	}
	for j := i + 1; j < len(bins) && bins[j].mid() <= v+reach; j++ {
		sum += bins[j].N
	}
	return sum / (v + reach - first)
}
