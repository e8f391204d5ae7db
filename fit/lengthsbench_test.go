package fit

import (
	"math/rand/v2"
	"testing"
)

// One length fit: every family tried where none settles it, on both folds. The work
// depends on the number of bins; with every length to a million it is the greatest.
func BenchmarkFitLengths(b *testing.B) {
	prompt, output := traceLengths(b, "azure-conv.arrow")
	for _, c := range []struct {
		name string
		data folded
	}{{"chat prompts", prompt}, {"chat answers", output}, {"a million to a million", millionLengths()}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := fitLengths(c.data); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(likely(c.data.exact()).Bins)), "bins")
		})
	}
}

// millionLengths are of a shape that no family has, from 1 token to a million.
func millionLengths() folded {
	r := rand.New(rand.NewPCG(41, 42))
	f := newFolded()
	for i := range 1_000_000 {
		mu := []float64{2, 5, 7, 9.5, 11.5}[r.IntN(5)]
		x := logLogisticDist{2.5, 1}.Quantile(r.Float64())
		f[i/1000%2].add(int32(min(exactMemo-1, 1+x*lognormalDist{mu, .1}.Quantile(.5))), false)
	}
	return f
}

// One length drawn from each family that has no closed inverse.
func BenchmarkQuantile(b *testing.B) {
	for _, f := range []Family{gamma, inverseGaussian, doubleParetoLognormal, hyperexponential, lognormalPareto, lognormalMix} {
		b.Run(f.Name, func(b *testing.B) {
			d := f.Dist(examples[f.Name][0])
			r := rand.New(rand.NewPCG(43, 44))
			for b.Loop() {
				d.Quantile(r.Float64())
			}
		})
	}
}
