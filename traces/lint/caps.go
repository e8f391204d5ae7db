package lint

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const aboutCap = "values within 1 % of the maximum stand out: each has at least 5 rows and 0.4 % of them, over 4 times the mean count m of the values within 4 % of it, and over m + 6 sqrt(m); and some rows are shorter"

// minCap rows are a pile; fewer are chance.
const minCap = 5

// findCap looks for lengths that were cut at a limit: a pile of rows at the
// top of the range, where the tail of an uncut length thins out.
func findCap(check, column string, c counts) []Finding {
	levels := c.levels()
	if len(levels) < 2 || levels[len(levels)-1].value == math.MaxInt32 { // a sentinel, which is another check's
		return nil
	}
	top := levels[len(levels)-1]
	n := float64(top.upTo)
	var values []int32
	var rows int64
	for i := len(levels) - 1; i > 0 && float64(levels[i].value) >= .99*float64(top.value); i-- {
		v := levels[i].value
		k := float64(c.rows[v])
		if m := around(levels, v, k); k >= max(minCap, .004*n, 4*m, m+6*math.Sqrt(m)) {
			values, rows = append(values, v), rows+c.rows[v]
		}
	}
	if rows == 0 {
		return nil
	}
	slices.Reverse(values)
	return []Finding{{check,
		fmt.Sprintf("%d rows (%.1f %%) have %v %s tokens, at the top of the range (maximum %d)", rows, 100*float64(rows)/n, values, column, top.value),
		"lengths were cut at a limit: how long they would have been is not in this trace, and its upper quantiles are lower bounds",
		"none in the file; do not read the tail under a longer limit from it"}}
}

// around is the mean count of the values within 4 % of v; v, with its k rows, is left out.
func around(levels []level, v int32, k float64) float64 {
	side := int64(v) / 25
	if side == 0 {
		return 0
	}
	in := below(levels, int64(v)+side+1) - below(levels, int64(v)-side)
	return (float64(in) - k) / float64(2*side)
}

// below counts the rows of less than v.
func below(levels []level, v int64) int64 {
	i, _ := slices.BinarySearchFunc(levels, v, func(l level, v int64) int { return cmp.Compare(int64(l.value), v) })
	if i == 0 {
		return 0
	}
	return levels[i-1].upTo
}
