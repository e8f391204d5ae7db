package fidelity

import (
	"slices"
	"time"
)

// A timed is a value that belongs to an instant of the trace, so that it is drawn
// again with the block of time that it is in.
type timed struct {
	at time.Duration
	v  float64
}

// openPoints is how often the number of open sessions is looked at.
const openPoints = 240

// addSessions finds how many turns each session has (at its start), how long after
// the turn before each turn came, in seconds (at that turn), and how many sessions
// are open, from their first turn to their last, at even instants.
func (l *loader) addSessions() error {
	type session struct {
		first, last time.Duration
		turns       int
	}
	if len(l.sessions) == 0 {
		return nil
	}
	all := make([]session, len(l.sessions))
	for _, q := range l.rows {
		if q.session == 0 {
			continue
		}
		s := &all[q.session-1]
		if s.turns == 0 {
			s.first = q.at
		} else {
			l.gaps = append(l.gaps, timed{q.at, (q.at - s.last).Seconds()})
		}
		s.last = q.at
		s.turns++
	}
	var ends []time.Duration
	for _, s := range all { // numbered as they start
		l.turns = append(l.turns, timed{s.first, float64(s.turns)})
		ends = append(ends, s.last)
	}
	slices.Sort(ends)
	begun, ended := 0, 0
	for i := range openPoints {
		now := l.span / openPoints * time.Duration(i)
		for begun < len(all) && all[begun].first <= now {
			begun++
		}
		for ended < len(ends) && ends[ended] < now {
			ended++
		}
		l.open = append(l.open, timed{now, float64(begun - ended)})
	}
	return nil
}

// sessionMeasures are of the sessions. Turns and gaps that the window of the trace
// cuts are cut on both sides.
func sessionMeasures() (ms []measure) {
	for _, s := range []struct {
		name, unit string
		of         func(*summary) []float64
	}{
		{"turns", "", func(s *summary) []float64 { return s.turns }},
		{"turn gap", "s", func(s *summary) []float64 { return s.gaps }},
	} {
		ms = append(ms, distances(measure{group: Sessions, name: s.name + " cdf"}, s.of)...)
		ms = append(ms, quantiles(measure{group: Sessions, name: s.name, unit: s.unit, soft: .1}, s.of)...)
	}
	open := func(s *summary) []float64 { return s.open }
	return append(ms, quantiles(measure{group: Sessions, name: "open sessions", soft: 1}, open)...)
}
