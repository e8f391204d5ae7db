package report

import (
	"fmt"
	"math"
	"strings"
	"unicode"
)

// columns is the width of everything that is printed.
const columns = 80

// printable drops what is not to be seen (control, format and bidirectional
// characters), because names come from files that others wrote, and cuts the
// rest to a number of terminal columns.
func printable(s string, width int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
	if textWidth(s) <= width {
		return s
	}
	used := 1
	for i, r := range s {
		if used += runeWidth(r); used > width {
			return s[:i] + "…"
		}
	}
	return s
}

// wide are the scripts whose characters take two terminal columns.
var wide = []*unicode.RangeTable{unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, wide...), 0x3000 <= r && r <= 0x303f, 0xff01 <= r && r <= 0xff60, 0x1f300 <= r && r <= 0x1faff:
		return 2
	}
	return 1
}

func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// pad fills s with spaces up to a number of terminal columns.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-textWidth(s)))
}

// labelWidth is that of the names at the left edge.
const labelWidth = 9

// labelled writes text behind a label, broken between words, in at most
// maxLines lines of the width of a terminal.
func labelled(label, text string, maxLines int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && labelWidth+textWidth(line)+1+textWidth(word) > columns {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	lines = append(lines, line)
	if len(lines) > maxLines {
		lines = append(lines[:maxLines-1], strings.Join(lines[maxLines-1:], " "))
	}
	for i, l := range lines {
		lines[i] = pad([]string{label, ""}[min(i, 1)], labelWidth) + printable(l, columns-labelWidth)
	}
	return lines
}

// sig gives three significant digits, or what three decimals hold, in at most
// five characters below a hundred thousand.
func sig(n Num) string {
	v := float64(n)
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "n/a"
	case a == 0:
		return "0"
	case a < .9995:
		return fmt.Sprintf("%.3f", v)
	case a < 9.995:
		return fmt.Sprintf("%.2f", v)
	case a < 99.95:
		return fmt.Sprintf("%.1f", v)
	case a < 99_999.5:
		return fmt.Sprintf("%.0f", v)
	}
	return strings.Replace(fmt.Sprintf("%.1e", v), "e+0", "e", 1)
}

// whole gives a number of tokens, halves rounded up.
func whole(n Num) string {
	if n < 1e7 {
		return fmt.Sprintf("%.0f", math.Floor(float64(n)+.5))
	}
	return big(n)
}

// big gives whole numbers below 10,000, and one decimal with k, M, G or T above.
func big(n Num) string {
	v := float64(n)
	if math.IsNaN(v) {
		return "n/a"
	}
	if v < 9_999.5 {
		return fmt.Sprintf("%.0f", v)
	}
	for _, unit := range []string{"k", "M", "G"} {
		if v /= 1000; v < 999.95 {
			return fmt.Sprintf("%.1f%s", v, unit)
		}
	}
	return fmt.Sprintf("%.1fT", v/1000)
}

func percent(part, whole int64) string {
	if whole == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
