package fidelity

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// WriteText writes the report for people, on about a screen of 80 columns: of each
// curve its worst point, of each app its worst figure. The JSON has all.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "A         %s\nB         %s\n", wrapped(r.A.text()), wrapped(r.B.text()))
	fmt.Fprintf(b, "GRADE     %s\n", wrapped(r.gradeText()))
	fmt.Fprintf(b, "compared  %s\n", wrapped("what is asked for and when, and not what came of it; noise is "+r.noiseText()))
	for _, note := range r.Notes {
		fmt.Fprintf(b, "note      %s\n", wrapped(printable(note, 200)))
	}
	if e := r.Engine; e != nil {
		fmt.Fprintf(b, "engine    %s\n", wrapped(e.text()))
	}
	for _, g := range r.Groups {
		fmt.Fprintf(b, "\n%-30s%8s%8s%8s%11s  %s\n", strings.ToUpper(g.Name), "A", "B", "apart", "noise", verdictText(g.Verdict))
		for _, f := range g.worst() {
			fmt.Fprintln(b, strings.TrimRight(f.line(), " "))
		}
	}
	return b.Flush()
}

func (f Facts) text() string {
	s := fmt.Sprintf("%s: %d requests in %v, %s/s", fileName(f.Name), f.Requests, rounded(f.Span), number(f.Rate))
	if f.Seeds > 0 {
		s += fmt.Sprintf(" (%d of a profile)", f.Seeds)
	}
	return s
}

func (r *Report) gradeText() string {
	var worst []string
	for _, g := range r.Groups {
		if g.Verdict == r.Grade && r.Grade > WithinNoise {
			worst = append(worst, g.Name)
		}
	}
	if len(worst) == 0 {
		return "within noise: nothing is further apart than A is from itself"
	}
	return r.Grade.String() + ": " + strings.Join(worst, ", ")
}

func (r *Report) noiseText() string {
	return fmt.Sprintf("A against A, of which blocks of %v were drawn %d times", rounded(r.Method.Block), r.Method.Resamples)
}

func (e *Engine) text() string {
	var speeds []string
	for _, p := range e.Loads {
		speeds = append(speeds, fmt.Sprintf("%gx", number3(p.Speed)))
	}
	return fmt.Sprintf("%s, simulated, does %s/s of A's requests; both are played %s as fast", printable(e.Model, 30), number(e.Capacity.Rate), strings.Join(speeds, ", "))
}

// worst picks the figures of the text.
func (g *Group) worst() (fs []Figure) {
	of := map[string]int{}
	for _, f := range g.Figures {
		key := f.App + "\x00"
		if f.App == "" {
			key += f.Name
		}
		i, seen := of[key]
		switch {
		case !seen:
			of[key] = len(fs)
			fs = append(fs, f)
		case f.worse(fs[i]):
			fs[i] = f
		}
	}
	return fs
}

func (f Figure) worse(than Figure) bool {
	return cmp.Or(cmp.Compare(f.Verdict, than.Verdict), cmp.Compare(f.badness, than.badness)) > 0
}

func (f Figure) line() string {
	name := f.Name
	if f.App != "" {
		name = printable(f.App, 20-2-len(name)) + ": " + name
	}
	return fmt.Sprintf("%-21s%-9s%8s%8s%8s%11s  %s", name, f.At, valueText(f.A), valueText(f.B), f.apartText(f.Diff), f.noise(), verdictText(f.Verdict))
}

func (f Figure) apartText(v float64) string {
	if f.Kind == Ratio {
		return "x" + strconv.FormatFloat(number3(v), 'g', -1, 64)
	}
	return number(v)
}

// noise is the floor or, end to end, the band of the ratio.
func (f Figure) noise() string {
	if f.Band != nil && *f.A > 0 {
		return fmt.Sprintf("x%g-%g", number2(f.Band.Lo / *f.A), number2(f.Band.Hi / *f.A))
	}
	if f.Floor == nil {
		return ""
	}
	return f.apartText(*f.Floor)
}

func verdictText(v Verdict) string {
	return []string{"within noise", "small", "LARGE"}[v]
}

func valueText(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

// number gives three significant digits, and no fraction above a hundred.
func number(v float64) string {
	if a := math.Abs(v); a >= 100 && a < 1e7 {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	if math.Abs(v) < 1 {
		return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'g', -1, 64)
	}
	return strconv.FormatFloat(number3(v), 'g', -1, 64)
}

func number3(v float64) float64 { return significant(v, 3) }

func number2(v float64) float64 { return significant(v, 2) }

func significant(v float64, digits int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

// wrapped breaks text between words for 80 columns, behind a label of 10.
func wrapped(text string) string {
	const label = 10
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && label+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 80 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n"+strings.Repeat(" ", label))
}

// fileName keeps the end of a path, which tells more than its beginning.
func fileName(path string) string {
	const width = 30
	r := []rune(printable(path, math.MaxInt))
	if len(r) > width {
		return "…" + string(r[len(r)-width+1:])
	}
	return string(r)
}

func rounded(d time.Duration) time.Duration {
	if d > time.Minute {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

// printable drops what is not to be seen, for names come from files that others
// wrote, and cuts the rest.
func printable(s string, width int) string {
	r := slices.DeleteFunc([]rune(s), func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
	if len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return string(r)
}
