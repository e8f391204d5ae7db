package formats

import (
	"bytes"
	"encoding/json"
	"slices"
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

// skip steps over a value of any kind that is valid JSON.
func (s *scanner) skip() bool {
	start := s.i
	switch {
	case s.at('"'):
		escaped, ok := s.skipString()
		return ok && (!escaped || json.Valid(s.b[start:s.i]))
	case s.at('{'), s.at('['):
		return s.skipNested() && json.Valid(s.b[start:s.i])
	}
	return isWord(s.word())
}

// skipString steps over a string; escapes in it are not checked.
func (s *scanner) skipString() (escaped, ok bool) {
	for s.i++; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return escaped, true
		case c == '\\':
			escaped = true
			s.i++
		case c < ' ':
			return escaped, false
		}
	}
	s.i = len(s.b)
	return escaped, false
}

// skipNested steps to the end of an object or a list by counting brackets only.
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
