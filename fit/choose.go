package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Candidate is a family that was tried, and why it was not taken.
type Candidate struct {
	Family string  `yaml:"family"`
	Bits   float64 `yaml:"bits,omitempty"` // see Goodness
	BIC    float64 `yaml:"bic,omitempty"`
	KS     float64 `yaml:"ks,omitempty"`
	Q50    float64 `yaml:"q50,omitempty"` // relative error
	Q99    float64 `yaml:"q99,omitempty"` // relative error
	Why    string  `yaml:"why"`
}

// tieBits is a difference in bits a request that nothing notices: two distributions
// so near differ by less than .0084 in any cumulative share (Pinsker's inequality).
const tieBits = 2e-4

// A contest is what families are compared on.
type contest struct {
	families []Family  // in the order in which they are tried; the last is the fallback
	data     Sample    // what likelihoods are taken of
	folds    [2]Sample // the same by alternating blocks of time; no bins: not known
	plain    Sample    // the same ungrouped, for the fallback
	judge    func(Family, []float64) *Goodness
}

// A choice is the family taken and what is known of the others.
type choice struct {
	family   string
	params   []float64
	fit      *Goodness
	closest  string
	rejected []Candidate
}

type trial struct {
	Candidate
	params []float64
	fit    *Goodness
	times  float64   // of the bound, if it misses
	each   []float64 // bits of a request in each cell of the data, held out
}

// choose fits families to data that came without folds.
func choose(families []Family, s, ungrouped Sample, judge func(Family, []float64) *Goodness) (choice, error) {
	return contest{families: families, data: s, plain: ungrouped, judge: judge}.run()
}

// run tries the families until one is acceptable and leaves nothing to gain. Of those
// that are acceptable it takes the one of fewest bits, held out; and of those that tie
// with it, the one of least BIC. If none is acceptable, it takes the fallback.
func (c contest) run() (choice, error) {
	if len(c.data.Bins) == 0 {
		return choice{}, errNoData
	}
	last := len(c.families) - 1
	var trials []trial
	var untried []Candidate
	settled := ""
	for _, f := range c.families[:last] {
		if settled != "" {
			untried = append(untried, Candidate{Family: f.Name, Why: "not tried: " + settled + " leaves nothing to gain"})
			continue
		}
		t := c.try(f)
		trials = append(trials, t)
		if t.Why == "" && c.settles(f, t.params) {
			settled = f.Name
		}
	}
	slices.SortStableFunc(trials, func(a, b trial) int { return cmp.Compare(a.Bits, b.Bits) })
	taken := c.best(trials)
	if taken < 0 {
		out, err := c.fallBack()
		out.closest, out.rejected = closest(trials), rejected(trials, untried)
		return out, err
	}
	t := trials[taken]
	trials = slices.Delete(trials, taken, taken+1)
	for i := range trials {
		if l := &trials[i]; l.Why == "" {
			l.Why = fmt.Sprintf("%.3g bits more", l.Bits-t.Bits)
			if !(l.Bits-t.Bits > c.noise(*l, t)) {
				l.Why = "bits tie, bic is greater"
			}
		}
	}
	return choice{t.Family, t.params, t.fit, "", rejected(trials, untried)}, nil
}

// best is the acceptable trial of least BIC among those that tie with the one of fewest
// bits, and -1 where none is acceptable.
func (c contest) best(byBits []trial) int {
	first := slices.IndexFunc(byBits, func(t trial) bool { return t.Why == "" })
	taken := first
	for i := max(first, 0); i < len(byBits); i++ {
		t := byBits[i]
		if t.Why == "" && t.Bits-byBits[first].Bits <= c.noise(t, byBits[first]) && t.BIC < byBits[taken].BIC {
			taken = i
		}
	}
	return taken
}

// noise is what two families' bits must differ by to be told apart: two standard
// errors of the mean of the differences, request by request, and no less than tieBits.
func (c contest) noise(a, b trial) float64 {
	var n, m1, m2 float64
	for k, w := range c.weights() {
		d := a.each[k] - b.each[k]
		n, m1, m2 = n+w, m1+w*d, m2+w*d*d
	}
	m1 /= n
	return max(2*math.Sqrt(max(m2/n-m1*m1, 0)/n), tieBits)
}

