package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wavetank/traces"
)

// bursty are arrivals with silences, and with weights.
func bursty(n int) (times []time.Duration, weights []float64) {
	r := rand.New(rand.NewPCG(31, 32))
	var now float64
	for range n {
		now += r.ExpFloat64() * .1
		if r.IntN(50) == 0 {
			now += 20 * r.Float64()
		}
		times = append(times, time.Duration(now*1e9))
		weights = append(weights, 10+1000*r.Float64())
	}
	return times, weights
}

// The dispersion by one pass over sorted arrivals is that of the counts.
func TestArrivalIDCIsThatOfCounts(t *testing.T) {
	times, _ := bursty(5000)
	window := times[len(times)-1]
	for _, scale := range Scales {
		counts := make([]int64, window/scale)
		for _, at := range times {
			if k := int(at / scale); k < len(counts) {
				counts[k]++
			}
		}
		if got, want := ArrivalIDC(times, window, scale), slowIDC(counts); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v: %g, by counts %g", scale, got, want)
		}
	}
	if got := ArrivalIDC(nil, window, time.Second); !math.IsNaN(got) {
		t.Errorf("of no arrivals: %g", got)
	}
}

// The backlog's quantiles are those of the queue, by sorting.
func TestBacklogIsThatOfTheQueue(t *testing.T) {
	times, weights := bursty(5000)
	window := times[len(times)-1] + time.Second
	for _, w := range [][]float64{nil, weights} {
		for _, load := range []float64{1.1, 2, 8} {
			got, want := backlogOf(times, w, window, load), slowBacklog(times, w, window, load)
			for k := range got {
				if math.Abs(got[k]-want[k]) > .005*(want[k]+backlogOffset) {
					t.Errorf("load %g: %.4g, by sorting %.4g", load, got, want)
					break
				}
			}
		}
	}
	if backlogOf(times, weights, window, 3) != backlogOf(times, addScaled(nil, weights, 64), window, 3) {
		t.Error("the unit of the weights matters")
	}
	if got := backlog(nil, nil, 1, 2); got != (Backlog{}) {
		t.Errorf("of no arrivals: %g", got)
	}
}

// slowIDC is variance over mean.
func slowIDC(counts []int64) float64 {
	var mean, sum float64
	for _, c := range counts {
		mean += float64(c) / float64(len(counts))
	}
	for _, c := range counts {
		sum += (float64(c) - mean) * (float64(c) - mean)
	}
	return sum / float64(len(counts)-1) / mean
}

// backlogOf is that of a queue which works at `load` times what arrives.
func backlogOf(times []time.Duration, weights []float64, window time.Duration, load float64) Backlog {
	mean := 1.
	if weights != nil {
		mean = sum(weights) / float64(len(weights))
	}
	return backlog(times, weights, mean, load*float64(len(times))/window.Seconds())
}

func slowBacklog(times []time.Duration, weights []float64, window time.Duration, load float64) (q Backlog) {
	work := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	var sum, x float64
	for i := range times {
		sum += work(i)
	}
	var seen []float64
	for i, at := range times {
		if i > 0 {
			x = max(0, x-load*sum/window.Seconds()*(at-times[i-1]).Seconds())
		}
		seen = append(seen, x/(sum/float64(len(times))))
		x += work(i)
	}
	slices.Sort(seen)
	for k, p := range backlogRanks {
		q[k] = seen[int(math.Ceil(p*float64(len(seen))))-1]
	}
	return q
}

// A fingerprint is what it says of itself, to the three digits that it is written with.
func TestFingerprintIsItsFeatures(t *testing.T) {
	d := realArrivals(t, "azure-conv")
	print := d.blank(d.shares(), d.rate(), false)
	g := gauge{like: print, window: d.window}
	want := g.features(&span{d.times, d.class})
	print.set(want)
	if off := distance(print.features(), want); off > 1e-3 {
		t.Errorf("written and read it is %g away", off)
	}
	if len(want) != 10+3*3*len(smoothLoads) {
		t.Errorf("%d features", len(want))
	}
}

// realArrivals are those of a public trace, in eight classes by quartile of the prompt
// and half of the output.
func realArrivals(t testing.TB, name string) arrivalData {
	t.Helper()
	f, err := traces.Open("../testdata/traces/" + name + ".arrow")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var times []time.Duration
	var p, o []float64
	for rec, err := range traces.All(f) {
		if err != nil {
			t.Fatal(err)
		}
		times, p, o = append(times, rec.Arrival), append(p, float64(rec.PromptTokens.V)), append(o, float64(rec.OutputTokens.V))
	}
	return classified(times, p, o)
}

func classified(times []time.Duration, p, o []float64) arrivalData {
	d := arrivalData{work: make([][2]float64, 8)}
	sp, so := slices.Sorted(slices.Values(p)), slices.Sorted(slices.Values(o))
	n := make([]float64, 8)
	for i, at := range times {
		c := 0
		for q := 1; q < 4; q++ {
			if p[i] > sp[len(sp)*q/4] {
				c += 2
			}
		}
		if o[i] > so[len(so)/2] {
			c++
		}
		n[c]++
		d.work[c][0] += (p[i] - d.work[c][0]) / n[c]
		d.work[c][1] += (o[i] - d.work[c][1]) / n[c]
		d.times, d.class = append(d.times, at-times[0]), append(d.class, uint8(c))
	}
	d.window = d.times[len(d.times)-1]
	return d
}
