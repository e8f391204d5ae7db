package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// again is what one records and plays again: the first half itself, in place of the
// second. No model of the first half can be expected to come nearer.
var again = generator{"the first half itself", "recorded and replayed", func(given trace) (generate, error) {
	return func(uint64) (trace, error) { return given, nil }, nil
}}

// holdoutTables fit every generator on the first half of the time, and judge what it
// makes by the second half, on the first server: as it comes, and with its time
// stretched so that it has as many requests a second as the second half.
func holdoutTables(w io.Writer, c contest) error {
	first, second := c.real.halves()
	comes := append(slices.Clone(c.generators), again)
	var paced []generator
	for _, g := range comes {
		paced = append(paced, g.paced(second.rate()))
	}
	for i, title := range []string{"as they come", "at the second half's rate"} {
		panels, err := compare(first, second, [][]generator{comes, paced}[i], servers[:1], loads, c.seeds)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "## %s: fitted on the first half (%d requests, %.3g/s), judged by the second (%d, %.3g/s), %s, %d seeds\n\n",
			c.name, len(first), first.rate(), len(second), second.rate(), title, c.seeds)
		for _, p := range panels {
			p.print(w)
		}
	}
	return nil
}

// paced is g with the time of its traces stretched to that many requests a second.
func (g generator) paced(rate float64) generator {
	fit := func(given trace) (generate, error) {
		draw, err := g.fit(given)
		return func(seed uint64) (trace, error) {
			t, err := draw(seed)
			if err != nil || t.span() == 0 {
				return t, err
			}
			return t.slowed(t.rate() / rate), nil
		}, err
	}
	return generator{g.name, g.who, fit}
}

// halves are the requests of each half of the time, counted from its first.
func (t trace) halves() (first, second trace) {
	middle := t[0].at + t.span()/2
	i, _ := slices.BinarySearchFunc(t, middle, func(q request, at time.Duration) int { return cmp.Compare(q.at, at) })
	return t[:i].fromZero(), t[i:].fromZero()
}

// fromZero is t with its first request at 0.
func (t trace) fromZero() trace {
	out := slices.Clone(t)
	for i := range out {
		out[i].at -= t[0].at
	}
	return out
}

// slowed is t with all times that many times as long.
func (t trace) slowed(factor float64) trace {
	out := slices.Clone(t)
	for i := range out {
		out[i].at = time.Duration(float64(out[i].at) * factor)
	}
	return out
}
