package fit

import (
	"math"
	"time"
)

// Season is the rhythm of the day, or of the week where two weeks were seen: hourly
// rates from the window's start on. Everything else is modelled in seasonal time, in
// which the rate is even.
type Season struct {
	Period   time.Duration `yaml:"period"`
	Relative []float64     `yaml:"relative,flow"`        // of each hour, of mean 1, smoothed
	Level    *Wave         `yaml:"level,omitempty,flow"` // by which whole spans are above or below it
}

const (
	seasonWidth  = time.Hour
	leastSeason  = .01 // of the mean rate: seasonal time must go on at night
	wholePeriods = .96 // of a period that count as all of it: a window ends with its last request
	levelSpans   = 8   // that say something of their level
	leastLevel   = .03
)

// findSeason returns nil for a window of less than two days: one day does not show what
// the next will be.
func findSeason(d *arrivalData) *Season {
	const day = 24 * time.Hour
	periods := func(p time.Duration) float64 { return float64(d.window) / float64(p) }
	s := &Season{Period: day}
	if periods(7*day) >= 1+wholePeriods {
		s.Period = 7 * day
	} else if periods(day) < 1+wholePeriods {
		return nil
	}
	s.Relative = smoothed(hourly(d, s.Period))
	return s
}

// hourly are the rates of the period's hours, over the time that each was seen.
func hourly(d *arrivalData, period time.Duration) []float64 {
	n := make([]float64, period/seasonWidth)
	seen := make([]float64, len(n))
	for _, t := range d.times {
		n[t%period/seasonWidth]++
	}
	for from := time.Duration(0); from < d.window; from += seasonWidth {
		seen[from%period/seasonWidth] += min(d.window-from, seasonWidth).Seconds()
	}
	for i := range n {
		n[i] /= max(seen[i], 1)
	}
	return n
}

// smoothed halves each hour's own chance by its neighbours', and makes the mean 1.
func smoothed(rates []float64) []float64 {
	out := make([]float64, len(rates))
	k := len(rates)
	var mean float64
	for i := range rates {
		mean += rates[i] / float64(k)
	}
	var sum float64
	for i := range rates {
		out[i] = max((rates[(i+k-1)%k]+2*rates[i]+rates[(i+1)%k])/4, leastSeason*mean)
		sum += out[i]
	}
	for i := range out {
		out[i] = roundTo(out[i]*float64(k)/sum, 3)
	}
	return out
}

func (s *Season) walk() *rateWalk { return newRateWalk(seasonWidth, s.Period, s.Relative, 1) }

// even returns d in seasonal time.
func (s *Season) even(d *arrivalData) *arrivalData {
	w := s.walk()
	out := *d
	out.times = make([]time.Duration, len(d.times))
	cells := make([]float64, len(w.rate)) // seasonal seconds before each
	for i := 1; i < len(cells); i++ {
		cells[i] = cells[i-1] + w.rate[i-1]*w.width
	}
	at := func(t time.Duration) time.Duration {
		inside := (t % s.Period).Seconds()
		i := min(int(inside/w.width), len(cells)-1)
		seconds := float64(t/s.Period)*w.total + cells[i] + w.rate[i]*(inside-float64(i)*w.width)
		return time.Duration(seconds * 1e9)
	}
	for i, t := range d.times {
		out.times[i] = at(t)
	}
	out.window = max(at(d.window), out.times[len(out.times)-1])
	return &out
}

// level is how the counts of whole spans vary beyond what idc, the dispersion inside
// a span, leads to; nil if hardly.
func level(counts []float64, idc float64, spanLength float64) *Wave {
	n := float64(len(counts))
	var mean, variance, lagged float64
	for _, c := range counts {
		mean += c / n
	}
	for i, c := range counts {
		variance += (c - mean) * (c - mean) / n
		if i > 0 {
			lagged += (c - mean) * (counts[i-1] - mean) / (n - 1)
		}
	}
	excess := variance - idc*mean
	if len(counts) < levelSpans || !(excess > leastLevel*leastLevel*mean*mean) {
		return nil
	}
	keep := min(max(lagged/excess, .05), .95)
	w := Wave{math.Sqrt(math.Log1p(excess / (mean * mean))), -spanLength / math.Log(keep)}.rounded()
	return &w
}
