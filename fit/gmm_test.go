package fit

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"wavetank/traces"
)

// tokenPairs reads the lengths of a trace.
func tokenPairs(t testing.TB, name string) (pairs map[[2]int32]int64, points [][2]float64) {
	t.Helper()
	r, err := traces.Open("../testdata/traces/" + name + ".arrow")
	if err != nil {
		t.Fatal(err)
	}
	pairs = make(map[[2]int32]int64)
	for rec, err := range traces.All(r) {
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if p, o := rec.PromptTokens.V, rec.OutputTokens.V; p > 0 && o > 0 {
			count(pairs, p, o)
			points = append(points, logs(p, o))
		}
	}
	return pairs, points
}

func count(pairs map[[2]int32]int64, p, o int32) {
	a, _ := tokenBin(p)
	b, _ := tokenBin(o)
	pairs[[2]int32{a, b}]++
}

func logs(p, o int32) [2]float64 { return [2]float64{math.Log(float64(p)), math.Log(float64(o))} }

// drawTokens makes n requests of the mixture.
func drawTokens(m gmm, n int, seed uint64) map[[2]int32]int64 {
	src := rand.New(rand.NewPCG(seed, 21))
	pairs := make(map[[2]int32]int64)
	for range n {
		k, u := 0, src.Float64()
		for ; k < len(m)-1 && u > m[k].w; k++ {
			u -= m[k].w
		}
		g := m[k]
		a, b := src.NormFloat64(), src.NormFloat64()
		l := g.xy / math.Sqrt(g.xx)
		x, y := g.x+math.Sqrt(g.xx)*a, g.y+l*a+math.Sqrt(g.yy-l*l)*b
		count(pairs, int32(max(math.Round(math.Exp(x)), 1)), int32(max(math.Round(math.Exp(y)), 1)))
	}
	return pairs
}

var known = gmm{
	{w: .5, x: 5, y: 6, xx: .16, xy: .09, yy: .25},
	{w: .3, x: 7, y: 4, xx: .25, xy: -.06, yy: .09},
	{w: .2, x: 8.5, y: 6.5, xx: .04, xy: 0, yy: .16},
}

// Classes that are well apart come back, in canonical order and no more of them,
// within three standard errors, whether there are thousands or many.
func TestClassesAreRecovered(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2000, 100_000} {
		m := fitClasses(spotsOf(drawTokens(known, n, 1)), maxClasses)
		if len(m) != 3 {
			t.Fatalf("%d requests: %d classes: %+v", n, len(m), m)
		}
		for k, g := range m {
			want := known[k]
			for _, c := range []struct {
				what           string
				got, want, off float64
			}{
				{"weight", g.w, want.w, .5}, {"x", g.x, want.x, 1}, {"y", g.y, want.y, 1},
				{"sd of x", math.Sqrt(g.xx), math.Sqrt(want.xx), 1}, {"sd of y", math.Sqrt(g.yy), math.Sqrt(want.yy), 1},
				{"correlation", g.xy / math.Sqrt(g.xx*g.yy), want.xy / math.Sqrt(want.xx*want.yy), 2.5},
			} {
				if math.Abs(c.got-c.want) > c.off*3/math.Sqrt(float64(n)) {
					t.Errorf("%d requests, class %d: %s is %.4f, want %.4f", n, k, c.what, c.got, c.want)
				}
			}
		}
	}
}

// A request belongs where it most likely comes from, also by one length alone, and to
// the heaviest class if nothing is known.
func TestClassifier(t *testing.T) {
	of := known.classifier()
	nan := math.NaN()
	for _, c := range []struct {
		x, y float64
		want int
	}{{5, 6, 0}, {7, 4, 1}, {8.5, 6.5, 2}, {4.8, nan, 0}, {8.6, nan, 2}, {nan, 4, 1}, {nan, 5.8, 0}, {nan, nan, 0}} {
		if got := of(c.x, c.y); got != c.want {
			t.Errorf("(%g, %g) is of class %d, want %d", c.x, c.y, got, c.want)
		}
	}
}

// Where only prompts are known, the classes are those of the prompts.
func TestClassesOfOneLength(t *testing.T) {
	pairs := make(map[[2]int32]int64)
	for k, n := range drawTokens(gmm{known[0], known[1]}, 20_000, 2) {
		pairs[[2]int32{k[0], 0}] += n
	}
	m := fitClasses(spotsOf(pairs), maxClasses)
	if len(m) != 2 || math.Abs(m[0].x-5) > .05 || math.Abs(m[1].x-7) > .05 {
		t.Errorf("got %+v", m)
	}
}

