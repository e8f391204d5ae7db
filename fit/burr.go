package fit

import "math"

var burr = searched("burr", []string{"shape", "tail", "scale"},
	func(p []float64) Dist { return burrDist{p[0], p[1], p[2]} },
	func(m moments) [][]float64 {
		var starts [][]float64
		for _, tail := range []float64{.5, 2} { // each with about the deviation and the median of the logarithm
			shape := math.Pi / math.Sqrt(3) / m.sd / min(tail, 1)
			starts = append(starts, []float64{shape, tail, math.Exp(m.mu) * math.Pow(math.Exp2(1/tail)-1, -1/shape)})
		}
		return starts
	})

// burrDist is the Burr of type XII (Burr, 1942): S(x) = (1 + (x/scale)^shape)^-tail.
type burrDist struct{ shape, tail, scale float64 }

// log is ln(1 + (x/scale)^shape).
func (d burrDist) log(x float64) float64 {
	t := d.shape * math.Log(max(x, 0)/d.scale)
	if t > 40 {
		return t
	}
	return math.Log1p(math.Exp(t))
}

// LogProb implements Dist.
func (d burrDist) LogProb(x float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	return math.Log(d.tail*d.shape/x) + d.shape*math.Log(x/d.scale) - (d.tail+1)*d.log(x)
}

// CDF implements Dist.
func (d burrDist) CDF(x float64) float64 { return -math.Expm1(-d.tail * d.log(x)) }

// Survival implements Dist.
func (d burrDist) Survival(x float64) float64 { return math.Exp(-d.tail * d.log(x)) }

// Quantile implements Dist.
func (d burrDist) Quantile(p float64) float64 {
	l := -math.Log1p(-p) / d.tail
	if l > 40 {
		return d.scale * math.Exp(l/d.shape)
	}
	return d.scale * math.Pow(math.Expm1(l), 1/d.shape)
}
