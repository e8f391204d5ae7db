package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"wavetank/fit"
)

// idcTolerance is what the mean over the seeds may be off at any scale: x1.3 either way.
const idcTolerance = .3

// longScales are those of traces of days, whose rhythm no scale of fit.Scales sees.
var longScales = []time.Duration{time.Hour, 4 * time.Hour, 24 * time.Hour}

// scalesOf are those of which the window holds enough, by the same measure.
func scalesOf(window time.Duration) []time.Duration {
	out := fit.ScalesWithin(window)
	for _, scale := range longScales {
		if window/scale >= 8 {
			out = append(out, scale)
		}
	}
	return out
}

// idcTable prints the index of dispersion of the arrivals that each generator makes, over
// the real one, at every scale: the mean over the seeds.
func idcTable(w io.Writer, c contest) error {
	var b strings.Builder
	want := c.real.idcs(c.real.span())
	fmt.Fprintf(&b, "## %s: %d requests in %.0f s, %d seeds\n\n| generator |", c.name, len(c.real), c.real.span().Seconds(), c.seeds)
	for i, scale := range scalesOf(c.real.span()) {
		fmt.Fprintf(&b, " %v: IDC %.3g |", scale, want[i])
	}
	b.WriteString(" off by more than x1.3 |\n|---|" + strings.Repeat("---|", len(want)+1) + "\n")
	for _, g := range c.generators {
		ratios, err := g.idcRatios(c.real, want, c.seeds)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		off := 0
		fmt.Fprintf(&b, "| %s |", g)
		for _, r := range ratios {
			fmt.Fprintf(&b, " x%.2f |", r)
			if math.Abs(math.Log(r)) > math.Log1p(idcTolerance) {
				off++
			}
		}
		fmt.Fprintf(&b, " %d of %d |\n", off, len(want))
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

// idcRatios are g's over want.
func (g generator) idcRatios(real trace, want []float64, seeds int) ([]float64, error) {
	draw, err := g.fit(real)
	if err != nil {
		return nil, err
	}
	bySeed := make([][]float64, seeds)
	err = each(seeds, func(seed int) error {
		made, err := draw(uint64(seed))
		bySeed[seed] = made.idcs(real.span())
		return err
	})
	ratios := make([]float64, len(want))
	for _, of := range bySeed {
		for i, v := range of {
			ratios[i] += v / want[i] / float64(seeds)
		}
	}
	return ratios, err
}

// idcs are those of t at every scale that the window holds.
func (t trace) idcs(window time.Duration) (out []float64) {
	at := make([]time.Duration, len(t))
	for i, q := range t {
		at[i] = q.at
	}
	for _, scale := range scalesOf(window) {
		out = append(out, fit.ArrivalIDC(at, window, scale))
	}
	return out
}
