// Package report says what came back: the metrics of a run or of observed
// production, summed up and rendered.
package report

import (
	"fmt"
	"time"

	"wavetank/traces"
)

// DefaultMaxLag is the bound on the p99 of the lag that Options uses unless told otherwise.
const DefaultMaxLag = 50 * time.Millisecond

// Options say how to sum up.
type Options struct {
	Name   string        // what the summary is called, usually the file
	MaxLag time.Duration // bound on the p99 of the lag; over it a run is INVALID. 0: DefaultMaxLag
}

func (o Options) withDefaults() Options {
	if o.MaxLag == 0 {
		o.MaxLag = DefaultMaxLag
	}
	return o
}

// Summarize reads r once, to its end, and sums it up. The rows need not be
// sorted. Rows of a phase (prime, preroll, warmup) are counted apart and stay
// out of every figure. It keeps each value of each metric, 4 or 8 bytes each,
// so quantiles are exact. Errors are those of r, with the number of rows read
// before, and of Options.
func Summarize(r traces.Reader, m traces.Meta, o Options) (*Summary, error) {
	o = o.withDefaults()
	if o.MaxLag < 0 {
		return nil, fmt.Errorf("summarize: lag bound %v is negative", o.MaxLag)
	}
	c := newCollector(m.Kind)
	for rec, err := range traces.All(r) {
		if err != nil {
			return nil, fmt.Errorf("summarize after %d rows: %w", c.rows, err)
		}
		c.add(rec)
	}
	return c.summary(m, o), nil
}
