package synth

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"wavetank/fit"
)

func checkParts(parts []Part) error {
	if len(parts) == 0 {
		return errors.New("no profile to make a trace of")
	}
	seen := make(map[string]bool)
	var shared int
	for _, p := range parts {
		if p.Profile == nil {
			return fmt.Errorf("part %q has no profile", p.Name)
		}
		if err := p.Profile.Validate(); err != nil {
			return fmt.Errorf("part %q: %w", p.Name, err)
		}
		if seen[p.Name] {
			return fmt.Errorf("two parts are named %q: name each, for the name seeds its random streams", p.Name)
		}
		seen[p.Name] = true
		if !(p.Share >= 0) || math.IsInf(p.Share, 0) {
			return fmt.Errorf("part %q: %g is no share", p.Name, p.Share)
		}
		if p.Share > 0 {
			shared++
		}
	}
	if shared != 0 && shared != len(parts) {
		return errors.New("give every part a share, or none")
	}
	return nil
}

// scales returns how many times its own users each part has, so that over the
// first span of the trace as many requests are due as o asks for: the mean of the
// recorded curve over that span, which is not that of the whole, counts. Shares
// divide the overall rate; without them it is divided as the profiles' own rates are.
func scales(parts []Part, o Options, span time.Duration) ([]float64, error) {
	own, scales := make([]float64, len(parts)), make([]float64, len(parts))
	var all, shares float64
	for i, p := range parts {
		own[i] = meanRate(p.Profile, span) * o.Faster
		all, shares = all+own[i], shares+p.Share
	}
	for i, p := range parts {
		scales[i] = o.Users // no share and no rate: exactly as it was
		if shares > 0 {
			scales[i] = o.Users * p.Share / shares * all / own[i]
		}
		if o.Rate > 0 {
			scales[i] *= o.Rate / all
		}
		if own[i] > 0 && !(scales[i] >= minFactor && scales[i] <= maxFactor) {
			return nil, fmt.Errorf("%s would be asked for %.3g times its users: it may be %g to %g times", label(p), scales[i], minFactor, maxFactor)
		}
		if !(own[i] > 0) {
			return nil, fmt.Errorf("%s has no requests in the first %v of its rate curve that could be scaled: make the trace longer", label(p), span.Round(time.Millisecond))
		}
	}
	return scales, nil
}

// meanRate is the requests a second of a profile over the first d of its curves.
func meanRate(p *fit.Profile, d time.Duration) (rate float64) {
	for _, name := range sorted(p.Apps) {
		rate += p.Apps[name].Arrivals.Until(p.Source.Window, d) / d.Seconds()
	}
	return rate
}

func ownRate(p *fit.Profile) (rate float64) {
	for _, name := range sorted(p.Apps) {
		rate += p.Apps[name].Arrivals.Mean
	}
	return rate
}

func longest(parts []Part) (d time.Duration) {
	for _, p := range parts {
		d = max(d, p.Profile.Source.Window)
	}
	return d
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// notes tell what a reader of the trace must know of a part that is made for about
// span of its own clock, of `users` times its users.
func notes(p Part, span time.Duration, o Options, users float64) (out []string) {
	say := func(format string, args ...any) { out = append(out, label(p)+" "+fmt.Sprintf(format, args...)) }
	window := p.Profile.Source.Window
	switch got, mean := meanRate(p.Profile, span), ownRate(p.Profile); {
	case span > window && o.Mode == Extend:
		say("was fitted on %v and is extended to %v: no level or rhythm comes that those %[1]v did not have", window, span.Round(time.Millisecond))
	case span > window:
		say("was fitted on %v: what was recorded is repeated, in its order, to fill %v", window, span.Round(time.Millisecond))
	case o.Rate == 0 && math.Abs(got/mean-1) > .01:
		say("has in the first %v of its rate curve %.3g of its mean: expect about %.4g requests a second, not %.4g",
			span.Round(time.Millisecond), got/mean, got*o.Faster*users, mean*o.Faster*users)
	}
	if users > mostCopies {
		say("has %.4g times its users: %d independent user bases, each larger", users, mostCopies)
	}
	return out
}

func label(p Part) string {
	if p.Name == "" {
		return "the profile"
	}
	return fmt.Sprintf("%q", p.Name)
}
