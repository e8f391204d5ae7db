package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"wavetank/traces"
)

var renderText = Renderer{
	Name:   "text",
	About:  "one screen a run, for people: at most 40 lines of 80 columns, without colour",
	Render: writeText,
}

// maxLines is one screen.
const maxLines = 40

func writeText(w io.Writer, runs []*Summary) error {
	b := bufio.NewWriter(w)
	for i, s := range runs {
		if i > 0 {
			fmt.Fprintln(b)
		}
		for _, line := range s.lines() {
			fmt.Fprintln(b, strings.TrimRight(line, " "))
		}
	}
	return b.Flush()
}

func (s *Summary) lines() []string {
	lines := slices.Concat(s.headLines(), s.latencyLines(), s.tokenLines(), s.rateLines())
	return append(lines, s.appLines(maxLines-len(lines))...)
}

func (s *Summary) headLines() []string {
	kind := s.Kind
	if kind == "" {
		kind = traces.KindTrace
	}
	lines := labelled(printable(string(kind), labelWidth-1), s.Name, 1)
	if t := s.Target; t != nil {
		lines = append(lines, labelled("target", fmt.Sprintf("%s %s, model %s", t.URL, t.API, cmp.Or(t.Model, "n/a")), 1)...)
	} else if len(s.Models) > 0 {
		lines = append(lines, labelled("models", byCount(s.Models), 1)...)
	}
	lines = append(lines, labelled("VERDICT", string(s.Verdict.State)+" ("+s.Verdict.Reason+")", 2)...)
	if s.Partial {
		lines = append(lines, labelled("PARTIAL", "the run was stopped before its end", 1)...)
	}
	lines = append(lines, labelled("offered", s.offeredText(), 2)...)
	c := s.Counts
	if c.Failed > 0 {
		lines = append(lines, labelled("FAILED", fmt.Sprintf("%s of the offered; the latencies are of the %s that ended ok",
			percent(c.Failed, c.Offered), percent(c.Statuses[traces.OK], c.Offered)), 1)...)
	}
	for _, row := range []struct{ label, text string }{
		{"errors", byCount(c.Errors)}, {"answers", s.answersText()}, {"besides", s.besidesText()}, {"note", strings.Join(s.Notes, "; ")},
	} {
		if row.text != "" {
			lines = append(lines, labelled(row.label, row.text, 1)...)
		}
	}
	return lines
}

func (s *Summary) offeredText() string {
	var parts []string
	for _, st := range traces.Statuses {
		if n := s.Counts.Statuses[st]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", st, n))
		}
	}
	if len(parts) == 0 {
		return "0 requests"
	}
	return fmt.Sprintf("%d requests = %s", s.Counts.Offered, strings.Join(parts, " + "))
}

func (s *Summary) answersText() string {
	var parts []string
	if len(s.Counts.HTTP) > 0 {
		parts = append(parts, "HTTP "+byCount(s.Counts.HTTP))
	}
	if len(s.Counts.Finish) > 0 {
		parts = append(parts, "finish "+byCount(s.Counts.Finish))
	}
	return strings.Join(parts, "; ")
}

// besidesText tells of rows that the other lines do not show.
func (s *Summary) besidesText() string {
	var parts []string
	if len(s.Counts.Phases) > 0 {
		parts = append(parts, "left out: "+byCount(s.Counts.Phases))
	}
	if n := s.Counts.Retries; n > 0 {
		parts = append(parts, fmt.Sprintf("retries %d", n))
	}
	if n := s.Counts.GatewayCached; n > 0 {
		parts = append(parts, fmt.Sprintf("answered by a gateway's cache %d", n))
	}
	return strings.Join(parts, "; ")
}

// byCount lists names, most rows first. The names are made safe here, because
// a broken one must not hide the others.
func byCount(counts map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return int(counts[b] - counts[a])
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", strings.ReplaceAll(printable(name, 24), " ", "_"), counts[name])
	}
	return strings.Join(names, ", ")
}

func (s *Summary) rateLines() []string {
	o, a, f := s.Rates.Offer, s.Rates.Answer, s.Rates.InFlight
	window := "arrivals"
	if s.Kind == traces.KindRun {
		window = "due"
	}
	const rates = "%s req/s, %s prompt tok/s, %s output tok/s in %s s (%s)"
	return slices.Concat(
		labelled("asked", fmt.Sprintf(rates, sig(o.Requests), big(o.PromptTokens), big(o.OutputTokens), sig(o.Window), window), 1),
		labelled("answered", fmt.Sprintf(rates, sig(a.Requests), big(a.PromptTokens), big(a.OutputTokens), sig(a.Window), "sent-end"), 1),
		labelled("inflight", fmt.Sprintf("%s requests mean, %d max, of %d rows with both times", sig(f.Mean), f.Max, f.Rows), 1),
	)
}
