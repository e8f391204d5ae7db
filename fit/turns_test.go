package fit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// aSession draws how many turns a session has, half of them one, and the pauses.
func aSession(r *rand.Rand) (turns int, pauses []time.Duration) {
	turns = 1
	for goesOn := .5; r.Float64() < goesOn; goesOn = .94 {
		turns++
	}
	for range turns - 1 {
		pauses = append(pauses, time.Duration((10+50*r.ExpFloat64())*float64(time.Second)))
	}
	return turns, pauses
}

// windowed plays sessions that start at any time before and in a window and returns the
// turns of each that the window shows.
func windowed(n int, window time.Duration, seed uint64) (seen [][]time.Duration) {
	r := rand.New(rand.NewPCG(seed, 71))
	before := 2 * time.Hour
	for range n {
		t := time.Duration(r.Float64()*float64(window+before)) - before
		turns, pauses := aSession(r)
		var shown []time.Duration
		for k := range turns {
			if t >= 0 && t < window {
				shown = append(shown, t)
			}
			if k < turns-1 {
				t += pauses[k]
			}
		}
		if shown != nil {
			seen = append(seen, shown)
		}
	}
	return seen
}

// survival is the share of the sessions that have more than k turns.
func (t *Turns) survival(k int) float64 {
	alive := 1.
	for i := range k {
		alive *= 1 - t.HazardAt(i+1)
	}
	return alive
}

// A window of 40 minutes cuts long sessions at both ends. Counting the turns that are
// seen is biased; the product limit is not.
func TestTurnsOfACutWindow(t *testing.T) {
	const window, pause = 40 * time.Minute, 7 * time.Minute
	r := rand.New(rand.NewPCG(72, 73))
	var truth float64
	alive := make([]float64, 40)
	const draws = 100_000
	for range draws {
		n, _ := aSession(r)
		truth += float64(n) / draws
		for k := range min(n, len(alive)) {
			alive[k] += 1. / draws
		}
	}
	var naive, sessions float64
	var cut []sessionTurns
	for _, times := range windowed(300_000, window, 1) {
		naive += float64(len(times))
		sessions++
		cut = append(cut, seenTurns(times, window, pause))
	}
	naive /= sessions
	turns := turnSurvival(cut)
	if err := turns.validate(); err != nil {
		t.Fatal(err)
	}
	t.Logf("mean %.3f, product limit %.3f, naive %.3f; %d groups", truth, turns.Mean(), naive, len(turns.From))
	if math.Abs(turns.Mean()/truth-1) > .03 {
		t.Errorf("the mean is %g, want %g", turns.Mean(), truth)
	}
	if math.Abs(naive/truth-1) < .1 {
		t.Errorf("the naive mean, %g, is not biased: this test shows nothing", naive)
	}
	for k := 1; k < 20; k++ {
		if got, want := turns.survival(k), alive[k]; math.Abs(got/want-1) > .03 {
			t.Errorf("more than %d turns have %.4f, want %.4f", k, got, want)
		}
	}
}

// Kaplan and Meier by hand: ends after 1, 2, 2, 3 turns; one that goes on at 2 and one
// at 3 count as long as they are seen; one from before the window does not count.
func TestTurnsByHand(t *testing.T) {
	var s []sessionTurns
	for range 20 {
		s = append(s, sessionTurns{Turns: 1}, sessionTurns{Turns: 2}, sessionTurns{Turns: 2}, sessionTurns{Turns: 3},
			sessionTurns{Turns: 2, CutEnd: true}, sessionTurns{Turns: 3, CutEnd: true}, sessionTurns{Turns: 9, CutStart: true})
	}
	got := turnSurvival(s)
	if got.Sessions != 120 || got.Censored != 40 || got.CutStart != 20 {
		t.Errorf("got %+v", got)
	}
	for k, want := range []float64{1, 5. / 6, 5. / 6 * 2 / 4, 0} {
		if s := got.survival(k); math.Abs(s-want) > 1e-5 {
			t.Errorf("more than %d turns have %g, want %g", k, s, want)
		}
	}
	if m, want := got.Mean(), 1+5./6+5./12; math.Abs(m-want) > 1e-5 {
		t.Errorf("the mean is %g, want %g", m, want)
	}
}

func TestTurnsOfOddSessions(t *testing.T) {
	for name, s := range map[string][]sessionTurns{
		"nothing": nil, "all cut": {{3, false, true}, {1, true, false}}, "all before": {{3, true, false}},
	} {
		if got := turnSurvival(s); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// The longest are all cut: the last hazard is that of those that ended.
	got := turnSurvival([]sessionTurns{{1, false, false}, {2, false, false}, {50, false, true}})
	if err := got.validate(); err != nil {
		t.Errorf("%+v: %v", got, err)
	}
	for want, bad := range map[string]Turns{
		"0 groups": {}, "from[0]": {From: []int{2}, Hazard: []float64{1}},
		"from[1]": {From: []int{1, 1}, Hazard: []float64{.5, .5}}, "hazard[0]": {From: []int{1}, Hazard: []float64{0}},
	} {
		if err := bad.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
