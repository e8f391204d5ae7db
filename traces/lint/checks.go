package lint

import (
	"fmt"
	"time"

	"wavetank/traces"
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
	{"wrap", "an arrival falls by more than half of the span from one row to the next; or, in sorted rows of one source, one 128th of its lines arrives that much after a later one", findWrap},
	{"clock", "an arrival is negative, or the span is over three years", findClock},
	{"tick", "at least 90 % of at least 20 gaps between distinct arrivals are over 250 ms and within 1 % of a multiple of one tick, and there are at least 1.1 rows a stamp (traces.Tick)", findTick},
	{"coarse", "every arrival is on a whole second or more, without being a tick, and rows share stamps", findCoarse},
	{"holes", "a gap over 20 times the mean of the 20 gaps on either side of it", findHoles},
	{"ends", aboutEnds, findEnds},
	{"repeats", "a row equals one of the 4,096 above it in all but its place (traces.Repeats); where arrivals are on whole seconds only rows with an id or blocks count", findRepeats},
	{"same_id", "a row has the id and both token counts of one of the 4,096 above it, some output, and is no retry (traces.Repeats)", findSameID},
	{"twins", "two sessions of at least 5 rows have the same token counts and arrive equally long after their first rows", findTwins},
	{"sentinels", "a token count is negative or 2^31-1, or a time of the outcome is not above 0", findSentinels},
	{"constant", "all of at least 20 rows have the same prompt or output token count, or the same gap", findConstant},
	{"unchained", "a block id stands behind two different prefixes, or twice in a prompt", findUnchained},
	{"sampling", "a source says that it holds a part of the requests", findSampling},
	{"impostor", "a source has the name of a published trace, and its bytes are not that trace's", findImpostor},
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
		fmt.Sprintf("%d of %d rows arrive before the row above them, by up to %v", s.falls, s.facts.Rows, s.fall),
		"a replay leaves in the order of arrival, so it needs the rows sorted",
		"convert the file: what convert writes is sorted"}}
}

func findWrap(s *scan) []Finding {
	detail, half := "", s.facts.Span/2
	if s.fall > 0 && s.fall > half {
		detail = fmt.Sprintf("row %d (from 0) arrives %v before the row above it, in a span of %v", s.fallRow, s.fall, s.facts.Span)
	} else if early, late, ok := s.sources.wrap(half); ok && len(s.facts.Sources) < 2 {
		detail = fmt.Sprintf("lines %d to %d of the source arrive more than %v before lines %d to %d", late.first, late.last, half, early.first, early.last)
	}
	if detail == "" {
		return nil
	}
	return []Finding{{"wrap", detail,
		"the clock started anew or files were glued together: sorted, the parts lie over each other and multiply the rate",
		"convert the source again with --unwrap, which puts the parts behind one another"}}
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

func findTick(s *scan) []Finding {
	g, share := traces.Tick(s.gaps, s.facts.Rows)
	if g == 0 {
		return nil
	}
	perTick := float64(s.facts.Rows) / float64(s.facts.DistinctArrivals)
	return []Finding{{"tick",
		fmt.Sprintf("%.1f %% of the gaps are multiples of %v (within 1 %%), with %.1f requests a stamp", 100*share, g.Round(time.Millisecond), perTick),
		"the log's clock ticks: a replay sends each tick as one burst, and gap_cv and rates over less than a few ticks describe the clock, not the traffic",
		"convert --dequantize spreads the requests of a tick over it; fit does so by itself"}}
}

func findCoarse(s *scan) []Finding {
	f := s.facts
	if f.Resolution < time.Second || f.DistinctArrivals == f.Rows || len(findTick(s)) > 0 {
		return nil
	}
	return []Finding{{"coarse",
		fmt.Sprintf("every arrival is on a multiple of %v, and %d of %d rows share a stamp with the row before", f.Resolution, f.Rows-f.DistinctArrivals, f.Rows),
		"order and gaps inside a stamp are unknown: rows of one stamp are replayed as one burst",
		fmt.Sprintf("convert --dequantize=%v spreads the rows of a stamp over it; fit does so by itself", f.Resolution)}}
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
