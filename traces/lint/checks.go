package lint

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Check looks for one thing that is wrong with a trace.
type Check struct {
	Name  string
	About string // what it takes for a finding, with the thresholds
	find  func(*scan) []Finding
}

// A Finding is one thing that is wrong with a trace.
type Finding struct {
	Check  string `json:"check"`  // name of the Check
	Detail string `json:"detail"` // what was found, with its numbers
	Means  string `json:"means"`  // what it does to a fit or a replay
	Cure   string `json:"cure"`
}

// Checks are all checks, in the order of their findings.
var Checks = []Check{
	{"unsorted", "a row arrives before the row above it", findUnsorted},
	{"wrap", "an arrival falls by more than half of the span from one row to the next", findWrap},
	{"clock", "an arrival is negative, or the span is over three years", findClock},
	{"tick", "at least 90 % of at least 20 gaps between distinct arrivals are over 250 ms and within 1 % of a multiple of one tick, and there are at least 1.1 rows a stamp", findTick},
	{"coarse", "every arrival is on a whole second or more, without being a tick, and rows share stamps", findCoarse},
	{"holes", "a gap over 20 times the mean of the 20 gaps on either side of it", findHoles},
	{"prompt_cap", aboutCap, func(s *scan) []Finding { return findCap("prompt_cap", "prompt", s.prompt) }},
	{"output_cap", aboutCap, func(s *scan) []Finding { return findCap("output_cap", "output", s.output) }},
	{"no_output", "a row's output token count is 0 or unknown", findNoOutput},
	{"no_prompt", "a row's prompt token count is 0 or unknown", findNoPrompt},
}

func findUnsorted(s *scan) []Finding {
	if s.falls == 0 {
		return nil
	}
	return []Finding{{"unsorted",
		fmt.Sprintf("%d of %d rows arrive before the row above them, by up to %v", s.falls, s.facts.Rows, time.Duration(s.fall)),
		"a replay leaves in the order of arrival, so it needs the rows sorted",
		"convert the file: what convert writes is sorted"}}
}

func findWrap(s *scan) []Finding {
	if span := int64(s.facts.Span); s.fall == 0 || s.fall <= span/2 {
		return nil
	}
	return []Finding{{"wrap",
		fmt.Sprintf("row %d (from 0) arrives %v before the row above it, in a span of %v", s.fallRow, time.Duration(s.fall), s.facts.Span),
		"the clock started anew or files were glued together: sorting lays the parts over each other and multiplies the rate",
		"cut the source at that row and convert the parts apart"}}
}

// maxSpan is longer than any log that is replayed; seconds read as
// milliseconds or epochs mixed with offsets pass it at once.
const maxSpan = 3 * 365 * 24 * time.Hour

func findClock(s *scan) []Finding {
	f := s.facts
	if f.First >= 0 && f.Span <= maxSpan {
		return nil
	}
	return []Finding{{"clock",
		fmt.Sprintf("arrivals go from %v to %v", f.First, f.First+f.Span),
		"times of two clocks or of another unit are mixed: no rate or gap of this trace is right",
		"convert the source again with --time-unit, or drop the rows whose time is wrong"}}
}

// minGap parts the gaps that a tick leaves from jitter inside it; minGaps are
// needed for a statement on them.
const (
	minGap    = 250 * time.Millisecond
	minGaps   = 20
	tickShare = .9
)

// tick returns the period of the clock that stamped the rows and the share of
// the gaps that are on its multiples; 0 where there is no such period. Jitter
// adds up over a silence of many ticks, so the period is first guessed as the
// 10 % quantile of the gaps and then taken from all of them.
func (s *scan) tick() (period time.Duration, share float64) {
	if len(s.gaps) < minGaps || float64(s.facts.Rows) < 1.1*float64(s.facts.DistinctArrivals) {
		return 0, 0
	}
	sorted := slices.Clone(s.gaps)
	slices.Sort(sorted)
	long := sorted[lowerBound(sorted, int64(minGap)):]
	if float64(len(long)) < tickShare*float64(len(sorted)) {
		return 0, 0
	}
	guess := float64(long[len(long)/10])
	var sum, ticks float64
	for _, d := range long {
		sum += float64(d)
		ticks += math.Round(float64(d) / guess)
	}
	g := sum / ticks
	on := 0
	for _, d := range long {
		if k := float64(d) / g; math.Abs(k-math.Round(k)) <= .01 {
			on++
		}
	}
	share = float64(on) / float64(len(sorted))
	if share < tickShare {
		return 0, 0
	}
	return time.Duration(g), share
}

func lowerBound(sorted []int64, v int64) int {
	i, _ := slices.BinarySearch(sorted, v)
	return i
}

func findTick(s *scan) []Finding {
	g, share := s.tick()
	if g == 0 {
		return nil
	}
	perTick := float64(s.facts.Rows) / float64(s.facts.DistinctArrivals)
	return []Finding{{"tick",
		fmt.Sprintf("%.1f %% of the gaps are multiples of %v (within 1 %%), with %.1f requests a stamp", 100*share, g.Round(time.Millisecond), perTick),
		"the log's clock ticks: a replay sends each tick as one burst, and gap_cv and rates over less than a few ticks describe the clock, not the traffic",
		"fit spreads the requests of a tick over it by itself: replay what synth makes of the fit"}}
}

func findCoarse(s *scan) []Finding {
	f := s.facts
	if f.Resolution < time.Second || f.DistinctArrivals == f.Rows || len(findTick(s)) > 0 {
		return nil
	}
	return []Finding{{"coarse",
		fmt.Sprintf("every arrival is on a multiple of %v, and %d of %d rows share a stamp with the row before", f.Resolution, f.Rows-f.DistinctArrivals, f.Rows),
		"order and gaps inside a stamp are unknown: rows of one stamp are replayed as one burst",
		"fit spreads the requests of a stamp over it by itself: replay what synth makes of the fit"}}
}

func findNoOutput(s *scan) []Finding {
	l := s.facts.OutputTokens
	return missing("no_output", "output", l,
		"they are failures or were not counted, not requests for one token: a replay skips them, and a fit of lengths leaves them out",
		"map the column with convert --map if the log has it; otherwise count them as failures")
}

func findNoPrompt(s *scan) []Finding {
	l := s.facts.PromptTokens
	return missing("no_prompt", "prompt", l,
		"their load on the engine is unknown",
		"map the column with convert --map if the log has it; otherwise take the other rows for what they are, a part")
}

func missing(check, column string, l Lengths, means, cure string) []Finding {
	if l.Zero+l.Unknown == 0 {
		return nil
	}
	detail := fmt.Sprintf("of %d rows, %d have 0 %s tokens and %d an unknown number", l.N+l.Unknown, l.Zero, column, l.Unknown)
	return []Finding{{check, detail, means, cure}}
}
