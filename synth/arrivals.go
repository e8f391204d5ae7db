package synth

import (
	"math"
	"time"

	"wavetank/fit"
)

// mostCopies bounds how many user bases are played beside each other; more users than
// that make each of them larger.
const mostCopies = 64

// A stream is the arrivals of one user base of an app. It keeps each with probability keep.
type stream struct {
	arrivals *fit.ArrivalStream
	keep     float64
	draws    *draws
}

func (s *stream) next() (time.Duration, uint8) {
	for {
		at, class := s.arrivals.Next()
		if s.keep >= 1 || at == math.MaxInt64 || s.draws.next() < s.keep {
			return at, class
		}
	}
}

// newStreams returns the arrivals of `users` times the user base of a: independent
// copies of it, for more users are not the same users who send more. Where users is no
// whole number the copies are thinned.
func newStreams(a *fit.App, window time.Duration, users float64, o Options, drawsOf func(copy int, purpose string) *draws) (out []stream) {
	n := int(min(math.Ceil(users), mostCopies))
	each := users / float64(n)
	shares := make([]float64, len(a.Classes))
	for k, c := range a.Classes {
		shares[k] = c.Weight
	}
	order := fit.OrderKept
	if o.Mode == Extend {
		order = fit.OrderShuffled
	}
	for i := range n {
		d := fit.DrawOptions{Seed: drawsOf(i, "arrivals").pcg.Uint64(), Shares: shares, Factor: max(each, 1), Select: o.Select, Order: order}
		out = append(out, stream{a.Arrivals.Draw(window, d), each, drawsOf(i, "thin")})
	}
	return out
}
