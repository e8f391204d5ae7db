package fidelity

import "strconv"

// lags are in requests.
var lags = []int{1, 10, 100, 500}

// orderMeasures are of which kind of request comes when. The same requests in
// another order, each with its own lengths, differ in these alone, and a server
// feels it: long ones that come together queue.
func orderMeasures(apps int) (ms []measure) {
	m := measure{group: Order, kind: Difference, tolerance: .05}
	for i, name := range []string{"prompt", "output"} {
		for _, lag := range lags {
			m.name, m.at = name+" acf", "lag "+strconv.Itoa(lag)
			m.value = func(s *summary) float64 { return autocorrelation(s.logs[i], lag) }
			ms = append(ms, m)
		}
		m.name, m.at = name+" drift", ""
		m.value = func(s *summary) float64 { return s.drift[i] }
		ms = append(ms, m)
	}
	if apps > 1 {
		m.name, m.unit, m.tolerance = "mix of apps", "bits", .1
		m.value = func(s *summary) float64 { return s.mix }
		ms = append(ms, m)
	}
	return ms
}
