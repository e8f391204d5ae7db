package fit

import (
	"slices"
	"time"
)

// Sessions says how requests belong together, as far as the trace names sessions.
type Sessions struct {
	Share  float64 `yaml:"share"`            // of the requests that name one
	Turns  *Turns  `yaml:"turns,omitempty"`  // nil: none was seen to begin and end
	Pauses *Pauses `yaml:"pauses,omitempty"` // nil: hardly any has two turns
}

// Pauses is the distribution of the time from the arrival of one turn to that of the
// next: service time included, for the trace does not always know it.
type Pauses struct {
	Mean   float64   `yaml:"mean"`   // seconds
	Family string    `yaml:"family"` // of the pauses over their mean
	Params []float64 `yaml:"params,omitempty,flow"`
	Fit    *Goodness `yaml:"fit,omitempty"`
}

// Dist returns the distribution of the pauses over their mean. p must be valid.
func (p *Pauses) Dist() Dist {
	f, _ := lookup(GapFamilies, p.Family)
	return f.Dist(p.Params)
}

const longPause = .999 // quantile that a session is taken to be over after

// fitSessions is nil where the trace names none.
func (g *group) fitSessions(window time.Duration) *Sessions {
	turns := g.turnTimes()
	if len(turns) == 0 {
		return nil
	}
	var named int
	var pauses []time.Duration
	for _, times := range turns {
		named += len(times)
		for i := 1; i < len(times); i++ {
			pauses = append(pauses, times[i]-times[i-1])
		}
	}
	slices.Sort(pauses)
	s := &Sessions{Share: round(float64(named) / float64(len(g.rows))), Pauses: fitPauses(pauses)}
	var long time.Duration
	if n := len(pauses); n > 0 {
		long = pauses[int(longPause*float64(n-1))]
	}
	var seen []sessionTurns
	for _, times := range turns {
		seen = append(seen, seenTurns(times, window, long))
	}
	s.Turns = turnSurvival(seen)
	return s
}

// turnTimes are the arrivals of each session, in ascending order.
func (g *group) turnTimes() [][]time.Duration {
	turns := make([][]time.Duration, len(g.sessions.keys))
	for _, r := range g.rows {
		if r.session > 0 {
			turns[r.session-1] = append(turns[r.session-1], r.at)
		}
	}
	return turns
}

func fitPauses(sorted []time.Duration) *Pauses {
	if len(sorted) < minRequests {
		return nil
	}
	var mean float64
	for _, p := range sorted {
		mean += p.Seconds() / float64(len(sorted))
	}
	if mean <= 0 {
		return nil
	}
	bins := make(map[int]int64)
	for _, p := range sorted {
		bins[gapBin(p.Seconds()/mean)]++
	}
	s := gapSample(bins)
	c, err := choose(GapFamilies, s, s, func(f Family, params []float64) *Goodness { return judge(s, f.Dist(params)) })
	if err != nil {
		return nil
	}
	return &Pauses{Mean: round(mean), Family: c.family, Params: c.params, Fit: c.fit}
}
