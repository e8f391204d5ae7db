package fidelity

import (
	"math"
	"slices"

	"wavetank/fit"
)

// A plane is the density of (log prompt, log output), seen from a few directions.
// The energy distance of two such densities (Szekely and Rizzo, 2004),
//
//	2E|X-Y| - E|X-X'| - E|Y-Y'|,
//
// is pi/2 times the mean over all directions of that of their projections, because
// the mean of |<v,u>| over unit vectors u is 2|v|/pi; and that of projections is
// twice the area between the squares of their cdfs. So it takes no pairs of rows.
type plane [directions][]float64 // cumulative shares on the grid

const (
	directions = 8
	gridStep   = .02 // of a logarithm
	gridFrom   = -22.
	gridCells  = 2640 // up to the projection of two lengths of 2^31
)

// maxPairs is how many rows correlations are taken of, evenly spaced: at 10,000
// their standard error is .01.
const maxPairs = 10_000

func planeOf(rows []row) (p plane) {
	for d := range p {
		p[d] = make([]float64, gridCells)
	}
	var ux, uy [directions]float64
	for d := range directions {
		uy[d], ux[d] = math.Sincos(math.Pi * (float64(d) + .5) / directions)
	}
	n := 0.
	for _, q := range rows {
		if q.prompt == 0 || q.output == 0 {
			continue
		}
		n++
		x, y := math.Log(float64(q.prompt)), math.Log(float64(q.output))
		for d := range p {
			p[d][int((ux[d]*x+uy[d]*y-gridFrom)/gridStep)]++
		}
	}
	for d := range p {
		sum := 0.
		for i, c := range p[d] {
			sum += c
			p[d][i] = sum / n
		}
	}
	return p
}

func energy(a, b *plane) (e float64) {
	for d := range a {
		for i, f := range a[d] {
			e += (f - b[d][i]) * (f - b[d][i])
		}
	}
	return math.Pi / 2 / directions * 2 * e * gridStep
}

// A pairing says how prompt and output go together in a sample of rows.
type pairing struct {
	spearman, kendall float64
	tail              float64 // share of the outputs above their 95 % quantile, among the prompts above theirs
}

func pairingOf(rows []row) pairing {
	step := max(1, len(rows)/maxPairs)
	var pairs []fit.Pair
	for i := 0; i < len(rows); i += step {
		if q := rows[i]; q.prompt > 0 && q.output > 0 {
			pairs = append(pairs, fit.Pair{X: float64(q.prompt), Y: float64(q.output), N: 1})
		}
	}
	if len(pairs) < minRows {
		return pairing{math.NaN(), math.NaN(), math.NaN()}
	}
	return pairing{fit.Spearman(pairs), fit.KendallTauB(pairs), upperTail(pairs)}
}

func upperTail(pairs []fit.Pair) float64 {
	x, y := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		x[i], y[i] = p.X, p.Y
	}
	slices.Sort(x)
	slices.Sort(y)
	highX, highY := quantile(x, .95), quantile(y, .95)
	var above, both float64
	for _, p := range pairs {
		if p.X > highX {
			above++
			if p.Y > highY {
				both++
			}
		}
	}
	return both / above
}

func jointMeasures(app string, scope int) []measure {
	m := measure{group: Joint, app: app, kind: Distance, name: "energy", tolerance: .005}
	m.apart = func(a, b *summary) float64 { return energy(&a.scopes[scope].plane, &b.scopes[scope].plane) }
	ms := []measure{m}
	for _, c := range []struct {
		name string
		of   func(*pairing) float64
	}{
		{"spearman", func(p *pairing) float64 { return p.spearman }},
		{"tau-b", func(p *pairing) float64 { return p.kendall }},
		{"upper tail", func(p *pairing) float64 { return p.tail }},
	} {
		ms = append(ms, measure{group: Joint, app: app, kind: Difference, name: c.name, tolerance: .05,
			value: func(s *summary) float64 { return c.of(&s.scopes[scope].pairs) }})
	}
	return ms
}
