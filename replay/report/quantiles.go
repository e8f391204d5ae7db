package report

import (
	"fmt"
	"math"
	"strconv"
)

// Num is a number that may be undefined: NaN then, and null in JSON, as is an
// infinite one.
type Num float64

// MarshalJSON writes null for what JSON cannot hold.
func (n Num) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', -1, 64), nil
}

var undefined = Num(math.NaN())

// ratio is a/b, undefined where b is 0.
func ratio(a, b Num) Num {
	if b == 0 {
		return undefined
	}
	return a / b
}

// A Percentile is a quantile that every report gives.
type Percentile struct {
	Name string
	P    float64
}

// Percentiles are those of every metric.
var Percentiles = []Percentile{{"p50", .5}, {"p90", .9}, {"p95", .95}, {"p99", .99}}

// confidence is that of the bounds of percentiles: two-sided, equal tails.
const confidence = .95

const tail = (1 - confidence) / 2

// MinN returns the fewest rows that bound the percentile on both sides with
// 95 % confidence: 6 for p50, 36 for p90, 72 for p95, 368 for p99. With fewer,
// the largest value lies below the true percentile with a probability of over 2.5 %.
func (p Percentile) MinN() int {
	return int(math.Ceil(math.Log(tail) / math.Log(max(p.P, 1-p.P))))
}

// A Quantile is an estimate and its distribution-free 95 % bounds. Below MinN
// rows all three are undefined, and Reason says so.
type Quantile struct {
	V      Num    `json:"v"`
	Lo     Num    `json:"lo"`
	Hi     Num    `json:"hi"`
	Reason string `json:"reason,omitempty"`
}

func (p Percentile) of(sorted []float64) Quantile {
	if n := len(sorted); n < p.MinN() {
		return Quantile{undefined, undefined, undefined, fmt.Sprintf("%d rows, at least %d are needed", n, p.MinN())}
	}
	lo, hi := p.bounds(len(sorted))
	return Quantile{Num(hf7(sorted, p.P)), Num(sorted[lo]), Num(sorted[hi]), ""}
}

// hf7 is Hyndman and Fan's type 7 (Sample quantiles in statistical packages,
// The American Statistician 50, 1996), numpy's and R's default: the value at
// rank (n-1)p from 0, linear between two rows.
func hf7(sorted []float64, p float64) float64 {
	h := float64(len(sorted)-1) * p
	lo := int(h)
	a, b := sorted[lo], sorted[min(lo+1, len(sorted)-1)]
	return a + (h-float64(lo))*(b-a)
}

// bounds returns the indexes, from 0, of the order statistics that bound the
// percentile from below and above, each failing with a probability of at most
// 2.5 %. The rows below the true percentile are Binomial(n, p) whatever the
// distribution, if rows are independent; those of a run are not quite, so the
// true interval is wider (David and Nagaraja, Order Statistics, section 7.1).
// n is at least MinN.
func (p Percentile) bounds(n int) (lo, hi int) {
	k := binomialQuantile(n, p.P, tail)
	return max(k-1, 0), min(binomialQuantile(n, p.P, 1-tail), n-1)
}

// binomialQuantile is the smallest k with P(Binomial(n, p) <= k) > q. It adds
// up the exact terms from 10 standard deviations below the mean, where less
// than 1e-15 is left out once the terms are many, and from 0 where they are few.
func binomialQuantile(n int, p, q float64) int {
	mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	k := max(0, int(mean-10*sd-10))
	term := math.Exp(logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	for sum := term; sum <= q && k < n; sum += term {
		k++
		term *= float64(n-k+1) / float64(k) * p / (1 - p)
	}
	return k
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
