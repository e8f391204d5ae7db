package fit

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

const (
	hazardEvents = 20   // ends that a group of turns has at least
	hazardGrowth = 1.25 // from a group's first turn to the next one's, so that groups stay few
	maxTurns     = 1 << 20
)

// sessionTurns is a session as the window showed it.
type sessionTurns struct {
	Turns    int  // that were seen, 1 or more
	CutStart bool // turns may have come before the window
	CutEnd   bool // whether more than Turns come was not seen
}

// seenTurns returns what the turns at times, in ascending order since the start of the
// window, say of their session. pause is one that hardly any is longer than, such as
// the 99.9 % quantile: a first turn earlier than that may have had one before it, and
// whether a turn is followed is known only of those that are at least that far from the
// window's end. Without that rule quick turns near the end would count and slow ones not.
func seenTurns(times []time.Duration, window, pause time.Duration) sessionTurns {
	last := window - pause
	sure, _ := slices.BinarySearch(times, last+1)
	if sure == len(times) {
		return sessionTurns{Turns: sure, CutStart: times[0] < pause}
	}
	return sessionTurns{Turns: sure + 1, CutStart: times[0] < pause, CutEnd: true}
}

// Turns is the distribution of the number of turns of a session, as the hazard of its
// being over: the share of the sessions with at least k turns that have exactly k. It
// is constant over groups of turns.
type Turns struct {
	Sessions int64     `yaml:"sessions"`    // that began in the window
	Censored int64     `yaml:"censored"`    // of which so many ran on past it
	CutStart int64     `yaml:"cut_start"`   // sessions that may have begun before it: left out
	From     []int     `yaml:"from,flow"`   // first turn of each group
	Hazard   []float64 `yaml:"hazard,flow"` // of each group
}

// turnSurvival estimates how many turns sessions have from those of a window that cuts
// them at both ends, by the product limit (Kaplan and Meier, 1958). Sessions that may
// have begun before the window are left out: their numbers of turns are not known, and
// counting those that are seen favours the long. A session that runs on past the end
// counts as long as it was seen. Neighbouring turns share a hazard until they have 20
// ends. It is nil where no session is left or none ended.
func turnSurvival(sessions []sessionTurns) *Turns {
	t := &Turns{}
	ended, cut := map[int]int64{}, map[int]int64{}
	most := 0
	for _, s := range sessions {
		switch {
		case s.CutStart:
			t.CutStart++
			continue
		case s.CutEnd:
			t.Censored++
			cut[s.Turns]++
		default:
			ended[s.Turns]++
		}
		t.Sessions++
		most = max(most, s.Turns)
	}
	if t.Censored == t.Sessions {
		return nil
	}
	atRisk := t.Sessions
	var g hazardGroup
	for k := 1; k <= most; k++ {
		atRisk -= cut[k] // seen to reach turn k, not seen to end or go on there
		g.add(k, ended[k], atRisk)
		if g.full() {
			t.close(&g)
		}
		atRisk -= ended[k]
	}
	if g.ends > 0 { // else those that were seen so long go on as the last group does
		t.close(&g)
	}
	return t
}

// A hazardGroup sums turns that share a hazard.
type hazardGroup struct {
	from, to      int
	ends, exposed int64
}

func (g *hazardGroup) add(k int, ends, atRisk int64) {
	if g.from == 0 {
		g.from = k
	}
	g.to, g.ends, g.exposed = k, g.ends+ends, g.exposed+atRisk
}

func (g *hazardGroup) full() bool {
	return g.ends >= hazardEvents && float64(g.to+1) >= hazardGrowth*float64(g.from)
}

func (t *Turns) close(g *hazardGroup) {
	t.From, t.Hazard = append(t.From, g.from), append(t.Hazard, round(float64(g.ends)/float64(g.exposed)))
	*g = hazardGroup{}
}

// HazardAt returns the hazard of the k-th turn, from 1: the probability that it is the
// last. t must be valid.
func (t *Turns) HazardAt(k int) float64 {
	i := sort.SearchInts(t.From, k+1) - 1
	return t.Hazard[max(i, 0)]
}

// Mean returns the mean number of turns.
func (t *Turns) Mean() (mean float64) {
	alive := 1.
	for i, from := range t.From {
		h := t.Hazard[i]
		if i == len(t.From)-1 {
			return mean + alive/h
		}
		for range t.From[i+1] - from {
			mean += alive
			alive *= 1 - h
		}
	}
	return mean
}

func (t *Turns) validate() error {
	if len(t.From) == 0 || len(t.From) != len(t.Hazard) {
		return fmt.Errorf("hazard: %d groups begin and %d have a hazard", len(t.From), len(t.Hazard))
	}
	for i, from := range t.From {
		if i == 0 && from != 1 || i > 0 && from <= t.From[i-1] || from > maxTurns {
			return fmt.Errorf("from[%d]: %d; the groups must begin with 1 and ascend, to %d at most", i, from, maxTurns)
		}
		if h := t.Hazard[i]; !(h >= 0 && h <= 1) || i == len(t.From)-1 && h == 0 {
			return fmt.Errorf("hazard[%d]: %g is none, or sessions never end", i, h)
		}
	}
	return nil
}
