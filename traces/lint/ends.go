package lint

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const aboutEnds = "cut into 20, 100 or 500 equal parts of 50 rows or more in the mean, the first or the last part has less than half of what every inner part has, and less by four times its root"

var (
	endParts = []int{20, 100, 500}
	endNames = [2]string{"first", "last"}
)

// endRows a part are enough for the least of 500 parts to be half of the mean at least.
const endRows = 50

// A cut is an end of a trace with hardly any traffic.
type cut struct {
	end   string // first or last
	parts int
	rows  int // in that part
	least int // in any inner part
	width time.Duration
}

// cutEnds finds the coarsest cut of each end of sorted arrivals.
func cutEnds(at []time.Duration) (cuts []cut) {
	span := at[len(at)-1] - at[0]
	found := [2]bool{}
	for _, parts := range endParts {
		width := span/time.Duration(parts) + 1
		if len(at) < endRows*parts {
			break
		}
		rows := make([]int, parts)
		for _, t := range at {
			rows[(t-at[0])/width]++
		}
		least := slices.Min(rows[1 : parts-1])
		for i, n := range [2]int{rows[0], rows[parts-1]} {
			if limit := float64(least); !found[i] && float64(n) < min(limit/2, limit-4*math.Sqrt(limit)) {
				cuts = append(cuts, cut{endNames[i], parts, n, least, width})
				found[i] = true
			}
		}
	}
	return cuts
}

func findEnds(s *scan) []Finding {
	var out []Finding
	for _, c := range s.ends {
		out = append(out, Finding{"ends",
			fmt.Sprintf("the %s %v have %d rows, where no other %dth of the span has less than %d", c.end, c.width.Round(time.Millisecond), c.rows, c.parts, c.least),
			"the log was cut while requests were under way, or by their ends and not their starts: a replay begins or ends with less than the load there was",
			"cut that end away with convert --from and --to"})
	}
	return out
}
