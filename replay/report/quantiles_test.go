package report

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestQuantilesEqualTheirDefinitionOnASort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		c := column{perUnit: []float64{1, 1e6}[rng.IntN(2)]}
		var all []float64
		for range 1 + rng.IntN(500) {
			v := []float64{float64(rng.IntN(20)), rng.ExpFloat64(), -1, 1e12, millis(time.Duration(rng.IntN(1e9))), math.Exp(4 * rng.NormFloat64())}[rng.IntN(6)]
			c.add(v)
			all = append(all, v)
		}
		slices.Sort(all)
		got := c.appendTo(nil)
		slices.Sort(got)
		if !slices.Equal(got, all) {
			t.Fatal("a column changes its values")
		}
		last := math.Inf(-1)
		for _, p := range []float64{0, .5, .9, .95, .99, 1} {
			h := float64(len(all)-1) * p
			a, b := all[int(math.Floor(h))], all[int(math.Ceil(h))]
			q := hf7(got, p)
			if want := a + (h-math.Floor(h))*(b-a); q != want || q < last {
				t.Fatalf("n %d p %v = %v, want %v, not below %v", len(all), p, q, want, last)
			}
			last = q
		}
	}
}

func TestFewestRowsOfEachPercentile(t *testing.T) {
	// The smallest n with p^n <= 2.5 %.
	want := map[string]int{"p50": 6, "p90": 36, "p95": 72, "p99": 368}
	for _, p := range Percentiles {
		n := p.MinN()
		if n != want[p.Name] {
			t.Errorf("%s needs %d rows, want %d", p.Name, n, want[p.Name])
		}
		rows := make([]float64, n)
		if q := p.of(rows[:n-1]); q.Reason == "" || !math.IsNaN(float64(q.V)) {
			t.Errorf("%s of %d rows: %+v", p.Name, n-1, q)
		}
		if q := p.of(rows); q.Reason != "" || q.V != 0 {
			t.Errorf("%s of %d rows: %+v", p.Name, n, q)
		}
	}
}

// The oracle adds all terms up from 0, in logarithms.
func TestBinomialQuantileIsExact(t *testing.T) {
	for _, p := range Percentiles {
		for _, n := range []int{6, 36, 72, 368, 369, 1000, 12_031} {
			for _, q := range []float64{tail, 1 - tail} {
				k, sum := 0, math.Pow(1-p.P, float64(n))
				for ; sum <= q && k < n; sum += math.Exp(logChoose(n, k) + float64(k)*math.Log(p.P) + float64(n-k)*math.Log1p(-p.P)) {
					k++
				}
				if got := binomialQuantile(n, p.P, q); got != k {
					t.Errorf("quantile %v of Binomial(%d, %v) = %d, want %d", q, n, p.P, got, k)
				}
			}
		}
	}
}

// Of 4000 samples whose true p99 is known, at least 95 % have it inside their bounds.
func TestBoundsCoverTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	p := Percentiles[3]
	truth := -math.Log(1 - p.P) // of the exponential distribution
	const trials, n = 4000, 500
	inside := 0
	sample := make([]float64, n)
	for range trials {
		for i := range sample {
			sample[i] = rng.ExpFloat64()
		}
		slices.Sort(sample)
		q := p.of(sample)
		if q.Lo > q.V || q.V > q.Hi {
			t.Fatalf("%+v", q)
		}
		if float64(q.Lo) <= truth && truth <= float64(q.Hi) {
			inside++
		}
	}
	// Three standard deviations of chance below 95 %.
	if share := float64(inside) / trials; share < .95-3*math.Sqrt(.95*.05/trials) {
		t.Errorf("%.3f of the bounds hold the truth", share)
	}
}

// A million rows: the bounds agree with the normal approximation to its own error.
func TestBoundsOfManyRows(t *testing.T) {
	const n = 1_000_000
	lo, hi := Percentiles[3].bounds(n)
	sd := math.Sqrt(n * .99 * .01)
	if math.Abs(float64(lo)-(.99*n-1.96*sd)) > 2 || math.Abs(float64(hi)-(.99*n+1.96*sd)) > 2 {
		t.Errorf("bounds %d, %d", lo, hi)
	}
}

func TestUndefinedNumbersAreNull(t *testing.T) {
	b, err := json.Marshal([]Num{undefined, Num(math.Inf(1)), Num(math.Inf(-1)), ratio(1, 0), 0, -1.5, 1e300})
	if err != nil || string(b) != "[null,null,null,null,0,-1.5,1e+300]" {
		t.Errorf("%s, %v", b, err)
	}
}
