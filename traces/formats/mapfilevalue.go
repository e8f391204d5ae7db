package formats

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"wavetank/traces/jsonscan"
)

// nanoseconds reads a date, or a number of the term's unit.
func (t *term) nanoseconds(row *mapRow, text []byte) (ns int64, isDate bool, err error) {
	if n, ok := digits(text); ok && t.unit > 0 && n <= math.MaxInt64/t.unit-1 {
		return n * t.unit, false, nil
	}
	number := plainDecimal(text)
	if !isDecimal(number) {
		ns, err = row.in.clock.parse(text)
		return ns, true, err
	}
	if t.unit == 0 {
		return 0, false, rejectf(BadTime, "%q has no unit: map it as %s:ms, or :s, :us, :ns", clip(text), t.name)
	}
	ns, err = parseDecimal(number, t.unit)
	return ns, false, err
}

// text returns the one value of a term, or nil if it is unknown.
func (t *term) text(row *mapRow, c *Column) ([]byte, error) {
	texts, err := t.texts(row, c)
	if len(texts) == 0 {
		return nil, err
	}
	return texts[0], err
}

// texts returns the values of a term as text, nil for those that are unknown. They
// are valid until the next call.
func (t *term) texts(row *mapRow, c *Column) ([][]byte, error) {
	row.text = row.text[:0]
	if t.constant {
		return append(row.text, []byte(t.name)), nil
	}
	found := row.find(t)
	if len(found) > 0 {
		t.see()
	}
	for _, n := range found {
		text, err := n.scalar(c)
		if err != nil {
			return nil, inField(t.name, err)
		}
		if text != nil {
			text = t.translate(text)
		}
		row.text = append(row.text, text)
	}
	return row.text, nil
}

// translate looks a word up in the term's table.
func (t *term) translate(text []byte) []byte {
	if t.table == nil {
		return text
	}
	for _, w := range t.table {
		if !w.matches(string(text)) {
			continue
		}
		switch w.to {
		case unknownWord:
			return nil
		case sameWord:
			return text
		}
		return []byte(w.to)
	}
	return nil
}

func (w *word) matches(s string) bool {
	switch {
	case w.head && w.tail:
		return strings.Contains(s, w.from)
	case w.head:
		return strings.HasSuffix(s, w.from)
	case w.tail:
		return strings.HasPrefix(s, w.from)
	}
	return s == w.from
}

// isWord tells whether b is a JSON number, true, false or null.
func isWord(b []byte) bool {
	switch jsonscan.Of(b).Kind {
	case jsonscan.Null, jsonscan.Bool, jsonscan.Number:
		return true
	}
	return false
}

// plainDecimal writes out a number with an exponent, which is how Python and Lua
// print small ones; anything else it returns as it is.
func plainDecimal(b []byte) []byte {
	i := bytes.IndexAny(b, "eE")
	if i < 0 || !isWord(b) || b[0] == '-' {
		return b
	}
	exponent, ok := digits(bytes.TrimLeft(b[i+1:], "+-"))
	const most = 30
	if !ok || exponent > most {
		return b
	}
	whole, fraction, _ := bytes.Cut(b[:i], []byte("."))
	all := slices.Concat(whole, fraction)
	point := len(whole) + int(exponent)
	if b[i+1] == '-' {
		point = len(whole) - int(exponent)
	}
	zeros := bytes.Repeat([]byte("0"), most+len(all))
	switch {
	case point <= 0:
		return slices.Concat([]byte("0."), zeros[:-point], all)
	case point >= len(all):
		return slices.Concat(all, zeros[:point-len(all)])
	}
	return slices.Concat(all[:point], []byte("."), all[point:])
}
