package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Curve is arrivals as they were recorded: each class has a piecewise constant rate,
// and the gaps of a renewal process in operational time, in which that rate is 1
// everywhere (Cox and Lewis, 1966).
type Curve struct {
	Width   time.Duration `yaml:"width"` // of each cell; the last one ends with the window
	Classes []ClassCurve  `yaml:"classes"`
}

// ClassCurve is the arrivals of one class of requests.
type ClassCurve struct {
	Share    float64   `yaml:"share"`         // of the requests
	Relative []float64 `yaml:"relative,flow"` // rate of each cell over the class's mean over the window
	Gaps     Gaps      `yaml:"gaps"`          // in operational time
}

// Gaps is a distribution of mean 1.
type Gaps struct {
	Family  string    `yaml:"family"`
	Params  []float64 `yaml:"params,omitempty,flow"`
	CV      float64   `yaml:"cv"` // as observed
	Fit     *Goodness `yaml:"fit,omitempty"`
	Closest string    `yaml:"closest,omitempty"`
}

// Dist returns the distribution. g must be valid.
func (g *Gaps) Dist() Dist {
	f, _ := lookup(GapFamilies, g.Family)
	return f.Dist(g.Params)
}

// curveWidths are tried in this order: a minute, which most traffic is well with; wider,
// for what is so steady that a minute's rate is mostly chance; then finer.
var curveWidths = []time.Duration{
	time.Minute, 5 * time.Minute, 10 * time.Minute, time.Hour,
	30 * time.Second, 10 * time.Second, 5 * time.Second, 2 * time.Second, time.Second,
}

const (
	idcTolerance     = .3     // of a simulated curve's dispersion, relative
	backlogTolerance = .25    // of its backlog features, root mean square
	curveRequests    = 120000 // that a width is simulated with
	curveBlocks      = 3      // contiguous parts of a longer trace that stand for it
	maxCurveSims     = 6
	farKS            = .1 // from the nearest named family: its shape is another
)

// fitCurve keeps the rates of d in cells of that width, or if it is 0, of the width
// that curveWidth finds.
func fitCurve(d *arrivalData, width time.Duration) (*Curve, error) {
	if width == 0 {
		width = d.curveWidth()
	}
	width = d.widened(width)
	c := &Curve{Width: width}
	for k, share := range d.shares() {
		class := newOperational(d.ofClass(k), d.window, width)
		gaps, err := class.fit()
		if err != nil {
			return nil, err
		}
		cc := ClassCurve{Share: round(share), Gaps: *gaps, Relative: make([]float64, len(class.n))}
		mean := float64(len(class.times)) / d.window.Seconds()
		for i, n := range class.n {
			if n > 0 {
				cc.Relative[i] = roundTo(n/class.length(i).Seconds()/mean, 4)
			}
		}
		c.Classes = append(c.Classes, cc)
	}
	return c, nil
}

// widened doubles a width until a profile has room for all cells of all classes.
func (d *arrivalData) widened(width time.Duration) time.Duration {
	for d.window/width > maxCells/time.Duration(d.classes()) {
		width *= 2
	}
	return width
}

func (d *arrivalData) ofClass(k int) []time.Duration {
	if d.class == nil {
		return d.times
	}
	var out []time.Duration
	for i, t := range d.times {
		if int(d.class[i]) == k {
			out = append(out, t)
		}
	}
	return out
}

// curveWidth is the first width at which simulated curves have the dispersion of d
// within idcTolerance at every scale, and its virtual backlog within backlogTolerance. Too coarse
// a curve loses bursts; too fine a one adds chance to the chance that it has recorded. Where no
// width does it is the one that comes nearest; where a minute does and traffic is sparse, cells
// are wide enough for 20 requests. A width below a minute must have room in a profile. A long trace is judged by three parts of it, 120,000
// requests together: beyond the width a curve is right whatever the width.
func (d *arrivalData) curveWidth() time.Duration {
	blocks := d.blocks()
	nearest, least := max(curveWidths[0], 2*d.tick), math.Inf(1)
	for _, width := range curveWidths {
		wide := d.widened(width)
		if !d.tells(width) || wide > width && width < time.Minute {
			continue
		}
		width = wide
		off := curveMiss(blocks, width)
		if off < least {
			nearest, least = width, off
		}
		if off <= 1 {
			break
		}
	}
	if nearest < time.Minute {
		return nearest
	}
	for nearest <= d.window/2 && d.rate()*nearest.Seconds() < cellRequests {
		nearest *= 2
	}
	return nearest
}

