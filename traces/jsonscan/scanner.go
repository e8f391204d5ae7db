// Package jsonscan finds wanted values of a JSON object in place, and leaves to
// encoding/json whatever it is not sure of.
package jsonscan

import "math"

// A Scanner walks over JSON text in place. Once it is unsure it stays so, finds
// nothing more, and what it has said means nothing: the text is then encoding/json's
// to judge. It is unsure of
//
//   - what is no JSON to encoding/json, for its nesting if nothing else;
//   - keys that Once is told of and that come twice in an object;
//   - values of another kind than was asked for.
//
// It allocates for strings with escapes only, and only where their text is asked for.
type Scanner struct {
	text   []byte
	at     int
	depth  int
	first  bool // of the innermost object or list nothing has come yet
	unsure bool
}

// maxDepth is that of encoding/json: what it takes for JSON is JSON here, too.
const maxDepth = 10_000

// New returns a Scanner of text, which its answers alias.
func New(text []byte) Scanner { return Scanner{text: text} }

// Valid tells whether text is one JSON value and nothing else, as json.Valid does.
func Valid(text []byte) bool {
	s := New(text)
	s.Value()
	return s.End()
}

// Fail makes the Scanner unsure.
func (s *Scanner) Fail() {
	s.unsure = true
	s.at = len(s.text)
}

// End reports whether nothing is left and all was as expected.
func (s *Scanner) End() bool {
	s.Peek()
	return !s.unsure && s.at == len(s.text)
}

// Peek goes to the next byte that is not white space and returns it, or 0 where
// there is none.
func (s *Scanner) Peek() byte {
	if s.at < len(s.text) && s.text[s.at] > ' ' {
		return s.text[s.at]
	}
	return s.pastSpace()
}

func (s *Scanner) pastSpace() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

func (s *Scanner) want(c byte) {
	if s.Peek() != c {
		s.Fail()
		return
	}
	s.at++
}

// Open enters an object or a list, as c says: '{' or '['.
func (s *Scanner) Open(c byte) {
	s.want(c)
	s.first = true
	if s.depth++; s.depth > maxDepth {
		s.Fail()
	}
}

// More reports whether another element comes, and otherwise leaves the object or
// list that end ends: '}' or ']'.
func (s *Scanner) More(end byte) bool {
	switch s.Peek() {
	case end:
		s.at++
		s.depth--
		s.first = false
		return false
	case ',':
		s.at++
		if s.first {
			s.Fail()
		}
	default:
		if !s.first {
			s.Fail()
		}
	}
	s.first = false
	return !s.unsure
}

// Key takes a key and the colon behind it.
func (s *Scanner) Key() []byte { return s.key().Text() }

func (s *Scanner) key() Value {
	key := s.string()
	s.want(':')
	return key
}

func (s *Scanner) string() Value {
	v := s.Value()
	if v.Kind != Plain && v.Kind != Escaped {
		s.Fail()
	}
	return v
}

// passText steps over text if it is what comes next.
func (s *Scanner) passText(text string) bool {
	s.Peek()
	end := s.at + len(text)
	if end > len(s.text) || string(s.text[s.at:end]) != text {
		return false
	}
	s.at = end
	return true
}

// Null takes null, and reports whether it was there.
func (s *Scanner) Null() bool {
	if s.Peek() != 'n' {
		return false
	}
	s.word("null")
	return !s.unsure
}

// Text takes a string.
func (s *Scanner) Text() []byte { return s.string().Text() }

// Number takes a number, as it stands.
func (s *Scanner) Number() []byte {
	v := s.Value()
	if v.Kind != Number {
		s.Fail()
	}
	return v.Raw
}

// Uint takes a whole number of 64 bits that is written in digits alone.
func (s *Scanner) Uint() (n uint64) {
	c := s.Peek()
	text, i := s.text, s.at
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		d := uint64(text[i] - '0')
		if n > math.MaxUint64/10 || 10*n > math.MaxUint64-d {
			s.Fail()
			return 0
		}
		n = 10*n + d
	}
	if i == s.at || i > s.at+1 && c == '0' {
		s.Fail()
		return 0
	}
	s.at = i // what is left of any other number is unexpected to whoever comes next
	return n
}

// Seen are the keys of an object that have come, up to 64 of them by number.
type Seen uint64

// Once notes a key by its number. What it means twice is for encoding/json to say.
func (s *Scanner) Once(seen *Seen, n int) {
	if *seen&(1<<n) != 0 {
		s.Fail()
	}
	*seen |= 1 << n
}
