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
// commonest value is judged first and then counts for no neighbour. Where lengths were
// cut, values are as common as Kaplan and Meier estimate, and none is taken for a cap.
func takeSpikes(s Sample) (smooth Sample, spikes []Spike) {
	known := s.kaplanMeier()
	bins := slices.Clone(known.Bins)
	n, top := s.N(), bins[len(bins)-1].mid()
	var order []int
	for i, b := range bins {
		if b.N >= max(spikeShare*n, spikeLeast) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(bins[b].N, bins[a].N), a-b) })
	smooth = Sample{slices.Clone(s.Bins), slices.Clone(s.Over), s.Lo, s.Hi}
	for _, i := range order {
		c := known.Bins[i].N
		around := neighbours(bins, i)
		if bins[i].mid() >= exactMemo || c <= spikeRatio*around || c-around <= spikeSigmas*math.Sqrt(around) {
			continue
		}
		cause := Template
		if len(s.Over) == 0 && bins[i].mid() >= capNear*top {
			cause = Cap
		}
		spikes = append(spikes, Spike{int32(bins[i].mid()), (c - around) / n, cause})
		bins[i].N = around
		smooth.Bins[i].N *= around / c
	}
	slices.SortFunc(spikes, func(a, b Spike) int { return cmp.Compare(a.Value, b.Value) })
	smooth.Over = smoothOver(known, smooth.Over, spikes)
	return smooth, spikes
}

// smoothOver takes from what was cut the share that would have ended in a spike beyond.
func smoothOver(known Sample, over []Over, spikes []Spike) []Over {
	n := known.N()
	survival, j := 1., 0
	for i := range over {
		for ; j < len(known.Bins) && known.Bins[j].Hi <= over[i].Above; j++ {
			survival -= known.Bins[j].N / n
		}
		var beyond float64
		for _, s := range spikes {
			if float64(s.Value) > over[i].Above {
				beyond += s.Mass
			}
		}
		if beyond > 0 {
			over[i].N *= max(1-beyond/survival, 0)
		}
	}
	return over
}

// shareOf returns the smooth part of a fold, which has the same bins: of every length
// the share that is smooth in all the data.
func (s Sample) shareOf(fold, all Sample) Sample {
	out := Sample{slices.Clone(fold.Bins), slices.Clone(fold.Over), s.Lo, s.Hi}
	for i := range out.Bins {
		out.Bins[i].N *= s.Bins[i].N / all.Bins[i].N
	}
	for i := range out.Over {
		out.Over[i].N *= s.Over[i].N / all.Over[i].N
	}
	return out
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
