package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Regimes is a service that changes its mix a few times: within a regime each class
// has a constant rate, times a lognormal Ornstein-Uhlenbeck process of which a part
// is common to all classes. Requests come in a renewal process with gamma gaps in
// operational time.
type Regimes struct {
	Sojourn  []time.Duration `yaml:"sojourn,flow"` // of each regime, in the order recorded
	Rates    [][]float64     `yaml:"rates,flow"`   // of each regime, of each class: requests a second
	Residual Wave            `yaml:"residual,flow"`
	Common   float64         `yaml:"common"` // correlation of two classes' residuals
	Shape    float64         `yaml:"shape"`  // of the gaps' gamma distribution
}

const (
	regimeBin     = 30 * time.Second // of the counts that changepoints are sought in
	maxRegimeBins = 1000
	regimePenalty = 2 // times the BIC's, times the dispersion
)

func startRegimes(t *target) *Regimes {
	d := &t.spans[0]
	bin := max(regimeBin, (d.window / maxRegimeBins).Round(time.Second))
	m := &Regimes{Residual: Wave{math.Sqrt(math.Log1p(t.variance())), 60}, Common: .3, Shape: 1}
	if len(t.spans) > 1 || d.window < 4*bin {
		m.Sojourn = []time.Duration{d.window}
		m.Rates = [][]float64{slices.Clone(t.shares)}
		for k := range t.shares {
			m.Rates[0][k] *= t.mean
		}
		return m
	}
	counts := d.classCounts(bin)
	dispersion := max(d.phi(max(bin, d.phiCell())), 1)
	penalty := regimePenalty * dispersion * float64(d.classes()+1) / 2 * math.Log(float64(len(d.times)))
	cuts := changepoints(counts, penalty)
	var excess, base float64
	for i := 1; i < len(cuts); i++ {
		m.Sojourn = append(m.Sojourn, time.Duration(cuts[i]-cuts[i-1])*bin)
		rates, over, n := regimeRates(counts[cuts[i-1]:cuts[i]], bin.Seconds())
		m.Rates = append(m.Rates, rates)
		excess, base = excess+over, base+n
	}
	var sum time.Duration
	for _, s := range m.Sojourn[:len(m.Sojourn)-1] {
		sum += s
	}
	m.Sojourn[len(m.Sojourn)-1] = d.window - sum
	m.Residual.Sigma = math.Sqrt(max(math.Log1p(excess/base), 1e-3))
	return m
}

// classCounts has a row of counts for each bin, and the classes' in it.
func (d *arrivalData) classCounts(bin time.Duration) [][]float64 {
	rows := make([][]float64, max(d.window/bin, 1))
	for i := range rows {
		rows[i] = make([]float64, d.classes())
	}
	for i, t := range d.times {
		rows[min(int(t/bin), len(rows)-1)][d.classOf(i)]++
	}
	return rows
}

// regimeRates are the classes' mean rates, with the variance of the total counts beyond
// Poisson's, summed over the bins, and the squared mean that it is relative to.
func regimeRates(counts [][]float64, bin float64) (rates []float64, excess, base float64) {
	n := float64(len(counts))
	rates = make([]float64, len(counts[0]))
	var mean, squares float64
	for _, row := range counts {
		var total float64
		for k, c := range row {
			rates[k] += c / n / bin
			total += c
		}
		mean, squares = mean+total/n, squares+total*total
	}
	return rates, max(squares-n*mean*mean-n*mean, 0), n * mean * mean
}

// changepoints returns the bounds, first and last included, of the segments that
// minimise sum over segments and classes of -x ln(x/L), the likelihood of Poisson counts,
// plus penalty for each segment: the exact dynamic programme (Jackson et al., 2005).
func changepoints(counts [][]float64, penalty float64) []int {
	n, k := len(counts), len(counts[0])
	sums := make([]float64, (n+1)*k)
	for i, row := range counts {
		for c, x := range row {
			sums[(i+1)*k+c] = sums[i*k+c] + x
		}
	}
	best, from := make([]float64, n+1), make([]int, n+1)
	for end := 1; end <= n; end++ {
		best[end] = math.Inf(1)
		for start := range end {
			cost := best[start] + penalty
			length := float64(end - start)
			for c := range k {
				if x := sums[end*k+c] - sums[start*k+c]; x > 0 {
					cost -= x * math.Log(x/length)
				}
			}
			if cost < best[end] {
				best[end], from[end] = cost, start
			}
		}
	}
	cuts := []int{n}
	for at := n; at > 0; {
		at = from[at]
		cuts = append(cuts, at)
	}
	slices.Reverse(cuts)
	return cuts
}

func (m *Regimes) free() []float64 {
	return []float64{math.Log(m.Residual.Sigma), math.Log(m.Residual.Tau), logit(m.Common), math.Log(m.Shape)}
}

func (m *Regimes) with(x []float64) model {
	out := *m
	out.Residual = Wave{math.Exp(x[0]), math.Exp(x[1])}
	out.Common, out.Shape = expit(x[2]), math.Exp(x[3])
	return &out
}

func (m *Regimes) rounded() model {
	out := *m
	out.Sojourn, out.Rates = slices.Clone(m.Sojourn), nil
	for i, s := range m.Sojourn {
		out.Sojourn[i] = max(s.Round(time.Second), time.Second)
	}
	for _, row := range m.Rates {
		out.Rates = append(out.Rates, allTo(row, 3))
	}
	out.Residual, out.Common, out.Shape = m.Residual.rounded(), roundTo(m.Common, 2), roundTo(m.Shape, 2)
	return &out
}

func (m *Regimes) faster(factor float64) model {
	out := *m
	out.Rates = nil
	for _, row := range m.Rates {
		out.Rates = append(out.Rates, addScaled(nil, row, factor))
	}
	return &out
}

func (m *Regimes) shape() float64 { return m.Shape }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }
func expit(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// draw keeps each regime's length, and the order unless the context shuffles it.
func (m *Regimes) draw(c *spanContext, r *rand.Rand, l *intensity) {
	classes := len(c.shares)
	l.reset(classes)
	order := c.order(len(m.Sojourn), r)
	step := max(min(m.Residual.Tau/4, c.window/20), c.window/maxPieces)
	waves := make([]ornstein, classes+1) // the last is common to all
	for i := range waves {
		waves[i] = newOrnstein(r, step, m.Residual.Tau)
	}
	common, own := math.Sqrt(m.Common), math.Sqrt(1-m.Common)
	due := make([]float64, classes)
	now, until := 0., 0.
	for _, i := range order {
		until = min(until+m.Sojourn[i].Seconds(), c.window)
		for now < until {
			next := min(now+step, until)
			all, total := waves[classes].next(r), 0.
			for k := range due {
				z := common*all + own*waves[k].next(r)
				due[k] = (next - now) * m.Rates[i][k] * m.Residual.at(z)
				total += due[k]
			}
			l.add(next, total)
			l.setMix(due)
			now = next
		}
	}
}
