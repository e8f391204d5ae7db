package fit

import (
	"math"
	"slices"
)

const (
	hermiteTerms = 60
	maxCopula    = .999 // of one pair
	minEigen     = 1e-4 // of the matrix of a copula
)

// tiedCopula returns the correlation of two normals that, taken through the marginals
// of the pairs, ties included, have that rank correlation. Ties at a point mass lower
// a rank correlation, and 2 sin(pi rho / 6) (Kruskal, 1958), which is meant for
// continuous marginals, would lower it a second time. With the mid-ranks written as Hermite series a_k, b_k
// of the normals the rank correlation is sum a_k b_k r^k (Mehler, 1866), which rises with r.
func tiedCopula(pairs []Pair, spearman float64) float64 {
	a := hermite(pairs, func(p Pair) float64 { return p.X })
	b := hermite(pairs, func(p Pair) float64 { return p.Y })
	lo, hi := -maxCopula, maxCopula
	for range 50 {
		r := (lo + hi) / 2
		if mehler(a, b, r) < spearman {
			lo = r
		} else {
			hi = r
		}
	}
	return (lo + hi) / 2
}

func mehler(a, b []float64, r float64) (sum float64) {
	for k := len(a) - 1; k >= 0; k-- {
		sum = (sum + a[k]*b[k]) * r
	}
	return sum
}

// hermite returns the coefficients of the mid-rank, scaled to variance 1, in the
// normalised Hermite polynomials 1, 2, ... of a normal. A step of the rank at z adds
// step h_{k-1}(z) phi(z) / sqrt(k).
func hermite(pairs []Pair, of func(Pair) float64) []float64 {
	masses := massesOf(pairs, of)
	out := make([]float64, hermiteTerms)
	var variance, under, last float64
	for i, m := range masses {
		rank := under + m/2 - .5
		variance += m * rank * rank
		if i > 0 {
			addStep(out, NormalQuantile(under), rank-last)
		}
		under, last = under+m, rank
	}
	for k := range out {
		out[k] /= math.Sqrt(variance)
	}
	return out
}

func addStep(out []float64, z, step float64) {
	h, before := step*normalDensity(z), 0.
	for k := range out {
		n := float64(k + 1)
		out[k] += h / math.Sqrt(n)
		h, before = (z*h-math.Sqrt(n-1)*before)/math.Sqrt(n), h
	}
}

// massesOf returns the share of each value, in ascending order of the values.
func massesOf(pairs []Pair, of func(Pair) float64) (masses []float64) {
	var n float64
	var last float64
	for i, k := range ascending(pairs, of) {
		p := pairs[k]
		if v := of(p); i == 0 || v != last {
			masses, last = append(masses, 0), v
		}
		masses[len(masses)-1] += p.N
		n += p.N
	}
	for i := range masses {
		masses[i] /= n
	}
	return masses
}

// nearestCorrelation returns the correlations if they are those of some normals, else
// correlations near them that are: estimates of each pair on its own need not go
// together. Eigenvalues are lifted to minEigen and the diagonal is scaled back to 1
// (the spectral method of Rebonato and Jaeckel, 1999). lower is a triangle of k rows.
func nearestCorrelation(lower []float64, k int) []float64 {
	m := square(lower, k)
	values, vectors := jacobi(m)
	if slices.Min(values) >= minEigen {
		return lower
	}
	at := func(i, j int) (sum float64) {
		for e, v := range values {
			sum += max(v, 2*minEigen) * vectors[i][e] * vectors[j][e]
		}
		return sum
	}
	out := make([]float64, 0, len(lower))
	for i := range k {
		for j := range i {
			out = append(out, at(i, j)/math.Sqrt(at(i, i)*at(j, j)))
		}
	}
	return out
}

func square(lower []float64, k int) [][]float64 {
	m := make([][]float64, k)
	for i := range m {
		m[i] = make([]float64, k)
		m[i][i] = 1
		for j := range i {
			m[i][j] = lower[lowerIndex(i, j)]
			m[j][i] = m[i][j]
		}
	}
	return m
}

// jacobi diagonalises a small symmetric matrix by rotations (Jacobi, 1846). The
// eigenvectors are the columns of vectors.
func jacobi(m [][]float64) (values []float64, vectors [][]float64) {
	k := len(m)
	vectors = square(make([]float64, lowerIndex(k, 0)), k)
	for range 30 {
		for p := range k {
			for q := range p {
				rotate(m, vectors, p, q)
			}
		}
	}
	for i := range k {
		values = append(values, m[i][i])
	}
	return values, vectors
}

func rotate(m, vectors [][]float64, p, q int) {
	angle := math.Atan2(2*m[p][q], m[p][p]-m[q][q]) / 2
	c, s := math.Cos(angle), math.Sin(angle)
	for _, a := range [][][]float64{m, vectors} {
		for i := range a {
			a[i][p], a[i][q] = c*a[i][p]+s*a[i][q], c*a[i][q]-s*a[i][p]
		}
	}
	for j := range m {
		m[p][j], m[q][j] = c*m[p][j]+s*m[q][j], c*m[q][j]-s*m[p][j]
	}
}

// cholesky returns the factor of the correlation matrix and whether there is one.
func cholesky(lower []float64, k int) (rows [][]float64, ok bool) {
	for i := range k {
		row := make([]float64, i+1)
		rest := 1.
		for j := range i {
			sum := lower[lowerIndex(i, j)]
			for e := range j {
				sum -= row[e] * rows[j][e]
			}
			row[j] = sum / rows[j][j]
			rest -= row[j] * row[j]
		}
		if !(rest > 0) {
			return nil, false
		}
		row[i] = math.Sqrt(rest)
		rows = append(rows, row)
	}
	return rows, true
}
