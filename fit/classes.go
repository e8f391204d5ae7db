package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
)

// A tenant's or a model's requests are classes of their own if they are so many. There
// are only so many classes, two of every kind at least, and only so small.
const (
	kindRows    = 500
	kindShare   = .02 // of the app's requests
	mostKinds   = 8
	mostClasses = 2 * (mostKinds + 1)
	classRows   = 100 // on average, at least
)

// divide gives every row its class, and returns what it knows of the classes: the
// kinds of requests that are many, and within each the components of a mixture.
func (g *group) divide(most int) []Class {
	apart, kinds := g.kindsApart()
	spots := g.spots(apart, kinds)
	var classes []Class
	mixtures, first := make([]gmm, kinds), make([]int, kinds)
	tenants := g.tenantRanks(apart, kinds)
	for k := range mixtures {
		first[k] = len(classes)
		mixtures[k] = mixtureOf(spots[k], min(most, mostClasses/kinds))
		for range max(len(mixtures[k]), 1) {
			classes = append(classes, Class{Tenant: tenants[k]})
		}
	}
	classOf := make([]func(x, y float64) int, kinds)
	for k, m := range mixtures {
		classOf[k] = m.classifier()
	}
	known := make(map[[3]int32]uint8) // of the bins met so far
	for i := range g.rows {
		r := &g.rows[i]
		k := apart[r.kind]
		key := [3]int32{int32(k), r.bins[0], r.bins[1]}
		c, ok := known[key]
		if !ok {
			c = uint8(first[k] + classOf[k](logOf(key[1]), logOf(key[2])))
			known[key] = c
		}
		if r.prompt == 0 && r.output == 0 {
			c = uint8(first[k] + mixtures[k].byTurns(i))
		}
		r.class = c
	}
	return classes
}

// spots count the requests of each kind by the bins of their lengths.
func (g *group) spots(apart []int, kinds int) []map[[2]int32]int64 {
	spots := make([]map[[2]int32]int64, kinds)
	for i := range spots {
		spots[i] = make(map[[2]int32]int64)
	}
	for _, r := range g.rows {
		if !r.failed && (r.prompt > 0 || r.output > 0) {
			spots[apart[r.kind]][r.bins]++
		}
	}
	return spots
}

// binOf names the bin of a length; what is unknown has none.
func binOf(v int32) int32 {
	if v == 0 {
		return 0
	}
	lo, _ := tokenBin(v)
	return lo
}

func logOf(bin int32) float64 {
	if bin == 0 {
		return math.NaN()
	}
	x, _ := logBin(bin)
	return x
}

func mixtureOf(spots map[[2]int32]int64, most int) gmm {
	var n int64
	for _, c := range spots {
		n += c
	}
	if n < 2*classRows {
		most = 1
	}
	if n == 0 {
		return nil
	}
	return fitClasses(spotsOf(spots), min(most, max(1, int(n/classRows))))
}

// byTurns gives requests of which no length is known to the components in proportion
// to their weights, by a sequence of low discrepancy (Weyl's).
func (m gmm) byTurns(i int) int {
	_, u := math.Modf(float64(i) * (math.Sqrt(5) - 1) / 2)
	for k, g := range m {
		if u -= g.w; u < 0 {
			return k
		}
	}
	return max(len(m)-1, 0)
}

// kindsApart numbers the kinds that are classes of their own from 1, and all others 0,
// of which there may be none; then the last of the many is 0.
func (g *group) kindsApart() (apart []int, n int) {
	rows := make([]int, len(g.kinds.keys))
	for _, r := range g.rows {
		rows[r.kind]++
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[b], rows[a]) })
	apart = make([]int, len(rows))
	least := max(kindRows, int(kindShare*float64(len(g.rows))))
	others := false
	for rank, k := range order {
		if rank >= mostKinds || rows[k] < least {
			others = true
			continue
		}
		n++
		apart[k] = n
	}
	if others {
		return apart, n + 1
	}
	for k := range apart {
		apart[k]--
	}
	return apart, n
}

