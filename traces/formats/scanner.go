package formats

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// A scanner walks over JSON of the plainest kind.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) skipSpace() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t') {
		s.i++
	}
}

// take steps over c, and the space before it, if c is next.
func (s *scanner) take(c byte) bool {
	if !s.at(c) {
		return false
	}
	s.i++
	return true
}

// at tells whether c is next, after any space.
func (s *scanner) at(c byte) bool {
	s.skipSpace()
	return s.i < len(s.b) && s.b[s.i] == c
}

// number returns digits without a leading zero.
func (s *scanner) number() ([]byte, bool) {
	s.skipSpace()
	start := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	n := s.b[start:s.i]
	return n, len(n) == 1 || len(n) > 1 && n[0] != '0'
}

// text returns a string of ASCII without escapes.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	end := bytes.IndexByte(s.b[s.i:], '"')
	if end < 0 {
		return nil, false
	}
	text := s.b[s.i : s.i+end]
	s.i += end + 1
	plain := !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c == '\\' || c > '~' })
	return text, plain
}

// scalar returns the text of a string, a number or a boolean, and nil for null.
// It takes neither objects and lists nor what needs rewriting.
func (s *scanner) scalar() ([]byte, bool) {
	if s.at('"') {
		start := s.i
		escaped, ok := s.skipString()
		text := s.b[start:s.i]
		if !ok || escaped || !utf8.Valid(text) {
			return nil, false
		}
		return text[1 : len(text)-1], true
	}
	word := s.word()
	if string(word) == "null" {
		return nil, true
	}
	return word, isWord(word)
}

// skip steps over a value of any kind that is valid JSON, and not too deep.
func (s *scanner) skip() bool { return s.skipValue(0) }

func (s *scanner) skipValue(depth int) bool {
	switch {
	case s.at('"'):
		_, ok := s.skipString()
		return ok
	case s.at('{'):
		return s.skipItems('}', depth)
	case s.at('['):
		return s.skipItems(']', depth)
	}
	return isWord(s.word())
}

// skipItems steps over an object or a list.
func (s *scanner) skipItems(end byte, depth int) bool {
	s.i++
	if s.take(end) {
		return true
	}
	const deep = 64
	for depth < deep {
		if end == '}' && !s.skipKey() || !s.skipValue(depth+1) {
			return false
		}
		if s.take(end) {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
	return false
}

func (s *scanner) skipKey() bool {
	if !s.at('"') {
		return false
	}
	_, ok := s.skipString()
	return ok && s.take(':')
}

// skipString steps over a string.
func (s *scanner) skipString() (escaped, ok bool) {
	for s.i++; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return escaped, true
		case c == '\\':
			escaped = true
			n := escape(s.b[s.i+1:])
			if n == 0 {
				return true, false
			}
			s.i += n
		case c < ' ':
			return escaped, false
		}
	}
	return escaped, false
}

// escape returns the length of what follows a backslash in JSON, or 0.
func escape(b []byte) int {
	if len(b) > 0 && strings.IndexByte(`"\/bfnrt`, b[0]) >= 0 {
		return 1
	}
	if len(b) < 5 || b[0] != 'u' || len(bytes.TrimLeft(b[1:5], "0123456789abcdefABCDEF")) > 0 {
		return 0
	}
	return 5
}

// skipNested steps to the end of an object or a list that is known to be valid.
func (s *scanner) skipNested() bool {
	for depth := 0; s.i < len(s.b); {
		switch s.b[s.i] {
		case '"':
			if _, ok := s.skipString(); !ok {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.i++
		if depth == 0 {
			return true
		}
	}
	return false
}

// word returns all up to the next comma, bracket or space.
func (s *scanner) word() []byte {
	s.skipSpace()
	start := s.i
	for ; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case ',', ']', '}', ' ', '\t':
			return s.b[start:s.i]
		}
	}
	return s.b[start:]
}

// isWord tells whether b is a JSON number, true, false or null.
func isWord(b []byte) bool {
	switch string(b) {
	case "true", "false", "null":
		return true
	}
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	whole := countDigits(b)
	if whole == 0 || whole > 1 && b[0] == '0' {
		return false
	}
	b = b[whole:]
	if len(b) > 0 && b[0] == '.' {
		n := countDigits(b[1:])
		if n == 0 {
			return false
		}
		b = b[1+n:]
	}
	if len(b) == 0 {
		return true
	}
	if b[0] != 'e' && b[0] != 'E' {
		return false
	}
	if b = b[1:]; len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		b = b[1:]
	}
	return len(b) > 0 && countDigits(b) == len(b)
}

func countDigits(b []byte) (n int) {
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return n
}
