package lint

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wavetank/traces"
)

// maxNames bounds a list of names, so that the text stays on one screen.
const maxNames = 6

// WriteText writes the facts and findings for people. Names lose what a
// terminal could act on, and long lists of them are cut: the JSON has all.
func (f *Facts) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	line := func(label, format string, args ...any) {
		fmt.Fprintf(b, "%-9s"+format+"\n", append([]any{label}, args...)...)
	}
	line("rows", "%d%s", f.Rows, statusText(f.Statuses))
	line("arrivals", "span %v, mean rate %s/s, resolution %s, %s", f.Span, number(f.MeanRate), resolutionText(f.Resolution), sortedText(f.Sorted))
	line("gaps", "gap_cv %s (1 = Poisson), longest %v, %d distinct arrivals", number(f.GapCV), f.GapMax, f.DistinctArrivals)
	line("idc", "%s", wrapped(idcText(f.IDC)))
	if f.T0 != nil {
		line("t0", "%s", f.T0.Format(time.RFC3339Nano))
	}
	fmt.Fprintf(b, "\n%-14s%8s%8s%8s%8s%8s%8s%8s%8s\n", "tokens", "min", "p50", "p90", "p99", "max", "mean", "zero", "unknown")
	lengthsText(b, "prompt", f.PromptTokens)
	lengthsText(b, "output", f.OutputTokens)
	fmt.Fprintln(b)
	line("apps", "%s", namesText(f.Apps))
	line("models", "%s", namesText(f.Models))
	line("streams", "%s", f.streamsText())
	line("sessions", "%s", f.sessionsText())
	line("blocks", "%s", f.blocksText())
	if f.Blocks.Rows > 0 {
		line("reuse", "%s", wrapped(f.Reuse.text()))
	}
	if f.Tokenizer != "" || f.Vantage != "" {
		line("measured", "tokens by %s, latencies at %s", orUnknown(f.Tokenizer), orUnknown(f.Vantage))
	}
	for _, s := range f.Sources[:min(len(f.Sources), maxNames)] {
		line("source", "%s", wrapped(sourceText(s)))
	}
	listText(line, "note", f.Notes)
	listText(line, "edit", f.Edits)
	if f.Bodies > 0 {
		line("BODIES", "in %d rows: users' text, to be guarded as the log is", f.Bodies)
	}
	if f.Partial {
		line("PARTIAL", "the trace says that it is unfinished")
	}
	findingsText(b, f.Findings)
	return b.Flush()
}

func findingsText(w io.Writer, findings []Finding) {
	if len(findings) == 0 {
		fmt.Fprintf(w, "\nfindings none of %d checks\n", len(Checks))
	}
	for _, f := range findings {
		fmt.Fprintf(w, "\nfinding  %s\n  means  %s\n  cure   %s\n", wrapped(f.Check+": "+f.Detail), wrapped(f.Means), wrapped(f.Cure))
	}
}