// try fits one family and judges it as it would be written, rounded. Of several sizes
// it takes the best that is acceptable, or else the best.
func (c contest) try(f Family) trial {
	sizes, err := f.all(c.data)
	if err != nil {
		return trial{Candidate: Candidate{Family: f.Name, Bits: math.MaxFloat64, Why: err.Error()}, times: math.Inf(1)}
	}
	t := c.judged(f, sizes[0])
	for _, params := range sizes[1:] {
		if t.Why == "" {
			break
		}
		if other := c.judged(f, params); other.Why == "" {
			t = other
		}
	}
	if t.fit == nil {
		return t
	}
	if t.Bits, t.each, err = c.bits(f, t.params); err != nil {
		t.Bits, t.Why, t.times = math.MaxFloat64, err.Error(), math.Inf(1)
		return t
	}
	t.Bits = round(t.Bits)
	t.fit.Bits = t.Bits
	return t
}

func (f Family) all(s Sample) ([][]float64, error) {
	if f.sizes != nil {
		return f.sizes(s)
	}
	params, err := f.Fit(s)
	return [][]float64{params}, err
}

func (c contest) judged(f Family, params []float64) trial {
	t := trial{Candidate: Candidate{Family: f.Name, Bits: math.MaxFloat64}, times: math.Inf(1)}
	t.params = roundAll(params)
	if err := f.Check(t.params); err != nil {
		t.Why = err.Error()
		return t
	}
	t.BIC, t.fit = round(f.BIC(c.data, t.params)), c.judge(f, t.params)
	t.fit.BIC = t.BIC
	t.KS, t.Q50, t.Q99 = t.fit.KS, t.fit.Q50, t.fit.Q99
	t.Why, t.times = t.fit.misses()
	return t
}

// parts are the folds, or the data alone where a fold has too few.
func (c contest) parts() []Sample {
	for _, f := range c.folds {
		if f.whole() < minRequests {
			return []Sample{c.data}
		}
	}
	return c.folds[:]
}

func (c contest) weights() (out []float64) {
	for _, s := range c.parts() {
		for _, b := range s.Bins {
			out = append(out, b.N)
		}
		for _, o := range s.Over {
			out = append(out, o.N)
		}
	}
	return out
}

// bits returns the code length of a request: the held-out log-likelihood, each fold's
// under what was fitted to the other, in which a token of a bin of w tokens has the
// probability of the bin over w. Without folds it is the likelihood of all,
// with what BIC charges.
func (c contest) bits(f Family, params []float64) (mean float64, each []float64, err error) {
	parts := c.parts()
	var n float64
	for i, s := range parts {
		fitted := params
		if len(parts) > 1 {
			if fitted, err = f.again(parts[1-i], params); err != nil {
				return 0, nil, fmt.Errorf("on half of the time, %w", err)
			}
		}
		logs := s.logProbs(f.Dist(fitted))
		if logs == nil {
			return 0, nil, errNoFit
		}
		for k, l := range logs {
			w := 1.
			if k < len(s.Bins) {
				w = s.Bins[k].Hi - s.Bins[k].Lo
			}
			each = append(each, (math.Log(w)-l)/math.Ln2)
		}
		n += s.N()
	}
	for k, w := range c.weights() {
		mean += w * each[k] / n
	}
	if len(parts) == 1 {
		mean += f.free(params) * math.Log2(n) / (2 * n)
	}
	return mean, each, nil
}

func (f Family) again(s Sample, near []float64) ([]float64, error) {
	if f.refit == nil {
		return f.Fit(s)
	}
	return f.refit(s, near)
}

func (c contest) fallBack() (choice, error) {
	f := c.families[len(c.families)-1]
	params, err := f.Fit(c.plain)
	if err != nil {
		return choice{}, err
	}
	params = roundAll(params)
	return choice{family: f.Name, params: params, fit: c.judge(f, params)}, f.Check(params)
}

func closest(trials []trial) string {
	best := slices.MinFunc(trials, func(a, b trial) int { return cmp.Compare(a.times, b.times) })
	return best.Family + ": " + best.Why
}

func rejected(trials []trial, untried []Candidate) (out []Candidate) {
	for _, t := range trials {
		if t.Bits == math.MaxFloat64 {
			t.Bits = 0
		}
		out = append(out, t.Candidate)
	}
	return append(out, untried...)
}
