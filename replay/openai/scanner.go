package openai

import (
	"bytes"
	"unicode/utf8"

	"wavetank/traces"
)

// A scanner walks over JSON. Once it is unsure its answers mean nothing.
type scanner struct {
	data   []byte
	at     int
	depth  int
	first  bool // of the innermost list or object nothing has come yet
	unsure bool
}

const maxDepth = 64

// fields are the known fields of an object that have come.
type fields uint8

// once notes a known field. What it means twice is for encoding/json to say.
func (s *scanner) once(seen *fields, n int) {
	if *seen&(1<<n) != 0 {
		s.unsure = true
	}
	*seen |= 1 << n
}

// peek goes to the next byte that is not white space and returns it, or 0 where
// there is none or the scanner is unsure.
func (s *scanner) peek() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\n', '\t', '\r':
		default:
			if s.unsure {
				return 0
			}
			return c
		}
	}
	return 0
}

// take takes c, and reports whether it was there.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) want(c byte) {
	if !s.take(c) {
		s.unsure = true
	}
}

// ended reports whether nothing is left and all was as expected.
func (s *scanner) ended() bool {
	s.peek()
	return !s.unsure && s.at == len(s.data)
}

// open enters an array or an object.
func (s *scanner) open(c byte) {
	s.want(c)
	s.first = true
	if s.depth++; s.depth > maxDepth {
		s.unsure = true
	}
}

// more reports whether another element comes, and otherwise leaves the array or
// object.
func (s *scanner) more(end byte) bool {
	if s.take(end) {
		s.depth--
		s.first = false
		return false
	}
	if !s.first {
		s.want(',')
	}
	s.first = false
	return !s.unsure
}

// key takes a key and the colon. One that encoding/json might fold into a known
// one is unusual.
func (s *scanner) key() []byte {
	s.want('"')
	for i := s.at; i < len(s.data); i++ {
		c := s.data[i]
		if c == '"' {
			key := s.data[s.at:i]
			s.at = i + 1
			s.want(':')
			return key
		}
		if c < ' ' || c >= 0x80 || c == '\\' || c >= 'A' && c <= 'Z' {
			break
		}
	}
	s.unsure = true
	return nil
}

// orNull reports whether what comes begins with c, and otherwise takes null.
func (s *scanner) orNull(c byte) bool {
	if s.peek() == c {
		return true
	}
	s.literal("null")
	return false
}

func (s *scanner) literal(word string) {
	s.peek()
	if !bytes.HasPrefix(s.data[s.at:], []byte(word)) {
		s.unsure = true
		return
	}
	s.at += len(word)
}

// nonEmpty takes a string or null and sets *is when it is a string that is not "".
func (s *scanner) nonEmpty(is *bool) {
	if s.orNull('"') && len(s.str()) > 0 {
		*is = true
	}
}

// text takes a string without escapes and returns it. What is not UTF-8 is for
// encoding/json to replace.
func (s *scanner) text() []byte {
	text := s.str()
	if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
		s.unsure = true
	}
	return text
}

// str takes a string and returns it as it is written. It is unsure of what is not
// a string, among it the escapes that JSON does not have.
func (s *scanner) str() []byte {
	s.want('"')
	for i := s.at; i < len(s.data) && !s.unsure; i++ {
		switch c := s.data[i]; {
		case c == '"':
			text := s.data[s.at:i]
			s.at = i + 1
			return text
		case c == '\\':
			i += s.escape(s.data[i+1:])
		case c < ' ':
			s.unsure = true
		}
	}
	s.unsure = true
	return nil
}

// escape returns the length of the escape that b begins with.
func (s *scanner) escape(b []byte) int {
	if len(b) > 0 && bytes.IndexByte([]byte(`"\/bfnrt`), b[0]) >= 0 {
		return 1
	}
	if len(b) < 5 || b[0] != 'u' || len(bytes.TrimLeft(b[1:5], "0123456789abcdefABCDEF")) > 0 {
		s.unsure = true
	}
	return 5
}

// number takes an integer of up to nine digits, or null, which is unknown.
func (s *scanner) number() (n traces.Opt[int32]) {
	if s.peek() == 'n' {
		s.literal("null")
		return n
	}
	digits := s.digits()
	if len(digits) == 0 || len(digits) > 9 || digits[0] == '0' && len(digits) > 1 || s.next(".eE") {
		s.unsure = true
		return n
	}
	n.Known = true
	for _, d := range digits {
		n.V = 10*n.V + int32(d-'0')
	}
	return n
}

func (s *scanner) digits() []byte {
	i := s.at
	for i < len(s.data) && s.data[i] >= '0' && s.data[i] <= '9' {
		i++
	}
	digits := s.data[s.at:i]
	s.at = i
	return digits
}

// skip takes any value.
func (s *scanner) skip() {
	switch s.peek() {
	case '{':
		for s.open('{'); s.more('}'); {
			s.key()
			s.skip()
		}
	case '[':
		for s.open('['); s.more(']'); {
			s.skip()
		}
	case '"':
		s.str()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.skipNumber()
	}
}

func (s *scanner) skipNumber() {
	s.next("-")
	if d := s.digits(); len(d) == 0 || d[0] == '0' && len(d) > 1 {
		s.unsure = true
	}
	if s.next(".") && len(s.digits()) == 0 {
		s.unsure = true
	}
	if s.next("eE") {
		s.next("+-")
		if len(s.digits()) == 0 {
			s.unsure = true
		}
	}
}

// next takes the next byte if it is one of set.
func (s *scanner) next(set string) bool {
	if s.at == len(s.data) || bytes.IndexByte([]byte(set), s.data[s.at]) < 0 {
		return false
	}
	s.at++
	return true
}
