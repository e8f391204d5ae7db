package replay

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Options say when, and how many at a time. The zero value plays the recorded
// arrivals as they were, however many are in flight.
type Options struct {
	Speed       float64         // divides the recorded arrivals; 0 is 1
	Rate        float64         // requests a second in place of the recorded arrivals; 0 is not to
	RateKind    RateKind        // how Rate spaces them; empty is Constant
	Concurrency int             // closed loop: arrivals are ignored, each request is due when one of so many slots becomes free; 0 is an open loop
	MaxInFlight int             // open loop: a request that is due while so many are in flight leaves late, as its lag shows; 0 is no limit
	Ahead       time.Duration   // how long before it is due a request is prepared; 0 is 2 s
	Timeout     time.Duration   // of a request that has none of its own; 0 is none
	Grace       time.Duration   // how long the requests in flight may go on after Drain; 0 is 30 s
	Seed        uint64          // of Poisson
	Drain       <-chan struct{} // closed: offer nothing more; nil never is
}

// A RateKind says how requests at a given rate are spaced.
type RateKind string

// The kinds of rate.
const (
	Constant RateKind = "constant" // equal gaps, the first request at 0
	Poisson  RateKind = "poisson"  // exponential gaps, one before the first request
)

func (o *Options) check() error {
	for _, v := range []float64{o.Speed, o.Rate} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("replay options: speed %g, rate %g: want finite numbers above 0", o.Speed, o.Rate)
		}
	}
	if min(o.Concurrency, o.MaxInFlight) < 0 || min(o.Ahead, o.Timeout, o.Grace) < 0 {
		return fmt.Errorf("replay options: a count or a time is negative")
	}
	if !slices.Contains([]RateKind{"", Constant, Poisson}, o.RateKind) {
		return fmt.Errorf("replay options: no rate kind %q: want %s or %s", o.RateKind, Constant, Poisson)
	}
	given := 0
	for _, set := range []bool{o.Speed != 0 && o.Speed != 1, o.Rate > 0, o.Concurrency > 0} {
		if set {
			given++
		}
	}
	if given > 1 || o.Concurrency > 0 && o.MaxInFlight > 0 {
		return fmt.Errorf("replay options: speed, rate and concurrency each decide when requests leave, and concurrency how many are in flight: give one")
	}
	o.Speed = orDefault(o.Speed, 1)
	o.Ahead = orDefault(o.Ahead, 2*time.Second)
	o.Grace = orDefault(o.Grace, 30*time.Second)
	return nil
}

func orDefault[T comparable](v, d T) T {
	if v == *new(T) {
		return d
	}
	return v
}

// schedule returns the function that turns arrivals, one after the other, into
// the times since the run's start at which the requests are due.
func (o *Options) schedule() func(arrival time.Duration) time.Duration {
	var n float64
	switch {
	case o.Rate > 0 && o.RateKind == Poisson:
		rng := rand.New(rand.NewPCG(o.Seed, streamOf("replay/poisson")))
		return func(time.Duration) time.Duration {
			n -= math.Log(1 - rng.Float64())
			return time.Duration(n / o.Rate * 1e9)
		}
	case o.Rate > 0:
		return func(time.Duration) time.Duration {
			n++
			return time.Duration((n - 1) / o.Rate * 1e9)
		}
	case o.Speed != 1:
		return func(arrival time.Duration) time.Duration {
			return time.Duration(float64(arrival) / o.Speed)
		}
	default:
		return func(arrival time.Duration) time.Duration { return arrival }
	}
}

// streamOf names a random stream, so that a second purpose leaves the first alone.
func streamOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}
