package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// cloud draws n points of two correlated normals round (x, 0).
func cloud(n int, x float64, seed uint64) [][2]float64 {
	src := rand.New(rand.NewPCG(seed, 51))
	out := make([][2]float64, n)
	for i := range out {
		a, b := src.NormFloat64(), src.NormFloat64()
		out[i] = [2]float64{x + a, .8*a + .6*b}
	}
	return out
}

func energyDistance(a, b [][2]float64) float64 { return energy(merge(places(a, b), energyExact)) }

// energyFloor is of two samples as large as a.
func energyFloor(a [][2]float64) float64 {
	return energyNoise(merge(places(a, nil), energyExact), 2/float64(len(a)))
}

// places puts both samples on the scale of a.
func places(a, b [][2]float64) []place {
	sx, sy := spreadOf(a, 0), spreadOf(a, 1)
	out := make([]place, 0, len(a)+len(b))
	for _, p := range a {
		out = append(out, place{p[0] / sx, p[1] / sy, 1 / float64(len(a)), 0})
	}
	for _, p := range b {
		out = append(out, place{p[0] / sx, p[1] / sy, 0, 1 / float64(len(b))})
	}
	return out
}

// spreadOf is the standard deviation of a coordinate, or 1 where it does not vary.
func spreadOf(a [][2]float64, i int) float64 {
	var mean, variance float64
	for _, p := range a {
		mean += p[i] / float64(len(a))
	}
	for _, p := range a {
		variance += (p[i] - mean) * (p[i] - mean) / float64(len(a))
	}
	if variance < 1e-18 {
		return 1
	}
	return math.Sqrt(variance)
}

// By the definition, point by point.
func TestEnergyByDefinition(t *testing.T) {
	a, b := cloud(150, 0, 1), cloud(100, .7, 2)
	sx, sy := spreadOf(a, 0), spreadOf(a, 1)
	mean := func(p, q [][2]float64) (sum float64) {
		for _, u := range p {
			for _, v := range q {
				sum += math.Hypot((u[0]-v[0])/sx, (u[1]-v[1])/sy)
			}
		}
		return sum / float64(len(p)*len(q))
	}
	want := 2*mean(a, b) - mean(a, a) - mean(b, b)
	if got := energyDistance(a, b); math.Abs(got-want) > 1e-12 {
		t.Errorf("got %g, want %g", got, want)
	}
	if e := energyDistance(a, a); e > 1e-15 {
		t.Errorf("of itself: %g", e)
	}
	if e := energyDistance([][2]float64{{1, 1}, {1, 1}}, [][2]float64{{1, 3}}); math.Abs(e-4) > 1e-12 {
		t.Errorf("of two points 2 apart: %g, want 4", e)
	}
}

// The grid moves the distance by 3 % at most, whether it is noise or not.
func TestEnergyGrid(t *testing.T) {
	a := cloud(2000, 0, 3)
	for _, x := range []float64{0, .05, .5} {
		b := cloud(2000, x, 4)
		exact, grid := energy(places(a, b)), energyDistance(a, b)
		if math.Abs(grid/exact-1) > .03 {
			t.Errorf("shift %g: %g on the grid, %g exactly", x, grid, exact)
		}
	}
}

// The floor is the 95 % quantile of what pairs of samples of one distribution do.
func TestEnergyFloor(t *testing.T) {
	const n, runs = 200, 200
	var es []float64
	for i := range uint64(runs) {
		es = append(es, energyDistance(cloud(n, 0, 100+2*i), cloud(n, 0, 101+2*i)))
	}
	slices.Sort(es)
	got, want := energyFloor(cloud(n, 0, 5)), es[runs*95/100]
	if math.Abs(got/want-1) > .2 {
		t.Errorf("the floor is %g, want %g", got, want)
	}
	if f := energyFloor([][2]float64{{1, 2}, {1, 2}}); f != 0 {
		t.Errorf("the floor of one point is %g", f)
	}
}

// A model of the spots lies under the floor, one that is off does not; and the floor of
// many requests is that of energyCount.
func TestJointEnergy(t *testing.T) {
	spots := spotsOf(drawTokens(known, 10_000, 1))
	draw := func(pairs map[[2]int32]int64) (out [][2]float64) {
		for _, s := range spotsOf(pairs) {
			for range int(s.n) {
				out = append(out, [2]float64{s.x, s.y})
			}
		}
		return out
	}
	e, floor := jointEnergy(spots, draw(drawTokens(known, 10_000, 2)))
	if e > 2*floor {
		t.Errorf("the same lies at %g, floor %g", e, floor)
	}
	off := slices.Clone(known)
	off[1].x += .3
	if e, floor := jointEnergy(spots, draw(drawTokens(off, 10_000, 3))); e < 2*floor {
		t.Errorf("another lies at %g, floor %g", e, floor)
	}
	for i := range spots {
		spots[i].n *= 100
	}
	if _, more := jointEnergy(spots, draw(drawTokens(known, 10_000, 2))); math.Abs(more/floor-1) > 1e-9 {
		t.Errorf("the floor of 2 million is %g, of 20,000 %g", more, floor)
	}
}

func BenchmarkEnergyDistance(b *testing.B) {
	p, q := cloud(1_000_000, 0, 1), cloud(1_000_000, .1, 2)
	for b.Loop() {
		energyDistance(p, q)
	}
}
