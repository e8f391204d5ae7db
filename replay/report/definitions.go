package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"wavetank/traces"
)

// Definitions writes what every figure of a report means, within 80 columns:
// the metrics, the statuses, how quantiles, bounds, rates and the verdict are made.
func Definitions(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "METRICS")
	for _, m := range Metrics {
		define(b, fmt.Sprintf("%s (%s, over %s rows)", m.Name, m.Unit, m.Rows), m.About)
	}
	fmt.Fprintln(b, "\nROWS")
	define(b, "ok rows", "status ok, and not answered by a gateway's cache")
	define(b, "sent rows", "any status but dropped, skipped and unknown")
	define(b, "all rows", "every row but those of a phase (prime, preroll, warmup), which are counted apart")
	fmt.Fprintln(b, "\nSTATUSES: each row has exactly one; offered is their sum")
	for _, st := range traces.Statuses {
		about := statusAbout[st].about
		if statusAbout[st].failed {
			about += " (failed)"
		}
		define(b, string(st), about)
	}
	fmt.Fprintln(b, "\nFIGURES")
	for _, d := range figures() {
		define(b, d.name, d.about)
	}
	return b.Flush()
}

type definition struct{ name, about string }

func figures() []definition {
	var least []string
	for _, p := range Percentiles {
		least = append(least, fmt.Sprintf("%s %d", p.Name, p.MinN()))
	}
	return []definition{
		{"quantiles", "Hyndman and Fan's type 7 (hf7; numpy's and R's default) of all values: at rank (n-1)p from 0, linear between two rows. None is binned. A p95 below the mean is no error: few rows with very long times draw the mean up"},
		{"bounds", "two-sided 95 %, of order statistics by the binomial distribution, whatever the metric's own. Rows that queue behind each other are not independent: over repeated runs figures vary more"},
		{"- (n<N)", "too few rows for such bounds. The fewest: " + strings.Join(least, ", ")},
		{"asked (rates)", "all rows with a due time, and the tokens asked for, over the time from the first due to the last; in a production trace, arrivals. Unknown token counts add nothing"},
		{"answered (rates)", "ok rows, and the tokens seen in them, over the time from the first row sent to the last end, so the drain is in it"},
		{"inflight", "requests between sent and end, of any status that was sent; the mean is over the window of answered"},
		{"cached", "cached over prompt tokens of the ok rows whose usage told both"},
		{"verdict", fmt.Sprintf("VALID if every check passes, else INVALID: the generator, not the server, was measured. lag_p99: %s; at most %v unless told otherwise. lag_early: %s; the same limit. dropped: %s; none. accounted: %s; 0. n/a if no row has a lag",
			aboutLagP99, DefaultMaxLag, aboutEarly, aboutDropped, aboutSum)},
	}
}

func define(w io.Writer, name, about string) {
	fmt.Fprintf(w, "  %s\n", name)
	for _, line := range labelled("", about, len(about)) {
		fmt.Fprintln(w, line)
	}
}
