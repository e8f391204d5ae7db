package fit

import (
	"math"
	"testing"
)

// KS and W1 of a sample of 1, 2, 3, 4 against the uniform on (0, 4]: nothing apart.
// Against the uniform on (1, 5] they are a quarter and 1 less what lies past the sample.
func TestDistancesByHand(t *testing.T) {
	s := Sample{Bins: []Bin{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}}}
	uniform := func(from float64) func(float64) float64 {
		return func(x float64) float64 { return min(max((x-from)/4, 0), 1) }
	}
	for _, c := range []struct{ from, ks, w1 float64 }{{0, 0, 0}, {1, .25, .875}} {
		if ks := KS(s, uniform(c.from)); math.Abs(ks-c.ks) > 1e-12 {
			t.Errorf("from %g: KS %g, want %g", c.from, ks, c.ks)
		}
		if w1 := Wasserstein(s, uniform(c.from)); math.Abs(w1-c.w1) > 1e-12 {
			t.Errorf("from %g: W1 %g, want %g", c.from, w1, c.w1)
		}
	}
}

// R: quantile(c(1,2,3,10), c(0,.25,.5,.9,1), type=7) is 1, 1.75, 2.5, 7.9, 10.
func TestQuantileIsType7(t *testing.T) {
	s := counts{1: 1, 2: 1, 3: 1, 10: 1}.exact()
	for p, want := range map[float64]float64{0: 1, .25: 1.75, .5: 2.5, .9: 7.9, 1: 10} {
		if got := s.Quantile(p); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %g is %g, want %g", p, got, want)
		}
	}
}

func TestGapCVOfExponentialIsOne(t *testing.T) {
	if cv := GapCV(simulate(100_000, exponentialDist(1).Quantile, false)); math.Abs(cv-1) > .01 {
		t.Errorf("got %g", cv)
	}
}

func TestNormalQuantileInverts(t *testing.T) {
	for z := -8.; z < 8; z += .37 {
		if got := NormalQuantile(NormalCDF(z)); math.Abs(got-z) > 1e-9*math.Exp(max(z, 0)*4) {
			t.Errorf("NormalQuantile(NormalCDF(%g)) = %g", z, got)
		}
	}
}

// Every length has one bin, bins follow each other without a hole, and none is wider
// than 1 % of its lengths or a token.
func TestTokenBins(t *testing.T) {
	next := int32(1)
	for next < 1<<22 {
		lo, hi := tokenBin(next)
		if lo != next || hi < lo {
			t.Fatalf("the bin of %d is %d..%d", next, lo, hi)
		}
		if l, h := tokenBin(hi); l != lo || h != hi {
			t.Fatalf("%d and %d share no bin", lo, hi)
		}
		if float64(hi-lo) > .01*float64(hi) {
			t.Fatalf("the bin %d..%d is too wide", lo, hi)
		}
		next = hi + 1
	}
	if _, hi := tokenBin(math.MaxInt32); hi != math.MaxInt32 {
		t.Errorf("the last bin ends at %d", hi)
	}
}