// A block is a part of a trace that simulations are compared with.
type block struct {
	arrivalData
	gauge gauge
	want  []float64
}

// blocks are all of d, if it is not long.
func (d *arrivalData) blocks() (out []block) {
	parts := []arrivalData{*d}
	if n := len(d.times); n > curveRequests {
		window := time.Duration(float64(d.window) * curveRequests / curveBlocks / float64(n))
		parts = d.parts(window, curveBlocks)
	}
	bursty := d.bursty()
	for _, p := range parts {
		print := p.blank(p.shares(), p.rate(), bursty)
		b := block{arrivalData: p, gauge: gauge{like: print, window: p.window}}
		b.want = b.gauge.features(&span{p.times, p.class})
		out = append(out, b)
	}
	return out
}

// parts are so many windows of d, evenly apart. Those with hardly a request are left out.
func (d *arrivalData) parts(window time.Duration, n int) (out []arrivalData) {
	for i := range n {
		start := (d.window - window) / time.Duration(max(n-1, 1)) * time.Duration(i)
		from, _ := slices.BinarySearch(d.times, start)
		to, _ := slices.BinarySearch(d.times, start+window)
		if to-from < minRequests {
			continue
		}
		part := arrivalData{work: d.work, window: window, tick: d.tick, times: make([]time.Duration, 0, to-from)}
		for _, t := range d.times[from:to] {
			part.times = append(part.times, t-start)
		}
		if d.class != nil {
			part.class = d.class[from:to]
		}
		out = append(out, part)
	}
	return out
}

// curveMiss is by how many times its tolerance a simulated curve is off, on average over the
// blocks. A dispersion may be off by chance as well.
func curveMiss(blocks []block, width time.Duration) (miss float64) {
	var n int
	for _, b := range blocks {
		n += len(b.times)
	}
	sims := min(max(curveRequests/n, 1), maxCurveSims)
	like := blocks[0].gauge.like
	idcs := len(like.IDC)
	var off, want []float64
	for i := range blocks {
		got := blocks[i].simulate(width, sims, uint64(i))
		off, want = addScaled(off, got, 1/float64(len(blocks))), addScaled(want, blocks[i].want, 1/float64(len(blocks)))
	}
	for j, scale := range like.Scales {
		idc := math.Exp(want[j] / idcWeight)
		chance := 1.96 * idcNoise(idc, float64(blocks[0].window/scale)) / math.Sqrt(float64(len(blocks)))
		miss = max(miss, math.Abs(math.Exp((off[j]-want[j])/idcWeight)-1)/(idcTolerance+chance))
	}
	return max(miss, math.Sqrt(distance(off[idcs:], want[idcs:])/float64(len(off)-idcs))/backlogTolerance)
}

// idcNoise is the relative standard deviation of an IDC over n intervals of a Poisson
// process whose rate is given and varies: that of the chance part of the counts' variance, 2/n
// of its square, and of its product with the varying part.
func idcNoise(idc, n float64) float64 { return math.Sqrt((2+4*max(idc-1, 0))/n) / idc }

// addScaled returns sum + by*x.
func addScaled(sum, x []float64, by float64) []float64 {
	if sum == nil {
		sum = make([]float64, len(x))
	}
	for i, v := range x {
		sum[i] += by * v
	}
	return sum
}

// simulate returns the mean features of curves of that width.
func (b *block) simulate(width time.Duration, sims int, seed uint64) []float64 {
	var classes []*operational
	for k := range b.classes() {
		classes = append(classes, newOperational(b.ofClass(k), b.window, width))
	}
	var mean []float64
	parts := make([][]time.Duration, len(classes))
	var all span
	for s := range sims {
		r := rand.New(rand.NewPCG(momentBase+uint64(s), seed))
		for k, c := range classes {
			parts[k] = c.resample(parts[k][:0], r)
		}
		all.merge(parts)
		mean = addScaled(mean, b.gauge.features(&all), 1/float64(sims))
	}
	return mean
}

// merge makes s of the sorted arrivals of each class.
func (s *span) merge(classes [][]time.Duration) {
	s.times, s.class = s.times[:0], s.class[:0]
	heads := slices.Clone(classes)
	for {
		first := -1
		for k, h := range heads {
			if len(h) > 0 && (first < 0 || h[0] < heads[first][0]) {
				first = k
			}
		}
		if first < 0 {
			return
		}
		s.times, s.class = append(s.times, heads[first][0]), append(s.class, uint8(first))
		heads[first] = heads[first][1:]
	}
}