// tenantRanks names the tenants of the kinds apart by rank, and by nothing else.
func (g *group) tenantRanks(apart []int, kinds int) []string {
	out := make([]string, kinds)
	ranks := make(map[string]int)
	for k := range kinds {
		i := slices.Index(apart, k)
		t := g.kinds.keys[i].tenant
		if !t.Known || slices.Index(apart[i+1:], k) >= 0 { // several: the others
			continue
		}
		if ranks[t.V] == 0 {
			ranks[t.V] = len(ranks) + 1
		}
		out[k] = fmt.Sprintf("tenant-%d", ranks[t.V])
	}
	return out
}

// A summary is what the fit of one class needs.
type summary struct {
	n              int64
	prompt, output folded
	joint          *joint
	shares         [2][]int64
	models         map[string]int64
	sums, known    [2]float64 // of prompt and output
}

func newSummary() *summary {
	s := &summary{prompt: newFolded(), output: newFolded(), joint: newJoint(fields...), models: make(map[string]int64)}
	for i := range s.shares {
		s.shares[i] = make([]int64, shareBins+1)
	}
	return s
}

// summarise sums the rows up by class.
func (g *group) summarise(classes int) []*summary {
	out := make([]*summary, classes)
	for i := range out {
		out[i] = newSummary()
	}
	for i := range g.rows {
		r := &g.rows[i]
		s := out[r.class]
		s.n++
		if m := g.kinds.keys[r.kind].model; m.Known {
			s.models[m.V]++
		}
		if !r.failed {
			s.add(r, g.part(0, i), g.part(1, i))
		}
	}
	return out
}

func (s *summary) add(r *row, reasoning, cached int32) {
	bins := [4]int32{-1, -1, -1, -1}
	if r.prompt > 0 {
		s.prompt.add(r.at, r.prompt, false)
		s.sums[0], s.known[0] = s.sums[0]+float64(r.prompt), s.known[0]+1
		bins[0] = r.bins[0]
	}
	if r.output > 0 {
		s.output.add(r.at, r.output, r.limit > 0)
		s.sums[1], s.known[1] = s.sums[1]+float64(r.output), s.known[1]+1
		bins[1] = r.bins[1]
	}
	for i, p := range []struct{ part, whole int32 }{{reasoning, r.output}, {cached, r.prompt}} {
		if p.part != unknownPart && p.whole > 0 {
			b := shareBin(p.part, p.whole)
			s.shares[i][b]++
			bins[2+i] = b
		}
	}
	s.joint.add(bins[:]...)
}

// work is the mean prompt and output, 0 where unknown.
func (s *summary) work() (w [2]float64) {
	for i := range w {
		if s.known[i] > 0 {
			w[i] = s.sums[i] / s.known[i]
		}
	}
	return w
}

// fit fits the class that was summed up.
func (s *summary) fit(c *Class, requests int64) (err error) {
	c.Weight = round(float64(s.n) / float64(requests))
	c.Models = shares(s.models, s.n)
	if c.Prompt, err = lengthsOf("prompt", s.prompt); err != nil {
		return err
	}
	if c.Output, err = lengthsOf("output", s.output); err != nil {
		return err
	}
	c.Reasoning, c.Cached = fitShare(s.shares[0]), fitShare(s.shares[1])
	c.Dependence = s.joint.fit()
	return nil
}

// lengthsOf is nil where no length is known.
func lengthsOf(what string, folds folded) (*Lengths, error) {
	if folds.n() == 0 {
		return nil, nil
	}
	l, err := fitLengths(folds)
	if err != nil {
		return nil, fmt.Errorf("%s lengths: %w", what, err)
	}
	return l, nil
}

// fitAll fits the classes side by side.
func fitAll(classes []Class, sums []*summary, requests int64) error {
	errs := make([]error, len(classes))
	var wait sync.WaitGroup
	for i := range classes {
		wait.Go(func() { errs[i] = sums[i].fit(&classes[i], requests) })
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("class %d: %w", i, err)
		}
	}
	return nil
}

func shares[K comparable](counts map[K]int64, n int64) map[K]float64 {
	if len(counts) == 0 {
		return nil
	}
	out := make(map[K]float64)
	for k, c := range counts {
		out[k] = round(float64(c) / float64(n))
	}
	return out
}
