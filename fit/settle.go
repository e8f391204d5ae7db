package fit

import "math"

// settles says whether no other family could do better than tie with an acceptable
// one: what it loses against the shares of the data themselves (the deviance, less its
// degrees of freedom) would not pay BIC for one more parameter, or is under tieBits.
// Nothing is settled where lengths were cut: the data have no such shares.
func (c contest) settles(f Family, params []float64) bool {
	if len(c.data.Over) > 0 {
		return false
	}
	deviance, freedom := c.data.deviance(f.Dist(params))
	n := c.data.N()
	return deviance-(freedom-f.free(params)) <= max(math.Log(n), 2*n*math.Ln2*tieBits)
}

// deviance is 2 sum n ln(n/expected) over bins joined until 5 are expected, and the
// number of them less one.
func (s Sample) deviance(d Dist) (deviance, freedom float64) {
	n := s.N()
	left, end := at(d, s.Lo), at(d, s.Hi)
	norm := between(left, end)
	var got float64
	freedom = -1
	close := func(expected float64) {
		if got > 0 {
			deviance += 2 * got * math.Log(got/max(expected, minProb))
		}
		freedom++
	}
	for i, b := range s.Bins {
		got += b.N
		right := at(d, b.Hi)
		if rest := n * between(right, end) / norm; i == len(s.Bins)-1 || rest < 5 {
			for _, later := range s.Bins[i+1:] {
				got += later.N
			}
			close(n * between(left, end) / norm)
			return deviance, freedom
		}
		if expected := n * between(left, right) / norm; expected >= 5 {
			close(expected)
			left, got = right, 0
		}
	}
	return deviance, freedom
}
