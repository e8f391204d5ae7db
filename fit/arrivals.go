package fit

import (
	"maps"
	"math"
	"slices"
	"time"
)

const (
	defaultWidth = time.Minute
	maxCells     = 20160 // two weeks of minutes; a longer trace gets wider cells
	cellRequests = 20    // at least, on average: a finer curve is noise, and synthesis adds its own to it
	gapUnit      = 1e-6  // below it a gap is as good as none: a second of time, or a mean gap
)

// Rate is a piecewise constant curve of how many requests come.
type Rate struct {
	Width    time.Duration `yaml:"width"` // of each cell; the last one ends with the window
	Mean     float64       `yaml:"mean"`  // requests a second over the window
	Relative []float64     `yaml:"relative,flow"`
}

// Arrivals models the pauses between requests as a renewal process in operational
// time: time stretched so that the rate curve is 1 everywhere (Cox and Lewis, 1966).
type Arrivals struct {
	Family   string      `yaml:"family"` // of the gaps, whose mean is 1
	Params   []float64   `yaml:"params,omitempty,flow"`
	CV       float64     `yaml:"cv"` // of the gaps in operational time, as observed
	Fit      *Goodness   `yaml:"fit,omitempty"`
	Closest  string      `yaml:"closest,omitempty"`
	Rejected []Candidate `yaml:"rejected,omitempty"`
}

// Dist returns the distribution of the gaps. a must be valid.
func (a *Arrivals) Dist() Dist {
	f, _ := lookup(GapFamilies, a.Family)
	return f.Dist(a.Params)
}

// A cell is what is remembered of the arrivals in one interval: enough to rescale
// their gaps by any rate, and to be joined with the next cell.
type cell struct {
	n           int64
	first, last time.Duration
	gaps        map[int]int64 // by gapBin, of those inside the cell
}

func (c *cell) add(t time.Duration) {
	if c.n == 0 {
		c.first, c.gaps = t, make(map[int]int64)
	} else {
		c.gaps[gapBin((t-c.last).Seconds())]++
	}
	c.last = t
	c.n++
}

// join appends the cell that follows c.
func (c *cell) join(next cell) {
	if next.n == 0 {
		return
	}
	if c.n == 0 {
		*c = next
		return
	}
	for b, n := range next.gaps {
		c.gaps[b] += n
	}
	c.gaps[gapBin((next.first-c.last).Seconds())]++
	c.last = next.last
	c.n += next.n
}

// timeline counts arrivals in cells of one width.
type timeline struct {
	width time.Duration
	cells []cell
}

func (l *timeline) add(t time.Duration) {
	for int(t/l.width) >= maxCells {
		l.widen()
	}
	for i := int(t / l.width); i >= len(l.cells); {
		l.cells = append(l.cells, cell{})
	}
	l.cells[t/l.width].add(t)
}

// widen doubles the width.
func (l *timeline) widen() {
	l.width *= 2
	half := l.cells[:0]
	for i := 0; i < len(l.cells); i += 2 {
		c := l.cells[i]
		if i+1 < len(l.cells) {
			c.join(l.cells[i+1])
		}
		half = append(half, c)
	}
	l.cells = half
}

func (l *timeline) n() (n int64) {
	for _, c := range l.cells {
		n += c.n
	}
	return n
}

// fill makes the cells cover the window and, unless the width was asked for,
// wide enough that the curve says something.
func (l *timeline) fill(window time.Duration, asked bool) {
	for time.Duration(len(l.cells))*l.width < window {
		l.cells = append(l.cells, cell{})
	}
	if last := len(l.cells) - 1; last > 0 && time.Duration(last)*l.width >= window {
		l.cells[last-1].join(l.cells[last]) // the last arrival stands on the edge of the window
		l.cells = l.cells[:last]
	}
	for !asked && len(l.cells) > 1 && l.n() < int64(len(l.cells))*cellRequests {
		l.widen()
	}
}

// rates returns each cell's rate in requests a second.
func (l *timeline) rates(window time.Duration) []float64 {
	out := make([]float64, len(l.cells))
	for i, c := range l.cells {
		start := time.Duration(i) * l.width
		out[i] = float64(c.n) / (min(start+l.width, window) - start).Seconds()
	}
	return out
}

// curve is the rate over the window.
func (l *timeline) curve(window time.Duration) Rate {
	mean := float64(l.n()) / window.Seconds()
	r := Rate{Width: l.width, Mean: round(mean)}
	for _, v := range l.rates(window) {
		r.Relative = append(r.Relative, round(v/mean))
	}
	return r
}

// operational returns the gaps in operational time.
func (l *timeline) operational(window time.Duration) Sample {
	bins := make(map[int]int64)
	rates := l.rates(window)
	prev := -1
	for i, c := range l.cells {
		if c.n == 0 {
			continue
		}
		for b, n := range c.gaps {
			bins[gapBin(gapCentre(b)*rates[i])] += n
		}
		if prev >= 0 {
			end := time.Duration(prev+1) * l.width
			start := time.Duration(i) * l.width
			bins[gapBin((end-l.cells[prev].last).Seconds()*rates[prev]+(c.first-start).Seconds()*rates[i])]++
		}
		prev = i
	}
	return gapSample(bins)
}

func gapSample(bins map[int]int64) Sample {
	s := Sample{Hi: math.Inf(1)}
	for _, b := range slices.Sorted(maps.Keys(bins)) {
		lo, hi := gapEdges(b)
		s.Bins = append(s.Bins, Bin{lo, hi, float64(bins[b])})
	}
	return s
}

// gapBin is the index of a gap's bin: 1 % wide above gapUnit, and -1 below.
func gapBin(x float64) int {
	if x <= gapUnit {
		return -1
	}
	return int(math.Log(x/gapUnit) / math.Log(binRatio))
}

func gapEdges(bin int) (lo, hi float64) {
	hi = gapUnit * math.Pow(binRatio, float64(bin+1))
	if bin < 0 {
		return 0, hi
	}
	return gapUnit * math.Pow(binRatio, float64(bin)), hi
}

func gapCentre(bin int) float64 {
	if bin < 0 {
		return 0
	}
	return gapUnit * math.Pow(binRatio, float64(bin)+.5)
}

// fitArrivals fits a renewal process to gaps in operational time.
func fitArrivals(gaps Sample) (*Arrivals, error) {
	c, err := choose(GapFamilies, gaps, gaps, func(f Family, params []float64) *Goodness {
		return judge(gaps, f.Dist(params))
	})
	if err != nil {
		return nil, err
	}
	return &Arrivals{c.family, c.params, round(GapCV(gaps)), c.fit, c.closest, c.rejected}, nil
}
