package fidelity

import (
	"math"
	"slices"
	"time"
)

// A summary is what the measures need to know of one trace.
type summary struct {
	scopes []scope // of all rows, then of each app that is compared
	span   time.Duration
	rows   []row // of all

	logs              [2][]float64 // of the lengths in order of arrival: prompt, output
	drift             [2]float64   // share of their variance that is between cells of time
	mix               float64      // mean entropy of the apps in a cell of time, bits
	rates             []float64    // requests a second of each cell, sorted
	backlogs          backlogs
	units             [3]float64 // mean weight of a request
	turns, gaps, open []float64  // sorted
}

// A scope is all rows or those of one app.
type scope struct {
	share   float64
	lengths [2][]float64 // sorted: prompt, output
	plane   plane
	pairs   pairing
}

const (
	prompt = iota
	output
)

// A survey says what is to be summed up: the same of every trace that is compared.
type survey struct {
	apps  []string
	cell  time.Duration // of the rates
	units [3]float64    // mean weight of a request of the reference
	rate  float64       // requests a second of the reference
}

func (v *survey) sum(t *Trace) *summary {
	s := &summary{scopes: make([]scope, 1+len(v.apps)), span: t.span, rows: t.rows}
	s.scopes[0] = scopeOf(t.rows)
	s.scopes[0].share = 1
	for i, name := range v.apps {
		id, has := t.appID(name)
		own := slices.DeleteFunc(slices.Clone(t.rows), func(q row) bool { return !has || q.app != id })
		s.scopes[i+1] = scopeOf(own)
		s.scopes[i+1].share = float64(len(own)) / float64(len(t.rows))
	}
	s.addOrder(t, v.cell)
	s.units, s.backlogs = unitsOf(t.rows), v.backlogs(t.rows)
	s.turns, s.gaps, s.open = sortedValues(t.turns), sortedValues(t.gaps), sortedValues(t.open)
	return s
}

func scopeOf(rows []row) (s scope) {
	for _, q := range rows {
		if q.prompt > 0 {
			s.lengths[prompt] = append(s.lengths[prompt], float64(q.prompt))
		}
		if q.output > 0 {
			s.lengths[output] = append(s.lengths[output], float64(q.output))
		}
	}
	s.plane, s.pairs = planeOf(rows), pairingOf(rows)
	for i := range s.lengths {
		slices.Sort(s.lengths[i])
	}
	return s
}

func sortedValues(ts []timed) []float64 {
	v := make([]float64, len(ts))
	for i, t := range ts {
		v[i] = t.v
	}
	slices.Sort(v)
	return v
}

// addOrder sums up what depends on the order of the requests.
func (s *summary) addOrder(t *Trace, cell time.Duration) {
	cells := int(t.span / cell)
	var within [2]moments
	counts, inCell := make([]float64, cells), [2][]moments{make([]moments, cells), make([]moments, cells)}
	apps := make([]map[uint16]float64, cells)
	for _, q := range t.rows {
		k := int(q.at / cell)
		for i, n := range [2]int32{q.prompt, q.output} {
			if n == 0 {
				continue
			}
			x := math.Log(float64(n))
			s.logs[i] = append(s.logs[i], x)
			if k < cells {
				inCell[i][k].add(x)
				within[i].add(x)
			}
		}
		if k >= cells {
			continue
		}
		counts[k]++
		if apps[k] == nil {
			apps[k] = map[uint16]float64{}
		}
		apps[k][q.app]++
	}
	for i := range s.drift {
		s.drift[i] = betweenShare(within[i], inCell[i])
	}
	for k, m := range apps {
		s.mix += entropy(m) * counts[k] / float64(len(t.rows))
	}
	for _, n := range counts {
		s.rates = append(s.rates, n/cell.Seconds())
	}
	slices.Sort(s.rates)
}

// moments are of values that were added.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }

// scatter is the sum of the squared distances from the mean.
func (m moments) scatter() float64 {
	if m.n == 0 {
		return 0
	}
	return m.squares - m.sum*m.sum/m.n
}

// betweenShare is the share of the scatter that is not within cells (the square of
// the correlation ratio; Pearson, 1905); NaN where there is none.
func betweenShare(all moments, cells []moments) float64 {
	total := all.scatter()
	if total <= 1e-9*all.n {
		return math.NaN()
	}
	within := 0.
	for _, c := range cells {
		within += c.scatter()
	}
	return 1 - within/total
}

// entropy in bits. The terms are added in order of size: a map has none of its own.
func entropy(counts map[uint16]float64) (h float64) {
	var all float64
	var ns []float64
	for _, n := range counts {
		ns = append(ns, n)
		all += n
	}
	slices.Sort(ns)
	for _, n := range ns {
		h -= n / all * math.Log2(n/all)
	}
	return h
}
