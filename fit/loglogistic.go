package fit

import "math"

var logLogistic = searched("log_logistic", []string{"shape", "scale"},
	func(p []float64) Dist { return logLogisticDist{p[0], p[1]} },
	func(m moments) [][]float64 { return [][]float64{{math.Pi / math.Sqrt(3) / m.sd, math.Exp(m.mu)}} })

// logLogisticDist is F(x) = 1/(1 + (x/scale)^-shape) (Fisk, 1961).
type logLogisticDist struct{ shape, scale float64 }

func (d logLogisticDist) t(x float64) float64 { return d.shape * math.Log(max(x, 0)/d.scale) }

// LogProb implements Dist.
func (d logLogisticDist) LogProb(x float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	t := d.t(x)
	return math.Log(d.shape/x) - math.Abs(t) - 2*math.Log1p(math.Exp(-math.Abs(t)))
}

// CDF implements Dist.
func (d logLogisticDist) CDF(x float64) float64 { return 1 / (1 + math.Exp(-d.t(x))) }

// Survival implements Dist.
func (d logLogisticDist) Survival(x float64) float64 { return 1 / (1 + math.Exp(d.t(x))) }

// Quantile implements Dist.
func (d logLogisticDist) Quantile(p float64) float64 {
	return d.scale * math.Pow(p/(1-p), 1/d.shape)
}
