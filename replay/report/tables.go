package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wavetank/traces"
)

// cell is a quantile, or what it lacks.
func cell(s Stat, p Percentile, format func(Num) string) string {
	q := s.Quantiles[p.Name]
	switch {
	case s.N == 0:
		return "n/a"
	case q.Reason != "":
		return fmt.Sprintf("- (n<%d)", p.MinN())
	}
	return format(q.V)
}

// bounded is a cell with the percentile's bounds.
func bounded(s Stat, p Percentile, format func(Num) string) string {
	c, q := cell(s, p, format), s.Quantiles[p.Name]
	if q.Reason != "" {
		return c
	}
	return fmt.Sprintf("%s [%s,%s]", c, format(q.Lo), format(q.Hi))
}

// timeFormat picks the unit of a metric's row by its mean, not by its maximum:
// one stall must not turn all others into thousandths.
func timeFormat(s Stat) (unit string, format func(Num) string) {
	if s.Mean < 10_000 && !(s.Quantiles["p99"].Hi >= 99_999.5) {
		return "ms", sig
	}
	return "s", func(n Num) string { return sig(n / 1000) }
}

func (s *Summary) latencyLines() []string {
	lines := []string{"", fmt.Sprintf("%-12s%8s%6s%8s%9s%9s  %-19s%7s", "time", "rows", "mean", "p50", "p90", "p95", "p99 [95 % bounds]", "max")}
	for _, m := range Metrics {
		st := s.Metrics[m.Name]
		if m.Unit != "ms" || st.N == 0 {
			continue
		}
		unit, format := timeFormat(st)
		p := Percentiles
		lines = append(lines, fmt.Sprintf("%-9s %-2s%8d%6s%8s%9s%9s  %-19s%7s", m.Name, unit, st.N, format(st.Mean),
			cell(st, p[0], format), cell(st, p[1], format), cell(st, p[2], format), bounded(st, p[3], format), format(st.Max)))
	}
	return append(lines, labelled("excluded", s.excludedText(), 2)...)
}

// excludedText says which rows are in no latency, and what else single ones lack.
func (s *Summary) excludedText() string {
	type lack struct {
		why  string
		rows int64
	}
	var order []lack
	metrics := map[lack][]string{}
	for _, m := range Metrics {
		if m.Unit != "ms" || m.Rows != OKRows {
			continue
		}
		ex := s.Metrics[m.Name].Excluded
		for _, why := range slices.Sorted(maps.Keys(ex)) {
			l := lack{why, ex[why]}
			if metrics[l] == nil {
				order = append(order, l)
			}
			metrics[l] = append(metrics[l], m.Name)
		}
	}
	var parts []string
	for _, l := range order {
		who := strings.Join(metrics[l], ", ") + ": "
		if outside(l.why) {
			who = ""
		}
		parts = append(parts, fmt.Sprintf("%s%s %d", who, l.why, l.rows))
	}
	return cmp.Or(strings.Join(parts, "; "), "no row")
}

// outside tells the reasons of Rows, which all latencies share, from those of one metric.
func outside(why string) bool { return why == gatewayReason || strings.HasPrefix(why, statusPrefix) }

var tokenRows = []struct{ label, metric string }{
	{"prompt asked", "prompt_tokens_asked"},
	{"prompt seen", "prompt_tokens_seen"},
	{"prompt cached", "cached_tokens"},
	{"output asked", "output_tokens_asked"},
	{"output seen", "output_tokens_seen"},
}

func (s *Summary) tokenLines() []string {
	lines := []string{"", fmt.Sprintf("%-15s%8s%9s%8s%9s%9s%11s%9s", "tokens", "rows", "sum", "mean", "p50", "p90", "p99", "max")}
	for _, row := range tokenRows {
		st := s.Metrics[row.metric]
		lines = append(lines, fmt.Sprintf("%-15s%8d%9s%8s%9s%9s%11s%9s", row.label, st.N, big(st.Sum), sig(st.Mean),
			cell(st, Percentiles[0], whole), cell(st, Percentiles[1], whole), cell(st, Percentiles[3], whole), whole(st.Max)))
	}
	return slices.Concat(lines, labelled("cached", s.cachedText(), 1), labelled("output", s.outputText(), 2))
}

func (s *Summary) cachedText() string {
	if s.Tokens.CachedRows == 0 {
		return "n/a: no row told it"
	}
	return fmt.Sprintf("%s %% of the prompt tokens of the %d rows that told it", sig(100*s.Tokens.CachedShare), s.Tokens.CachedRows)
}

func (s *Summary) outputText() string {
	t := s.Tokens
	parts := []string{"counted by " + cmp.Or(byCount(t.Basis), "n/a")}
	if t.WantedRows > 0 {
		parts = append(parts, fmt.Sprintf("as many as asked in %d of %d", t.WantedGot, t.WantedRows))
	}
	if t.MultiTokenEvents > 0 {
		parts = append(parts, fmt.Sprintf("several tokens an event in %d", t.MultiTokenEvents))
	}
	return strings.Join(parts, "; ")
}

// appLines are at most room lines.
func (s *Summary) appLines(room int) []string {
	if len(s.Apps) == 0 || room < 4 {
		return nil
	}
	ttft := "ttft_due"
	if s.Metrics[ttft].N == 0 {
		ttft = "ttft_sent"
	}
	lines := []string{"", fmt.Sprintf("%-20s%9s%9s  %-9s ms p50%10s  tpot ms p50%10s", "app", "rows", "ok", ttft, "p99", "p99")}
	for i, app := range s.Apps {
		if rest := len(s.Apps) - i; len(lines) == room-1 && rest > 1 {
			return append(lines, fmt.Sprintf("and %d more apps", rest))
		}
		t, d := app.Metrics[ttft], app.Metrics["tpot"]
		lines = append(lines, fmt.Sprintf("%s%9d%9s%18s%10s%13s%10s", pad(printable(cmp.Or(app.Name, "unknown"), 19), 20), app.Offered,
			percent(app.Statuses[traces.OK], app.Offered), cell(t, Percentiles[0], sig), cell(t, Percentiles[3], sig),
			cell(d, Percentiles[0], sig), cell(d, Percentiles[3], sig)))
	}
	return lines
}
