package fit

import (
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	burstCells  = 20_000 // of time at most; longer traces have wider ones
	burstLeast  = 200    // requests of a client whose burstiness is measured
	burstSigmas = 4      // of chance, for movement to be believed
	burstSpans  = 8      // windows that a width must have
	fadeTerms   = 16     // enough for maxVariance
	maxVariance = 50     // of a share, relative to its mean squared
)

// minutes are equal cells of time from the first minute to the last.
type minutes struct {
	n     int
	per   int32 // minutes a cell
	width time.Duration
}

func newMinutes(series []minuteCount) minutes {
	last := series[len(series)-1].minute
	per := last/burstCells + 1
	return minutes{n: int(last/per) + 1, per: per, width: time.Duration(per) * clientCell}
}

func (m minutes) cells(k *clientCounts) []float64 {
	out := make([]float64, m.n)
	for _, c := range k.series {
		out[c.minute/m.per] += float64(c.n)
	}
	return out
}

// burst appends the burstiness of a client with n requests, from its counts and all.
func (c *Clients) burst(n int64, forgot bool, own, all []float64, width time.Duration) {
	var cv, memory float64
	if n >= burstLeast && !forgot {
		cv, memory = excess(own, all)
	}
	c.Burst = append(c.Burst, round(cv))
	c.Memory = append(c.Memory, time.Duration(math.Round(memory*width.Seconds()))*time.Second)
}

// excess returns by how much the share own/all moves beyond chance, as its coefficient
// of variation, and over how many cells it remembers. In windows of W cells with N
// requests a share of mean w and relative variance v has
//
//	E (n - w N)^2 = w (1-w) N + v w^2 N (N-1),
//
// and v falls with W as fade says. v and tau are the least squares over all W.
func excess(own, all []float64) (cv, tau float64) {
	w := sum(own) / sum(all)
	var widths, vs []float64
	certain := false
	for width := 1; width == 1 || len(own) >= burstSpans; width *= 2 {
		v, chance := relativeVariance(own, all, w)
		if chance > 0 {
			widths, vs = append(widths, float64(width)), append(vs, v)
			certain = certain || v > burstSigmas*chance
		}
		own, all = pairwise(own), pairwise(all)
	}
	if !certain {
		return 0, 0
	}
	least, best := math.Inf(1), 0.
	longest := widths[len(widths)-1] * burstSpans / 4
	for t := .25; t <= max(longest, 1); t *= 1.1 {
		v, off := fitFading(widths, vs, t)
		if v > 0 && off < least {
			least, best, tau = off, v, t
		}
	}
	return math.Sqrt(best), tau
}

// relativeVariance returns v, and its standard error if it were 0.
func relativeVariance(own, all []float64, w float64) (v, chance float64) {
	var off, pairs, noise float64
	for i, n := range all {
		d, b := own[i]-w*n, w*(1-w)*n
		off += d*d - b
		noise += 2 * b * b
		pairs += w * w * n * (n - 1)
	}
	if pairs <= 0 {
		return 0, 0
	}
	return off / pairs, math.Sqrt(noise) / pairs
}

// fitFading returns the v for which v g(W/tau) is nearest to vs, and how near. A width
// counts by the number of its windows.
func fitFading(widths, vs []float64, tau float64) (v, off float64) {
	v = max(vs[0], 0)
	for range 3 {
		var vg, gg float64
		off = 0
		for i, w := range widths {
			g, d := fade(w/tau, v), vs[i]-v*fade(w/tau, v)
			vg, gg, off = vg+vs[i]*g/w, gg+g*g/w, off+d*d/w
		}
		v = min(max(vg/gg, 0), maxVariance)
	}
	return v, off
}

// fade is what the mean over x correlation times leaves of the relative variance v of a
// lognormal process whose logarithm is an Ornstein-Uhlenbeck process of variance s^2 =
// ln(1+v). Its covariance is exp(s^2 exp(-t)) - 1, of which each power of exp(-t) fades by
// 2 (x - 1 + exp(-x)) / x^2.
func fade(x, v float64) (g float64) {
	if v == 0 {
		return 0
	}
	s2, term := math.Log1p(v), 1.
	for k := 1.; k <= fadeTerms; k++ {
		term *= s2 / k
		g += term / v * 2 * (k*x + math.Expm1(-k*x)) / (k * x * k * x)
	}
	return g
}

func pairwise(cells []float64) []float64 {
	out := make([]float64, len(cells)/2)
	for i := range out {
		out[i] = cells[2*i] + cells[2*i+1]
	}
	return out
}

func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}

func (c *Clients) validate() error {
	if c.Field != "tenant" && c.Field != "user" {
		return fmt.Errorf("field: %q is not tenant or user", c.Field)
	}
	parts := len(c.Weights)
	if c.Tail > 0 {
		parts++
	}
	if len(c.Burst) != parts || len(c.Memory) != parts {
		return fmt.Errorf("burst: %d weights and tail have %d, and %d of memory", parts, len(c.Burst), len(c.Memory))
	}
	if c.Count < int64(parts) || parts == 0 {
		return fmt.Errorf("count: %d clients cannot have %d weights", c.Count, parts)
	}
	if most := clientRanks + clientMerged; len(c.Weights) > most {
		return fmt.Errorf("weights: there are %d; it may be %d, and the tail", len(c.Weights), most)
	}
	for i, w := range c.Weights {
		if w < 0 || i > 0 && w > c.Weights[i-1] {
			return fmt.Errorf("weights[%d]: %g is negative or does not descend", i, w)
		}
	}
	for i, b := range c.Burst {
		if b < 0 || c.Memory[i] < 0 || b > 0 && c.Memory[i] == 0 {
			return fmt.Errorf("burst[%d]: %g with a memory of %v is none", i, b, c.Memory[i])
		}
	}
	if s := sum(c.Weights) + c.Tail; c.Tail < 0 || math.Abs(s-1) > shareSlack {
		return errors.New("weights: with the tail they do not add up to 1")
	}
	return nil
}
