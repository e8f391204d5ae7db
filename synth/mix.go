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

// rates returns the requests a second of each part. Shares divide the overall rate;
// without them it is divided as the profiles' own rates are.
func rates(parts []Part, overall float64) []float64 {
	weights := make([]float64, len(parts))
	var sum float64
	for i, p := range parts {
		weights[i] = p.Share
		if p.Share == 0 {
			weights[i] = ownRate(p.Profile)
		}
		sum += weights[i]
	}
	for i := range weights {
		weights[i] *= overall / sum
	}
	return weights
}

func ownRate(p *fit.Profile) (rate float64) {
	for _, name := range sorted(p.Apps) {
		rate += p.Apps[name].Rate.Mean
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

// notes tell what the recorded curve of a part does not carry over a trace of about span.
func notes(p Part, span time.Duration, scale float64) []string {
	window := p.Profile.Source.Window
	if span > window {
		return []string{fmt.Sprintf("%s was fitted on %v: its rate curve is repeated to fill %v", label(p), window, span.Round(time.Millisecond))}
	}
	var got float64
	for _, name := range sorted(p.Profile.Apps) {
		got += newCurve(p.Profile.Apps[name].Rate, window, scale).until(span) / span.Seconds()
	}
	want := ownRate(p.Profile) * scale
	if math.Abs(got/want-1) <= .01 {
		return nil
	}
	return []string{fmt.Sprintf("the first %v of the rate curve of %s are %.3g of its mean: expect about %.4g requests a second, not %.4g",
		span.Round(time.Millisecond), label(p), got/want, got, want)}
}

func label(p Part) string {
	if p.Name == "" {
		return "the profile"
	}
	return fmt.Sprintf("%q", p.Name)
}
