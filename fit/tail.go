package fit

import (
	"fmt"
	"math"
)

// A Tail takes the place of a family above a high quantile: what exceeds a threshold is
// near a generalised Pareto distribution whatever the body is (Pickands, 1975; Balkema
// and de Haan, 1974), S(x) = (1 + xi (x-from)/width)^(-1/xi).
type Tail struct {
	From  float64 `yaml:"from"`  // tokens, in the coordinate in which the length k covers (k-1/2, k+1/2]
	Share float64 `yaml:"share"` // of the smooth part that lies above
	Xi    float64 `yaml:"xi"`    // above 0: a power tail of the exponent 1/xi
	Width float64 `yaml:"width"` // tokens
}

const (
	tailFrom  = .99
	tailLeast = 200 // exceedances, more than which it takes
)

// fitTail returns the tail of s above its 99 % quantile. It is nil where that rests on too few.
func fitTail(s Sample) *Tail {
	known := s.kaplanMeier()
	n := known.N()
	if len(s.Bins) == 0 || n*(1-tailFrom) <= tailLeast {
		return nil
	}
	from := known.ranked((n - 1) * tailFrom).Hi
	above := Sample{Lo: from, Hi: s.Hi}
	for _, b := range s.Bins {
		if b.Lo >= from {
			above.Bins = append(above.Bins, b)
		}
	}
	for _, o := range s.Over {
		if o.Above >= from {
			above.Over = append(above.Over, o)
		}
	}
	share := 1.
	for _, b := range known.Bins {
		if b.Hi <= from {
			share -= b.N / n
		}
	}
	f := exceedances(from)
	params, err := f.Fit(above)
	if err != nil || above.N() <= tailLeast {
		return nil
	}
	return &Tail{round(from), round(share), round(params[0]), round(params[1])}
}

// exceedances is the family of generalised Paretos from a threshold on.
func exceedances(from float64) Family {
	return searched("generalized_pareto", []string{"xi", "width"},
		func(p []float64) Dist { return gpdDist{from, p[0], p[1]} },
		func(m moments) [][]float64 {
			mean := max(m.mean-from, 1)
			return [][]float64{{.02, mean}, {.5, mean / 2}}
		})
}

// gpdDist is the generalised Pareto distribution of x-from.
type gpdDist struct{ from, xi, width float64 }

// hazard is -ln S(x), which is x/width for xi = 0.
func (d gpdDist) hazard(x float64) float64 {
	t := max(x-d.from, 0) / d.width
	if math.Abs(d.xi) < 1e-9 {
		return t
	}
	return math.Log1p(max(d.xi*t, -1)) / d.xi
}

// LogProb implements Dist.
func (d gpdDist) LogProb(x float64) float64 {
	if x < d.from {
		return math.Inf(-1)
	}
	return -(1+d.xi)*d.hazard(x) - math.Log(d.width)
}

// CDF implements Dist.
func (d gpdDist) CDF(x float64) float64 { return -math.Expm1(-d.hazard(x)) }

// Survival implements Dist.
func (d gpdDist) Survival(x float64) float64 { return math.Exp(-d.hazard(x)) }

// Quantile implements Dist.
func (d gpdDist) Quantile(p float64) float64 { return d.upper(1 - p) }

// upper is the quantile of that survival.
func (d gpdDist) upper(survival float64) float64 {
	h := -math.Log(survival)
	if math.Abs(d.xi) < 1e-9 {
		return d.from + d.width*h
	}
	return d.from + d.width*math.Expm1(d.xi*h)/d.xi
}

// spliced is a body up to where its tail begins, and the tail from there on.
type spliced struct {
	body  Dist
	top   float64 // the body's cdf at from
	share float64
	tail  gpdDist
}

func splice(body Dist, t *Tail) Dist {
	if t == nil {
		return body
	}
	return spliced{body, body.CDF(t.From), t.Share, gpdDist{t.From, t.Xi, t.Width}}
}

// LogProb implements Dist.
func (d spliced) LogProb(x float64) float64 {
	if x > d.tail.from {
		return math.Log(d.share) + d.tail.LogProb(x)
	}
	return math.Log((1-d.share)/d.top) + d.body.LogProb(x)
}

// CDF implements Dist.
func (d spliced) CDF(x float64) float64 {
	if x > d.tail.from {
		return 1 - d.share*d.tail.Survival(x)
	}
	return (1 - d.share) * d.body.CDF(x) / d.top
}

// Survival implements Dist.
func (d spliced) Survival(x float64) float64 {
	if x > d.tail.from {
		return d.share * d.tail.Survival(x)
	}
	return 1 - d.CDF(x)
}

// Quantile implements Dist.
func (d spliced) Quantile(p float64) float64 {
	if p > 1-d.share {
		return d.tail.upper((1 - p) / d.share)
	}
	return min(d.body.Quantile(p/(1-d.share)*d.top), d.tail.from)
}

func (t *Tail) validate() error {
	if t == nil {
		return nil
	}
	if !(t.From >= 1) {
		return fmt.Errorf("from: %g is below 1 token", t.From)
	}
	if !(t.Share > 0 && t.Share < 1) {
		return fmt.Errorf("share: %g does not lie in 0..1", t.Share)
	}
	if l := limits["xi"]; !(t.Xi >= l[0] && t.Xi <= l[1]) {
		return fmt.Errorf("xi: %g does not lie in %g..%g", t.Xi, l[0], l[1])
	}
	if l := limits["width"]; !(t.Width >= l[0] && t.Width <= l[1]) {
		return fmt.Errorf("width: %g does not lie in %g..%g", t.Width, l[0], l[1])
	}
	return nil
}
