package lint

import "time"

// A Dispersion is the index of dispersion for counts (Cox and Lewis, The
// statistical analysis of series of events, 1966): the variance of the number of
// arrivals in a window over its mean, 1 at every window for a Poisson process. It
// is of the whole windows that follow one another from the first arrival on, with
// their sample variance.
type Dispersion struct {
	Window  time.Duration `json:"window_ns"`
	Windows int64         `json:"windows"` // whole ones in the span
	IDC     *float64      `json:"idc"`     // nil below 10 windows
}

// minWindows make a variance that says anything: that of ten counts is right to
// half of itself (its standard error, of normal ones, is sqrt(2/9)).
const minWindows = 10

// idcWindows are the scales of bursts that a server's queue can feel.
var idcWindows = []time.Duration{
	100 * time.Millisecond, time.Second, 5 * time.Second, 10 * time.Second,
	30 * time.Second, time.Minute, 150 * time.Second, 5 * time.Minute,
}

// dispersions are of sorted arrivals.
func dispersions(at []time.Duration) []Dispersion {
	out := make([]Dispersion, len(idcWindows))
	for i, w := range idcWindows {
		n := int64((at[len(at)-1] - at[0]) / w)
		out[i] = Dispersion{Window: w, Windows: n}
		if n >= minWindows {
			out[i].IDC = known(idc(at, w, n))
		}
	}
	return out
}

func idc(at []time.Duration, w time.Duration, n int64) float64 {
	var rows, squares float64
	for i, first := 0, at[0]; i < len(at); {
		k, begin := (at[i]-first)/w, i
		if int64(k) >= n {
			break
		}
		for i < len(at) && (at[i]-first)/w == k {
			i++
		}
		c := float64(i - begin)
		rows, squares = rows+c, squares+c*c
	}
	mean := rows / float64(n)
	return (squares - rows*mean) / float64(n-1) / mean
}
