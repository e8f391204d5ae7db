package fit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// drawJoint counts n requests whose fields are bins of normals with that correlation.
func drawJoint(d *Dependence, n int, seed uint64, bins ...func(z float64) int32) *joint {
	src := rand.New(rand.NewPCG(seed, 41))
	j := newJoint(d.Fields...)
	rows := d.Cholesky()
	for range n {
		var z []float64
		var got []int32
		for i, row := range rows {
			z = append(z, src.NormFloat64())
			sum := 0.
			for e, l := range row {
				sum += l * z[e]
			}
			got = append(got, bins[i](sum))
		}
		j.add(got...)
	}
	return j
}

func fine(z float64) int32 { return int32(min(max(1000+z*200, 0), 2000)) }

// none is a share with none at all in 60 % of the requests and all in 10 %.
func none(z float64) int32 {
	return int32(min(max(1000*(NormalCDF(z)-.6)/.3, 0), 1000))
}

var fourFields = &Dependence{
	Fields: []string{"prompt", "output", "reasoning", "cached"},
	Copula: []float64{.4, -.3, .5, .7, .1, -.2},
}

// The correlations of the normals come back, through point masses too.
func TestCopulaIsRecovered(t *testing.T) {
	d := drawJoint(fourFields, 20_000, 1, fine, fine, none, none).fit()
	if len(d.Fields) != 4 || d.Requests != 20_000 {
		t.Fatalf("got %+v", d)
	}
	for i, want := range fourFields.Copula {
		if math.Abs(d.Copula[i]-want) > .03 {
			t.Errorf("copula[%d] is %g, want %g", i, d.Copula[i], want)
		}
	}
	if err := d.validate(); err != nil {
		t.Error(err)
	}
	// What is drawn of it has the ranks that were observed.
	again := drawJoint(d, 20_000, 2, fine, fine, none, none).fit()
	for i, want := range d.Spearman {
		if math.Abs(again.Spearman[i]-want) > .03 {
			t.Errorf("spearman[%d] is %g, was %g", i, again.Spearman[i], want)
		}
	}
}

// gaussianCopula is the correlation of two normals whose copula has that rank
// correlation, if nothing is tied: 2 sin(pi rho / 6) (Kruskal, 1958).
func gaussianCopula(spearman float64) float64 { return 2 * math.Sin(math.Pi*spearman/6) }

// Without ties the correlation is that of the formula for continuous marginals; with
// them that formula loses some: half at point masses of 60 %.
func TestTiedCopula(t *testing.T) {
	for _, s := range []float64{-.95, -.5, 0, .073, .3, .9} {
		var pairs []Pair
		for i := range 3000 {
			pairs = append(pairs, Pair{float64(i), float64(i), 1})
		}
		if got, want := tiedCopula(pairs, s), gaussianCopula(s); math.Abs(got-want) > .002 {
			t.Errorf("Spearman %g: %g, want %g", s, got, want)
		}
	}
	two := []Pair{{0, 0, 8}, {0, 1, 2}, {1, 0, 2}, {1, 1, 8}}
	// Halves at 0: the correlation of signs is 2 asin(r) / pi (Sheppard, 1899).
	if got, want := tiedCopula(two, .6), math.Sin(.6*math.Pi/2); math.Abs(got-want) > .005 {
		t.Errorf("of signs: %g, want %g", got, want)
	}
}

// A field that is not known or does not vary is left out, and with one left there is
// no dependence.
func TestCopulaLeavesOut(t *testing.T) {
	j := newJoint("prompt", "output", "reasoning", "cached")
	for i := range int32(100) {
		j.add(i, i*7%100, -1, 0)
	}
	d := j.fit()
	if d == nil || strings.Join(d.Fields, " ") != "prompt output" || len(d.Copula) != 1 {
		t.Errorf("got %+v", d)
	}
	one := newJoint("prompt", "output")
	for i := range int32(100) {
		one.add(i, 5)
	}
	if d := one.fit(); d != nil {
		t.Errorf("a constant output depends: %+v", d)
	}
	few := newJoint("prompt", "output")
	for i := range int32(minRequests - 1) {
		few.add(i, i)
	}
	if d := few.fit(); d != nil {
		t.Errorf("too few depend: %+v", d)
	}
}

// Estimates pair by pair that no normals can have are moved to near ones that some have;
// others are left alone.
func TestNearestCorrelation(t *testing.T) {
	for _, lower := range [][]float64{{.9, .9, -.9}, {1}, {.99, -.99, .2, .99, .99, .99}, {-.9, -.9, -.9}} {
		k := 2
		for lowerIndex(k, 0) < len(lower) {
			k++
		}
		near := nearestCorrelation(lower, k)
		rows, ok := cholesky(roundAll(near), k)
		if !ok {
			t.Errorf("%v: %v has no factor", lower, near)
			continue
		}
		for i, a := range rows {
			for j, b := range rows[:i+1] {
				sum, want := 0., 1.
				for e := range b {
					sum += a[e] * b[e]
				}
				if j < i {
					want = near[lowerIndex(i, j)]
				}
				if math.Abs(sum-want) > 1e-5 {
					t.Errorf("%v: LL' is %g at %d, %d, want %g", lower, sum, i, j, want)
				}
			}
		}
	}
	// The nearest to .9, .9, -.9 by symmetry is .5, .5, -.5.
	for i, v := range nearestCorrelation([]float64{.9, .9, -.9}, 3) {
		if want := []float64{.5, .5, -.5}[i]; math.Abs(v-want) > .001 {
			t.Errorf("got %g, want %g", v, want)
		}
	}
	if same := nearestCorrelation(fourFields.Copula, 4); &same[0] != &fourFields.Copula[0] {
		t.Error("a good matrix was moved")
	}
}

func TestDependenceValidate(t *testing.T) {
	good := Dependence{Fields: []string{"a", "b", "c"}, Spearman: []float64{0, 0, 0}, Copula: []float64{.5, .5, .5}}
	for _, c := range []struct {
		spoil func(*Dependence)
		want  string
	}{
		{func(d *Dependence) { d.Fields = d.Fields[:1] }, "fields: 1 are not two"},
		{func(d *Dependence) { d.Fields = []string{"a", "b", "a"} }, `fields[2]: "a" stands there twice`},
		{func(d *Dependence) { d.Copula = d.Copula[:2] }, "3 fields have 3 pairs, not 2"},
		{func(d *Dependence) { d.Spearman = []float64{2, 0, 0} }, "copula[0]"},
		{func(d *Dependence) { d.Copula = []float64{.9, .9, -.9} }, "not positive definite"},
	} {
		d := good
		c.spoil(&d)
		if err := d.validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if err := good.validate(); err != nil {
		t.Error(err)
	}
}
