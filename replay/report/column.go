package report

import (
	"math"
	"slices"
)

// chunks is a list that grows without copying: append's copies would be most
// of the memory of a long run.
type chunks[T any] [][]T

const maxChunk = 1 << 14

func (c *chunks[T]) add(v T) {
	last := len(*c) - 1
	if last < 0 {
		*c, last = append(*c, make([]T, 0, 16)), 0
	}
	if full := cap((*c)[last]); len((*c)[last]) == full {
		*c, last = append(*c, make([]T, 0, min(2*full, maxChunk))), last+1
	}
	(*c)[last] = append((*c)[last], v)
}

// A column holds the values of one metric exactly. Those that are a small
// number of steps (a nanosecond, a token: nearly all) take 4 bytes, the others
// 8; order is lost, and nothing needs it.
type column struct {
	perUnit float64 // steps a unit
	steps   chunks[uint32]
	others  chunks[float64]
	n       int
}

// stepsPerUnit are by Metric.Unit.
var stepsPerUnit = map[string]float64{"ms": 1e6, "tokens": 1}

func (c *column) add(v float64) {
	c.n++
	if steps := math.Round(v * c.perUnit); 0 <= steps && steps <= math.MaxUint32 && steps/c.perUnit == v {
		c.steps.add(uint32(steps))
		return
	}
	c.others.add(v)
}

func (c *column) appendTo(dst []float64) []float64 {
	for _, chunk := range c.steps {
		for _, n := range chunk {
			dst = append(dst, float64(n)/c.perUnit)
		}
	}
	for _, chunk := range c.others {
		dst = append(dst, chunk...)
	}
	return dst
}

// flat returns the values in the order they came, as one slice of its own.
func (c chunks[T]) flat() []T { return slices.Concat(c...) }