// wrapped breaks text between words for 80 columns, behind a label of 9.
func wrapped(text string) string {
	const width = 80 - 9
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && used+1+n > width:
			b.WriteString("\n         ")
			used = 0
		case i > 0:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

func lengthsText(w io.Writer, label string, l Lengths) {
	fmt.Fprintf(w, "%-14s%8s%8s%8s%8s%8s%8s%8d%8d\n", label, whole(l.Min), whole(l.P50), whole(l.P90), whole(l.P99), whole(l.Max), whole(l.Mean), l.Zero, l.Unknown)
}

func statusText(statuses []Count) string {
	if len(statuses) == 1 && statuses[0].Name == "unknown" {
		return ", no outcomes"
	}
	var b strings.Builder
	for i, s := range statuses {
		b.WriteString([]string{" = ", " + "}[min(i, 1)])
		fmt.Fprintf(&b, "%s %d", s.Name, s.Rows)
	}
	return b.String()
}

func sortedText(sorted bool) string {
	if sorted {
		return "sorted"
	}
	return "NOT sorted"
}

func resolutionText(d time.Duration) string {
	if d == 0 {
		return "n/a"
	}
	return d.String()
}

func namesText(names []Count) string {
	var parts []string
	for _, c := range names[:min(len(names), maxNames)] {
		parts = append(parts, fmt.Sprintf("%s %d", nameText(c.Name), c.Rows))
	}
	if more := len(names) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

func nameText(name string) string {
	if name == "" {
		return "unknown"
	}
	return printable(name)
}

// nameWidth cuts names that would fill the screen.
const nameWidth = 40

// clean drops what is not to be seen (control, format and bidirectional
// characters), because names come from files that others wrote.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
}

func printable(s string) string { return shortened(clean(s), nameWidth) }

func shortened(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}

// listText writes some of a list of sentences, each cut before it fills the screen.
func listText(line func(string, string, ...any), label string, list []string) {
	const width = 280
	for _, s := range list[:min(len(list), maxNames)] {
		line(label, "%s", wrapped(shortened(clean(s), width)))
	}
}

func (f *Facts) streamsText() string {
	if f.Streams.Known == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%d of %d rows that say so", f.Streams.Streamed, f.Streams.Known)
}

func (f *Facts) sessionsText() string {
	s := f.Sessions
	if s.N == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%d, in %d rows; turns a session p50 %s p90 %s max %s", s.N, s.Rows, whole(s.TurnsP50), whole(s.TurnsP90), whole(s.TurnsMax))
}

func (f *Facts) blocksText() string {
	b := f.Blocks
	if b.Rows == 0 {
		return "unknown"
	}
	size := "of unknown size"
	if f.BlockTokens > 0 {
		size = fmt.Sprintf("of %d tokens", f.BlockTokens)
	}
	return fmt.Sprintf("%d runs of %d ids, %s, in %d rows", b.Runs, b.IDs, size, b.Rows)
}

// idcText leaves out the windows of which the span has too few.
func idcText(ds []Dispersion) string {
	var parts []string
	for _, d := range ds {
		if d.IDC != nil {
			parts = append(parts, fmt.Sprintf("%gs %.3g", d.Window.Seconds(), *d.IDC))
		}
	}
	if len(parts) == 0 {
		return "n/a"
	}
	return strings.Join(parts, ", ") + " (variance over mean of the count in a window; 1 = Poisson)"
}

// maxCaches are the largest caches in the text, where the curve bends.
const maxCaches = 4

func (r Reuse) text() string {
	if r.Unique == nil {
		return "n/a: " + cmp.Or(clean(r.Why), "no block ids")
	}
	text := fmt.Sprintf("%d different blocks; hit rate %.3f if none is evicted", *r.Unique, *r.Infinite)
	for _, c := range r.LRU[max(0, len(r.LRU)-maxCaches):] {
		text += fmt.Sprintf(", %.3f with %d", c.HitRate, c.Blocks)
	}
	if r.Why != "" {
		text += "; LRU n/a: " + clean(r.Why)
	}
	return text
}

func sourceText(s traces.Source) string {
	text := fmt.Sprintf("%s: %d rows read = %d emitted + %d merged + %d rejected", printable(s.Name), s.Read, s.Emitted, s.Merged, s.RejectedRows())
	for i, reason := range slices.Sorted(maps.Keys(s.Rejected)) {
		text += fmt.Sprintf("%s%s %d", []string{": ", ", "}[min(i, 1)], printable(reason), s.Rejected[reason])
	}
	if s.TimeUnit != "" {
		text += ", times in " + printable(s.TimeUnit)
	}
	if s.Stamps != "" {
		text += ", stamped at the " + printable(s.Stamps)
	}
	return text
}

func orUnknown(s string) string { return cmp.Or(printable(s), "n/a") }

// number gives four significant digits.
func number(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}

// whole rounds to a token, halves up: Printf alone rounds halves to even.
func whole(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return strconv.FormatInt(int64(*v+.5), 10)
}