// No class sits on one length: templates, one length alone, short lengths whose
// neighbours are far in the logarithm, and a handful of requests.
func TestClassesOfOddData(t *testing.T) {
	short := make(map[[2]int32]int64)
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		count(short, int32(1+r.ExpFloat64()*3), int32(1+r.ExpFloat64()*3))
	}
	if m := fitClasses(spotsOf(short), maxClasses); len(m) > 3 {
		t.Errorf("counts of 1, 2, 3, ... are %d classes: %+v", len(m), m)
	}
	if m := fitClasses(nil, maxClasses); m != nil || m.classifier()(1, 2) != 0 {
		t.Errorf("nothing is %+v", m)
	}
	few := make(map[[2]int32]int64)
	for i := range int32(30) {
		count(few, 10+i*i, 500-i)
	}
	for what, pairs := range map[string]map[[2]int32]int64{
		"one length": {{100, 200}: 1000}, "two": {{100, 200}: 500, {4000, 7}: 500}, "thirty": few, "one request": {{1, 1}: 1},
		"huge": {{math.MaxInt32, 1}: 60, {1, math.MaxInt32}: 60}, "unknown": {{0, 0}: 50},
	} {
		m := fitClasses(spotsOf(pairs), maxClasses)
		if what == "two" && len(m) != 2 {
			t.Errorf("%s: %d classes", what, len(m))
		}
		for _, g := range m {
			for _, v := range []float64{g.w, g.x, g.y, g.xx, g.xy, g.yy} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s: %+v", what, g)
				}
			}
			if least := (g.xx+g.yy)/2 - math.Hypot((g.xx-g.yy)/2, g.xy); least < .99*minSigma*minSigma {
				t.Errorf("%s: a class is %g wide", what, math.Sqrt(least))
			}
		}
	}
}

// Equal data give equal classes, to the last bit, in whatever order a map holds them.
func TestClassesAreDeterministic(t *testing.T) {
	pairs := drawTokens(known, 800, 5)
	first := fmt.Sprint(fitClasses(spotsOf(pairs), maxClasses))
	for range 3 {
		if again := fmt.Sprint(fitClasses(spotsOf(pairs), maxClasses)); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}

// Every class has 1 % of the requests and no fewer than an app needs, and nobody is lost.
func TestClassesAreLargeEnough(t *testing.T) {
	for _, name := range []string{"ragpulse"} {
		pairs, points := tokenPairs(t, name)
		spots := spotsOf(pairs)
		m := fitClasses(spots, maxClasses)
		sizes := make([]float64, len(m))
		of := m.classifier()
		for _, p := range points {
			sizes[of(p[0], p[1])]++
		}
		for k, n := range sizes {
			if n < .009*float64(len(points)) {
				t.Errorf("%s: class %d of %d has %g requests of %d", name, k, len(m), n, len(points))
			}
		}
	}
}

// The gate on real traffic: classes, each with its own marginals and a copula, make
// requests whose lengths go together as the recorded ones do, where one copula does not.
func TestClassesKeepTheJoint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		most        int
		least, much float64 // times the floor
	}{{"azure-conv", 1, 20, math.Inf(1)}, {"azure-conv", maxClasses, 0, 2}, {"ragpulse", maxClasses, 0, 2}} {
		pairs, points := tokenPairs(t, c.name)
		spots := spotsOf(pairs)
		m := fitClasses(spots, c.most)
		e := energyDistance(points, resample(m.models(spots), len(points), 1)) / energyFloor(points)
		t.Logf("%s: %d classes: %.2f times the floor", c.name, len(m), e)
		if e < c.least || e > c.much {
			t.Errorf("%s: %d classes lie %.1f times the floor away, want %g to %g", c.name, len(m), e, c.least, c.much)
		}
	}
}

// Azure's chat goes to the last number of classes.
func BenchmarkClasses(b *testing.B) {
	pairs, _ := tokenPairs(b, "azure-conv")
	for b.Loop() {
		fitClasses(spotsOf(pairs), maxClasses)
	}
}

// A million requests of four broad kinds.
func BenchmarkClassesOfAMillion(b *testing.B) {
	pairs := drawTokens(append(gmm{{w: .2, x: 3, y: 3, xx: 2, xy: 1, yy: 2}}, known...), 1_000_000, 6)
	for b.Loop() {
		fitClasses(spotsOf(pairs), maxClasses)
	}
}
