package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// print writes a Markdown table: a row a generator, two columns a load.
func (p panel) print(w io.Writer) {
	var b strings.Builder
	fmt.Fprintf(&b, "### Server: %s\n\n| generator (who works this way) |", p.server.name)
	for _, s := range p.settings {
		fmt.Fprintf(&b, " %s: p99 TTFT %s | p99 TPOT %s |", s.load.name, digits(ttft(s.real)), digits(tpot(s.real)))
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", 2*len(p.settings)) + "\n")
	for _, r := range p.rows {
		fmt.Fprintf(&b, "| %s (%s) |", r.generator.name, r.generator.who)
		for k := range p.settings {
			fmt.Fprintf(&b, " %s | %s |", p.miss(r, k, ttft), p.miss(r, k, tpot))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	io.WriteString(w, b.String())
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
