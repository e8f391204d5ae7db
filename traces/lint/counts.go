package lint

import (
	"cmp"
	"maps"
	"slices"

	"wavetank/traces"
)

// counts are the exact values of a column of integers. Token counts repeat, so
// a counter a value is far smaller than a number a row, and it is sorted in no time.
type counts struct {
	rows    map[int32]int64
	unknown int64
}

func newCounts() counts { return counts{rows: map[int32]int64{}} }

func (c *counts) add(v traces.Opt[int32]) {
	if !v.Known {
		c.unknown++
		return
	}
	c.rows[v.V]++
}

// A level is a value and how many rows have at most that.
type level struct {
	value int32
	upTo  int64
}

func (c *counts) levels() []level {
	var out []level
	var n int64
	for _, v := range slices.Sorted(maps.Keys(c.rows)) {
		n += c.rows[v]
		out = append(out, level{v, n})
	}
	return out
}

func (c *counts) lengths() Lengths {
	l := Lengths{Unknown: c.unknown}
	levels := c.levels()
	if len(levels) == 0 {
		return l
	}
	var sum float64
	for v, n := range c.rows {
		sum += float64(v) * float64(n)
	}
	l.N, l.Zero = levels[len(levels)-1].upTo, c.rows[0]
	l.Min, l.Max = known(float64(levels[0].value)), known(float64(levels[len(levels)-1].value))
	l.P50, l.P90, l.P99 = known(quantile(levels, .5)), known(quantile(levels, .9)), known(quantile(levels, .99))
	l.Mean = known(sum / float64(l.N))
	return l
}

// quantile is Hyndman and Fan's type 7 (Sample quantiles in statistical
// packages, The American Statistician 50, 1996): the value at rank (n-1)p
// from 0, linear between two rows.
func quantile(levels []level, p float64) float64 {
	n := levels[len(levels)-1].upTo
	h := float64(n-1) * p
	lo := int64(h)
	a, b := valueAt(levels, lo), valueAt(levels, min(lo+1, n-1))
	return a + (h-float64(lo))*(b-a)
}

// valueAt returns the value of the sorted row i, from 0.
func valueAt(levels []level, i int64) float64 {
	k, _ := slices.BinarySearchFunc(levels, i+1, func(l level, rank int64) int { return cmp.Compare(l.upTo, rank) })
	return float64(levels[k].value)
}

// tallyLimit bounds the different names that a tally keeps: what has more is
// not a class, and must not fill the memory.
const tallyLimit = 10_000

// otherName collects what comes after tallyLimit names.
const otherName = "(others)"

// A tally counts rows by name.
type tally map[string]int64

func (t tally) add(name traces.Opt[string]) {
	if _, seen := t[name.V]; !seen && len(t) >= tallyLimit {
		t[otherName]++
		return
	}
	t[name.V]++
}

func (t tally) list() []Count {
	out := make([]Count, 0, len(t))
	for name, n := range t {
		out = append(out, Count{name, n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Name, b.Name))
	})
	return out
}
