package fidelity

import "math"

// A measure is one figure of two loads.
type measure struct {
	group, app, name string
	at               string // the point, where name is a curve
	unit             string
	kind             Kind
	tolerance        float64 // a ratio, or a difference
	soft             float64 // is added to both sides of a ratio, so that it is of nothing near 0

	value func(*summary) float64      // of one load
	apart func(a, b *summary) float64 // of a Distance, which has no value of one load
}

// A Kind says how the two values of a figure are set against each other.
type Kind string

// The kinds.
const (
	Ratio      Kind = "ratio"      // B over A: judged by its logarithm, so that half is as far as double
	Difference Kind = "difference" // B less A
	Distance   Kind = "distance"   // of two distributions, 0 where they are one
)

// diff is how far b is from a, signed: the logarithm of a ratio, a difference, or a
// distance. It is NaN where a side lacks the figure.
func (m *measure) diff(a, b *summary) float64 {
	if m.kind == Distance {
		return m.apart(a, b)
	}
	return m.between(m.value(a), m.value(b))
}

func (m *measure) between(a, b float64) float64 {
	if m.kind == Difference {
		return b - a
	}
	if a == b {
		return 0
	}
	d := math.Log((b + m.soft) / (a + m.soft))
	if math.IsInf(d, 0) {
		return math.Copysign(farApart, d)
	}
	return d
}

// farApart stands for the logarithm of a ratio to nothing.
const farApart = 20

// limit is tolerance in the measure of diff.
func (m *measure) limit() float64 {
	if m.kind == Ratio {
		return math.Log(m.tolerance)
	}
	return m.tolerance
}

// shown is a diff, or a floor, as it is reported.
func (m *measure) shown(d float64) float64 {
	if m.kind == Ratio {
		return math.Exp(d)
	}
	return d
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
