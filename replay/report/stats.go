package report

import (
	"slices"

	"wavetank/traces"
)

// QuantileMethod names how quantiles are taken: Hyndman and Fan's type 7 of
// all values, none of them binned or dropped.
const QuantileMethod = "hf7"

// A Stat is one Metric over rows.
type Stat struct {
	Unit       string              `json:"unit"`
	Definition string              `json:"definition"`
	Rows       Rows                `json:"rows"`
	N          int64               `json:"n"`
	Excluded   map[string]int64    `json:"n_excluded"` // the other rows, by reason; with N they add up to the offered ones
	Sum        Num                 `json:"sum"`
	Mean       Num                 `json:"mean"`
	Min        Num                 `json:"min"`
	Max        Num                 `json:"max"`
	Quantiles  map[string]Quantile `json:"quantiles"` // by the names of Percentiles
	Method     string              `json:"quantile_method"`

	p99 float64 // the estimate, however few rows there are
}

// A group is the rows of one app.
type group struct {
	offered  int64
	statuses map[traces.Status]int64
	columns  []column           // of Metrics
	excluded []map[string]int64 // of Metrics
}

func newGroup() *group {
	g := &group{
		statuses: noStatuses(),
		columns:  make([]column, len(Metrics)),
		excluded: make([]map[string]int64, len(Metrics)),
	}
	for i, m := range Metrics {
		g.columns[i].perUnit = stepsPerUnit[m.Unit]
		g.excluded[i] = map[string]int64{}
	}
	return g
}

func (g *group) add(r *traces.Record) {
	g.offered++
	st := statusOf(r)
	g.statuses[st]++
	for i := range Metrics {
		m := &Metrics[i]
		if why := m.Rows.exclude(st, &r.Outcome); why != "" {
			g.excluded[i][why]++
		} else if v, ok := m.Of(r); ok {
			g.columns[i].add(v)
		} else {
			g.excluded[i][m.Why(r)]++
		}
	}
}

// statsOf sums the metrics up over the groups together.
func statsOf(groups ...*group) map[string]Stat {
	stats := make(map[string]Stat, len(Metrics))
	var values []float64 // reused: one metric's values at a time
	for i, m := range Metrics {
		s := Stat{Unit: m.Unit, Definition: m.About, Rows: m.Rows, Excluded: map[string]int64{}, Method: QuantileMethod}
		rows := 0
		for _, g := range groups {
			rows += g.columns[i].n
		}
		values = slices.Grow(values[:0], rows)
		for _, g := range groups {
			values = g.columns[i].appendTo(values)
			for why, n := range g.excluded[i] {
				s.Excluded[why] += n
			}
		}
		slices.Sort(values)
		s.fill(values)
		stats[m.Name] = s
	}
	return stats
}

func (s *Stat) fill(sorted []float64) {
	s.N = int64(len(sorted))
	s.Sum, s.Mean, s.Min, s.Max = undefined, undefined, undefined, undefined
	s.Quantiles = make(map[string]Quantile, len(Percentiles))
	for _, p := range Percentiles {
		s.Quantiles[p.Name] = p.of(sorted)
	}
	if s.N == 0 {
		return
	}
	var sum float64
	for _, v := range sorted {
		sum += v
	}
	s.Sum, s.Mean = Num(sum), Num(sum/float64(s.N))
	s.Min, s.Max = Num(sorted[0]), Num(sorted[s.N-1])
	s.p99 = hf7(sorted, .99)
}
