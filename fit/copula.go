package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Dependence say how the quantities of one request go together: by a Gaussian
// copula. The matrices are given as the rows of their lower triangles without the
// diagonal, joined.
type Dependence struct {
	Requests int64     `yaml:"requests"` // of the pair of fields that the fewest requests have
	Fields   []string  `yaml:"fields,flow"`
	Spearman []float64 `yaml:"spearman,flow"` // as observed, ties at their mid-ranks; 0 where nothing is known
	Copula   []float64 `yaml:"copula,flow"`   // correlations of the normals
}

// lowerIndex is the place of row i and column j < i of a lower triangle.
func lowerIndex(i, j int) int { return i*(i-1)/2 + j }

// A joint counts which bins of several fields occur together, two fields at a time.
type joint struct {
	fields []string
	pairs  []map[[2]int32]int64 // a lower triangle: bins of field i and of field j < i
}

func newJoint(fields ...string) *joint {
	j := &joint{fields: fields}
	for range lowerIndex(len(fields), 0) {
		j.pairs = append(j.pairs, make(map[[2]int32]int64))
	}
	return j
}

// add counts a request by its bin in each field; -1 is unknown.
func (j *joint) add(bins ...int32) {
	for i, a := range bins {
		for k, b := range bins[:i] {
			if a >= 0 && b >= 0 {
				j.pairs[lowerIndex(i, k)][[2]int32{a, b}]++
			}
		}
	}
}

// fit returns the copula of the fields that vary together with another one. It is nil
// where there are no two of them.
func (j *joint) fit() *Dependence {
	measured := make([]pairFit, len(j.pairs))
	for i, counts := range j.pairs {
		measured[i] = fitPair(counts)
	}
	var kept []int
	for i := range j.fields {
		for k := range j.fields {
			if k != i && measured[lowerIndex(max(i, k), min(i, k))].known {
				kept = append(kept, i)
				break
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	d := &Dependence{Requests: math.MaxInt64}
	for a, i := range kept {
		d.Fields = append(d.Fields, j.fields[i])
		for _, k := range kept[:a] {
			p := measured[lowerIndex(i, k)]
			d.Requests = min(d.Requests, p.n)
			d.Spearman = append(d.Spearman, round(p.spearman))
			d.Copula = append(d.Copula, p.copula)
		}
	}
	d.Copula = roundAll(nearestCorrelation(d.Copula, len(kept)))
	return d
}

type pairFit struct {
	n                int64
	spearman, copula float64
	known            bool
}

func fitPair(counts map[[2]int32]int64) (p pairFit) {
	var pairs []Pair
	for k, n := range counts {
		pairs = append(pairs, Pair{float64(k[0]), float64(k[1]), float64(n)})
		p.n += n
	}
	sortPairs(pairs)
	s := Spearman(pairs)
	if p.n < minRequests || math.IsNaN(s) {
		return p
	}
	p.spearman, p.copula, p.known = s, tiedCopula(pairs, s), true
	return p
}

// Cholesky returns the rows of the lower triangle L, with the diagonal, for which
// L L' is the matrix of d: L times independent normals has its correlations. d must be valid.
func (d *Dependence) Cholesky() [][]float64 {
	l, _ := cholesky(d.Copula, len(d.Fields))
	return l
}

func (d *Dependence) validate() error {
	k := len(d.Fields)
	if k < 2 {
		return fmt.Errorf("fields: %d are not two that could depend on each other", k)
	}
	for i, f := range d.Fields {
		if slices.Contains(d.Fields[:i], f) {
			return fmt.Errorf("fields[%d]: %q stands there twice", i, f)
		}
	}
	if n := lowerIndex(k, 0); len(d.Copula) != n || len(d.Spearman) != n {
		return fmt.Errorf("copula: %d fields have %d pairs, not %d; spearman has %d", k, n, len(d.Copula), len(d.Spearman))
	}
	for i, r := range d.Copula {
		if math.Abs(r) > 1 || math.Abs(d.Spearman[i]) > 1 {
			return fmt.Errorf("copula[%d]: %g or its Spearman %g does not lie in -1..1", i, r, d.Spearman[i])
		}
	}
	if _, ok := cholesky(d.Copula, k); !ok {
		return errors.New("copula: no normals have these correlations: the matrix is not positive definite")
	}
	return nil
}
