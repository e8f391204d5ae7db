package fit

import (
	"cmp"
	"math"
	"slices"
)

const (
	energyExact = 3000    // places, up to which every pair is taken
	energyGrid  = 1. / 64 // standard deviations: the first width; doubled as need be
	energyCount = 10_000  // requests, beyond which the floor of a fit does not fall
	floorShare  = .95
)

// A place is a point, in units of the reference's standard deviations, with the
// shares that two samples have there.
type place struct{ x, y, a, b float64 }

// jointEnergy returns the energy distance (Szekely and Rizzo, 2004),
//
//	2 E|A-B| - E|A-A'| - E|B-B'|,
//
// to the spots, which a model was fitted to, of points that the model drew, as logarithms
// of prompt and output in units of the spots' standard deviations. It is 0 for equal
// samples alone. As a V-statistic it is not 0 on average for two samples of one distribution,
// so that it comes with the floor that chance sets: the 95 % quantile of what two such
// samples do. Beyond energyCount requests the floor falls no further: what lies as near as
// two samples of so many is near enough, whatever a test says at large n.
//
// Projections, by which replay/fidelity takes this distance of any two traces, need no
// pairs of places, but know no floor.
func jointEnergy(spots []spot, drawn [][2]float64) (distance, floor float64) {
	var t classSums
	for _, c := range spots {
		t.add(c, c.n)
	}
	g := t.gauss(t.n)
	sx, sy := math.Sqrt(g.xx), math.Sqrt(g.yy)
	var real []place
	for _, c := range spots {
		real = append(real, place{c.x / sx, c.y / sy, c.n / t.n, 0})
	}
	all := slices.Clone(real)
	for _, p := range drawn {
		all = append(all, place{p[0] / sx, p[1] / sy, 0, 1 / float64(len(drawn))})
	}
	v := 1/min(t.n, energyCount) + 1/min(float64(len(drawn)), energyCount)
	return energy(merge(all, energyExact)), energyNoise(merge(real, energyExact), v)
}

// merge gathers places on ever wider grids, each at the centre of its mass, until
// there are no more than most. On 3,000 places that moves the distance by 3 % at most.
func merge(ps []place, most int) []place {
	for width := energyGrid; len(ps) > most; width *= 2 {
		at := make(map[[2]int32]int, len(ps))
		var out []place
		for _, p := range ps {
			k := [2]int32{int32(math.Floor(p.x / width)), int32(math.Floor(p.y / width))}
			i, ok := at[k]
			if !ok {
				i = len(out)
				at[k] = i
				out = append(out, place{})
			}
			q := &out[i]
			w := (p.a + p.b) / (p.a + p.b + q.a + q.b)
			q.x, q.y = q.x+w*(p.x-q.x), q.y+w*(p.y-q.y)
			q.a, q.b = q.a+p.a, q.b+p.b
		}
		ps = out
	}
	slices.SortFunc(ps, func(p, q place) int { return cmp.Or(cmp.Compare(p.x, q.x), cmp.Compare(p.y, q.y)) })
	return ps
}

// energy is the quadratic form that the definition comes to: with d the difference of
// the shares, -sum_ij d_i d_j |z_i - z_j|.
func energy(ps []place) (sum float64) {
	for i, p := range ps {
		var row float64
		for _, q := range ps[:i] {
			row += (q.a - q.b) * p.distance(q)
		}
		sum -= 2 * (p.a - p.b) * row
	}
	return max(sum, 0)
}

// energyNoise is the 95 % quantile of the energy of a sampling error of variance v times
// that of one point. It is what a bootstrap comes to for many points and needs no draws: a
// weighted sum of squared normals, whose quantile is taken from the gamma distribution of
// the same mean and variance (Satterthwaite, 1946). With h the distances, centred in rows and columns and negative, the
// mean of its squared normals is sum_i p_i h_ii and their variance 2 sum_ij p_i p_j h_ij^2.
func energyNoise(ps []place, v float64) float64 {
	rows := make([]float64, len(ps))
	var mean float64
	for i, p := range ps {
		for j, q := range ps[:i] {
			d := p.distance(q)
			rows[i] += q.a * d
			rows[j] += p.a * d
		}
	}
	for i, p := range ps {
		mean += p.a * rows[i]
	}
	var squares float64
	for i, p := range ps {
		var row float64
		for j, q := range ps {
			h := rows[i] + rows[j] - mean - p.distance(q)
			row += q.a * h * h
		}
		squares += p.a * row
	}
	if mean <= 0 {
		return 0
	}
	return v * gammaDist{mean * mean / (2 * squares), 2 * squares / mean}.Quantile(floorShare)
}

func (p place) distance(q place) float64 {
	dx, dy := p.x-q.x, p.y-q.y
	return math.Sqrt(dx*dx + dy*dy)
}
