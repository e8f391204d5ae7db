package formats

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// A choice is a sum of terms, if there is nothing else that it depends on.
type choice struct {
	addends
	when *term // must be known and not false; nil: always
	not  *term // and other than this; nil: nothing
}

type addends []term

// A term is a field, or a constant.
type term struct {
	name     string // of the field, as it was written; or the constant
	minus    bool
	constant bool
	optional bool  // 0 where it is unknown
	unit     int64 // of a time, in nanoseconds; 0: not told
	path     []step
	slot     int // of what path begins with, in the finder of the log
	table    []word

	seen    *atomic.Bool // some row had it
	arrival *arrivals    // of the term that is the arrival
}

// A step goes down a path.
type step struct {
	how   how
	key   string
	index int // from the end if it is negative
}

type how int

const (
	byKey    how = iota // a dotted path; keys may hold dots themselves
	byPrefix            // all keys that begin so
	byIndex
	byAll // all of a list
)

// A word is a row of a table of words. A * at either end stands for anything.
type word struct {
	from, to   string
	head, tail bool // begins, ends with *
}

const (
	unknownWord = "-"
	sameWord    = "*"
)

// sums tells whether the term itself is a sum.
func (t *term) sums() bool {
	if len(t.path) == 0 {
		return false
	}
	last := t.path[len(t.path)-1].how
	return last == byPrefix || last == byAll
}

// parseChoices takes A + B if C | D apart. A sign needs blanks around it, for
// names like x-request-id are common.
func parseChoices(s string) (choices []choice, err error) {
	for _, part := range split(s, "|") {
		what, when := cutTop(part, " if ")
		var c choice
		if when != "" {
			if err := c.setWhen(when); err != nil {
				return nil, err
			}
		}
		if c.addends, err = parseSum(what); err != nil {
			return nil, err
		}
		choices = append(choices, c)
	}
	return choices, nil
}

func (c *choice) setWhen(s string) error {
	left, right := cutTop(s, " != ")
	when, err := parseTerm(left)
	if c.when = &when; err != nil || right == "" {
		return err
	}
	not, err := parseTerm(right)
	c.not = &not
	return err
}

func parseSum(s string) (list addends, err error) {
	for minus := false; ; {
		at, plain := 0, mask(s)
		if at = strings.Index(plain, " + "); at < 0 {
			at = len(s)
		}
		if dash := strings.Index(plain, " - "); dash >= 0 {
			at = min(at, dash)
		}
		t, err := parseTerm(s[:at])
		if err != nil {
			return nil, err
		}
		t.minus = minus
		list = append(list, t)
		if at == len(s) {
			return list, nil
		}
		minus = s[at+1] == '-'
		s = s[at+len(" + "):]
	}
}

// mask is s with all that stands in quotes or braces made unrecognizable.
func mask(s string) string {
	b, quoted, nested := []byte(s), false, false
	for i, c := range b {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
			b[i] = '_'
		case c == '{' || c == '}':
			nested = c == '{'
		case nested:
			b[i] = '_'
		}
	}
	return string(b)
}

// split cuts s at every sep that is not in quotes or braces.
func split(s, sep string) (parts []string) {
	plain := mask(s)
	for {
		i := strings.Index(plain, sep)
		if i < 0 {
			return append(parts, s)
		}
		parts = append(parts, s[:i])
		s, plain = s[i+len(sep):], plain[i+len(sep):]
	}
}

// cutTop cuts s at the first sep that is not in quotes or braces.
func cutTop(s, sep string) (before, after string) {
	if i := strings.Index(mask(s), sep); i >= 0 {
		return s[:i], s[i+len(sep):]
	}
	return s, ""
}

func parseTerm(s string) (t term, err error) {
	t.seen = new(atomic.Bool)
	if s = strings.TrimSpace(s); s == "" {
		return t, errors.New("a field is missing")
	}
	if s[0] == '"' {
		if len(s) < 2 || s[len(s)-1] != '"' {
			return t, fmt.Errorf("%s: a quote is never closed", s)
		}
		t.constant, t.name = true, s[1:len(s)-1]
		return t, nil
	}
	if open := strings.IndexByte(s, '{'); open >= 0 && s[len(s)-1] == '}' {
		if t.table, err = parseTable(s[open+1 : len(s)-1]); err != nil {
			return t, err
		}
		s = s[:open]
	}
	s, t.optional = strings.CutSuffix(s, "?")
	if i := strings.LastIndexByte(s, ':'); i > 0 && unitNamed(s[i+1:]) > 0 {
		s, t.unit = s[:i], unitNamed(s[i+1:])
	}
	t.name = s
	t.path, err = parsePath(s)
	return t, err
}

func parseTable(s string) ([]word, error) {
	var table []word
	for entry := range strings.SplitSeq(s, ",") {
		i := strings.LastIndexByte(entry, ':')
		if i < 0 {
			return nil, fmt.Errorf("{%s}: %q must be WORD:WORD", s, strings.TrimSpace(entry))
		}
		w := word{from: strings.TrimSpace(entry[:i]), to: strings.TrimSpace(entry[i+1:])}
		w.from, w.tail = strings.CutSuffix(w.from, "*")
		w.from, w.head = strings.CutPrefix(w.from, "*")
		if w.to == "" || w.from == "" && !w.tail {
			return nil, fmt.Errorf("{%s}: %q lacks a word", s, strings.TrimSpace(entry))
		}
		table = append(table, w)
	}
	return table, nil
}

// parsePath takes a.b[0].c apart.
func parsePath(s string) (path []step, err error) {
	for rest := s; rest != ""; {
		key, after, indexed := strings.Cut(rest, "[")
		if key = strings.TrimPrefix(key, "."); key != "" {
			path = append(path, step{how: byKey, key: key})
		}
		if !indexed {
			break
		}
		inside, tail, closed := strings.Cut(after, "]")
		i, err := strconv.Atoi(inside)
		switch {
		case closed && inside == "*":
			path = append(path, step{how: byAll})
		case closed && err == nil:
			path = append(path, step{how: byIndex, index: i})
		default:
			return nil, fmt.Errorf("%q: must be NAME[0], NAME[-1] or NAME[*]", s)
		}
		rest = tail
	}
	if len(path) == 0 {
		return nil, fmt.Errorf("%q: a field is missing", s)
	}
	if last := path[len(path)-1]; strings.HasSuffix(last.key, "*") {
		path = append(path[:len(path)-1], prefixPath(last.key[:len(last.key)-1])...)
	}
	for _, step := range path[:len(path)-1] {
		if step.how == byAll || step.how == byPrefix {
			return nil, fmt.Errorf("%q: a sum must be the end of its path", s)
		}
	}
	return path, nil
}

// prefixPath is of the keys, in whatever object, that begin with the last part of s.
func prefixPath(s string) []step {
	if i := strings.LastIndexByte(s, '.'); i > 0 {
		return []step{{how: byKey, key: s[:i]}, {how: byPrefix, key: s[i+1:]}}
	}
	return []step{{how: byPrefix, key: s}}
}
