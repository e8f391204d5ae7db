package lint

import (
	"fmt"
	"time"
)

// holeSide gaps on either side of a gap make its neighbourhood, so that a
// quiet night is not a hole; holeTimes its mean make a hole. Among gaps of a
// Poisson process one in 1e8 would do.
const (
	holeSide  = 20
	holeTimes = 20
)

// findHoles looks at gaps between distinct arrivals: ties would make a hole of every tick.
func findHoles(s *scan) []Finding {
	g := s.gaps
	if len(g) <= 2*holeSide {
		return nil
	}
	var n int
	var total, longest, window time.Duration
	for _, d := range g[:2*holeSide+1] {
		window += d
	}
	for i := holeSide; i < len(g)-holeSide; i++ {
		if float64(g[i]) > holeTimes*float64(window-g[i])/(2*holeSide) {
			n, total, longest = n+1, total+g[i], max(longest, g[i])
		}
		if next := i + holeSide + 1; next < len(g) {
			window += g[next] - g[i-holeSide]
		}
	}
	if n == 0 {
		return nil
	}
	return []Finding{{"holes",
		fmt.Sprintf("%d silences, %.1f %% of the span, the longest %v", n, 100*float64(total)/float64(s.facts.Span), longest.Round(time.Millisecond)),
		"the log lost that time, or the traffic switches on and off: one distribution of the gaps describes neither, and a replay stands still there",
		"cut lost time away with convert --from and --to; if the traffic did pause, keep it and fit its parts"}}
}
