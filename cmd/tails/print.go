package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// latencyTables has a table for each server.
func latencyTables(w io.Writer, c contest) error {
	panels, err := compare(c.real, c.real, c.generators, servers, loads, c.seeds)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "## %s: %d requests in %.0f s, %d seeds\n\n", c.name, len(c.real), c.real.span().Seconds(), c.seeds)
	for _, p := range panels {
		p.print(w)
	}
	return nil
}

// print writes a Markdown table: a row a generator, two columns a load.
func (p panel) print(w io.Writer) {
	var b strings.Builder
	fmt.Fprintf(&b, "### Server: %s\n\n| generator (who works this way) |", p.server.name)
	for _, s := range p.settings {
		fmt.Fprintf(&b, " %s: p99 TTFT %s | p99 TPOT %s |", s.load.name, digits(ttft(s.real)), digits(tpot(s.real)))
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", 2*len(p.settings)) + "\n")
	for _, r := range p.rows {
		fmt.Fprintf(&b, "| %s |", r.generator)
		for k := range p.settings {
			fmt.Fprintf(&b, " %s | %s |", p.miss(r, k, ttft), p.miss(r, k, tpot))
		}
		b.WriteString("\n")
	}
	for _, r := range p.rows {
		if most := r.refused(); most > 0 {
			fmt.Fprintf(&b, "\nThe engine takes no requests as long as up to %.2g %% of those of %s: they are left out.\n", 100*most, r.generator.name)
		}
	}
	b.WriteString("\n")
	io.WriteString(w, b.String())
}

// refused is the greatest share of a trace's requests that the engine did not take.
func (r row) refused() (most float64) {
	for _, l := range r.latencies[0] {
		most = max(most, refused(l))
	}
	return most
}

// digits writes three of them.
func digits(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%.3g ms", 1000*d.Seconds())
}

// String is the median's error, the band's, and whether the real one is inside.
func (m miss) String() string {
	verdict := "out"
	if m.inside {
		verdict = "**in**"
	}
	return fmt.Sprintf("%+.0f %% (%+.0f..%+.0f) %s", 100*m.error.Mid, 100*m.error.Lo, 100*m.error.Hi, verdict)
}
