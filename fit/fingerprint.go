package fit

import (
	"math"
	"time"
)

// A Fingerprint is what a span of arrivals looks like to a server: a synthetic span is
// judged by how near its own comes.
type Fingerprint struct {
	Rate     float64         `yaml:"rate"` // requests a second, at which the rest was taken; thinned, if less than the mean
	Scales   []time.Duration `yaml:"scales,flow"`
	IDC      []float64       `yaml:"idc,flow"`   // at each scale
	Loads    []float64       `yaml:"loads,flow"` // of the virtual backlog, in mean work that arrives
	Requests []Backlog       `yaml:"requests,flow"`
	Prompt   []Backlog       `yaml:"prompt,omitempty,flow"` // with its class's mean prompt as a request's weight
	Output   []Backlog       `yaml:"output,omitempty,flow"`
	Work     [][2]float64    `yaml:"work,omitempty,flow"`  // each class's mean prompt and output, over the mean of all
	Empty    []float64       `yaml:"empty,omitempty,flow"` // shares of the intervals of 5 s and 1 m without a request
}

// Loads for which the backlog says something: bursts swamp a server that is mostly
// idle, and a smooth stream only one that is almost full.
var (
	burstyLoads = []float64{1.1, 1.3, 2, 3, 5, 8}
	smoothLoads = []float64{1.1, 1.25, 1.5, 2}
	emptyWidths = []time.Duration{5 * time.Second, time.Minute}
)

// idcWeight is what the logarithm of an IDC counts, beside that of a backlog: there are
// fewer of them, and at half of this bursty spans were taken that disperse too much over minutes.
const idcWeight = 1.4

// burstyPhi is the von Neumann ratio from which traffic is bursty: Azure's code
// completion has 32, its conversations 1.1.
const burstyPhi = 2

// blank is a fingerprint to be filled in, of a window as long as d with those shares of
// the classes. It begins above what d's clock can tell.
func (d *arrivalData) blank(shares []float64, rate float64, bursty bool) *Fingerprint {
	f := &Fingerprint{Rate: rate, Loads: smoothLoads}
	for _, scale := range ScalesWithin(d.window) {
		if d.tells(scale) {
			f.Scales = append(f.Scales, scale)
		}
	}
	if bursty {
		f.Loads = burstyLoads
	}
	if bursty && d.tells(emptyWidths[0]) {
		f.Empty = make([]float64, len(emptyWidths))
	}
	f.IDC, f.Requests = make([]float64, len(f.Scales)), make([]Backlog, len(f.Loads))
	if bursty || len(d.work) < 2 {
		return f // the classes are independent of the bursts, or all alike
	}
	f.Work = relativeWork(d.work, shares)
	if f.Work[0][0] > 0 {
		f.Prompt = make([]Backlog, len(f.Loads))
	}
	if f.Work[0][1] > 0 {
		f.Output = make([]Backlog, len(f.Loads))
	}
	return f
}

// relativeWork is 0 throughout where a class's work is not known.
func relativeWork(work [][2]float64, shares []float64) [][2]float64 {
	out := make([][2]float64, len(work))
	for side := range 2 {
		var mean float64
		known := true
		for c, w := range work {
			mean += w[side] * shares[c]
			known = known && w[side] > 0
		}
		for c := range work {
			if known && mean > 0 {
				out[c][side] = roundTo(work[c][side]/mean, 4)
			}
		}
	}
	return out
}

// A gauge takes fingerprints, in memory of its own.
type gauge struct {
	like    *Fingerprint
	window  time.Duration
	weights []float64
}

// features are those of like, of another span: what distances are taken of. They are the
// logarithms of each IDC, by its weight, and of each backlog and 3 requests, and the roots of
// the empty shares.
func (g *gauge) features(s *span) []float64 {
	f := g.like
	var out []float64
	for _, scale := range f.Scales {
		idc := ArrivalIDC(s.times, g.window, scale)
		if !(idc > 0) {
			idc = 1
		}
		out = append(out, idcFeature(idc))
	}
	for _, load := range f.Loads {
		out = appendBacklog(out, backlog(s.times, nil, 1, load*f.Rate))
	}
	for side, want := range [][]Backlog{f.Prompt, f.Output} {
		if want == nil {
			continue
		}
		g.weigh(s, side)
		for _, load := range f.Loads {
			out = appendBacklog(out, backlog(s.times, g.weights, 1, load*f.Rate))
		}
	}
	for i := range f.Empty {
		out = append(out, math.Sqrt(emptyShare(s.times, g.window, emptyWidths[i])))
	}
	return out
}

func (g *gauge) weigh(s *span, side int) {
	g.weights = g.weights[:0]
	for _, c := range s.class {
		g.weights = append(g.weights, g.like.Work[c][side])
	}
}

func idcFeature(idc float64) float64 { return idcWeight * math.Log(idc) }

func appendBacklog(out []float64, b Backlog) []float64 {
	for _, q := range b {
		out = append(out, math.Log(backlogOffset+q))
	}
	return out
}

// features are f's own, as written.
func (f *Fingerprint) features() (out []float64) {
	for _, idc := range f.IDC {
		out = append(out, idcFeature(idc))
	}
	for _, side := range [][]Backlog{f.Requests, f.Prompt, f.Output} {
		for _, b := range side {
			out = appendBacklog(out, b)
		}
	}
	for _, e := range f.Empty {
		out = append(out, math.Sqrt(e))
	}
	return out
}

// set is the inverse of features, to three digits.
func (f *Fingerprint) set(x []float64) {
	next := func() float64 { v := x[0]; x = x[1:]; return v }
	for i := range f.IDC {
		f.IDC[i] = roundTo(math.Exp(next()/idcWeight), 3)
	}
	for _, side := range [][]Backlog{f.Requests, f.Prompt, f.Output} {
		for i := range side {
			for k := range side[i] {
				side[i][k] = roundTo(max(math.Exp(next())-backlogOffset, 0), 3)
			}
		}
	}
	for i := range f.Empty {
		v := next()
		f.Empty[i] = roundTo(v*v, 3)
	}
}

// distance is the sum of the squared differences of features.
func distance(a, b []float64) (sum float64) {
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return sum
}

// emptyShare is the share of the intervals of that width without an arrival.
func emptyShare(arrivals []time.Duration, window, width time.Duration) float64 {
	cells := window / width
	if cells == 0 {
		return 0
	}
	var taken time.Duration
	last := time.Duration(-1)
	for _, t := range arrivals {
		if k := t / width; k != last && k < cells {
			taken++
			last = k
		}
	}
	return 1 - float64(taken)/float64(cells)
}
