package jsonscan

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// A Value is a JSON value as it stands in the text, which it aliases.
type Value struct {
	Kind Kind
	Raw  []byte
}

// A Kind is what a Value is.
type Kind uint8

// The kinds of values.
const (
	Absent  Kind = iota // there is no value
	Null                // null
	Bool                // true or false
	Number              // a number
	Plain               // a string whose text is what stands between its quotes
	Escaped             // a string with escapes, or not of UTF-8
	Object              // an object
	List                // a list
)

// Text returns the text of a string, what is not UTF-8 replaced as encoding/json
// does, and any other value as it stands.
func (v Value) Text() []byte {
	switch v.Kind {
	case Plain:
		return v.Raw[1 : len(v.Raw)-1]
	case Escaped:
		var text string
		if json.Unmarshal(v.Raw, &text) == nil {
			return []byte(text)
		}
	}
	return v.Raw
}

// mayHold tells whether a string may hold an object, with space before it or not.
func (v Value) mayHold() bool {
	if v.Kind != Plain && v.Kind != Escaped {
		return false
	}
	c := v.Raw[1]
	return c == '{' || c == '[' || c == '\\' || c <= ' ' || c >= 0x80
}

// Of returns text as a Value if it is one, with no white space around it, and
// otherwise the zero Value.
func Of(text []byte) Value {
	s := New(text)
	if v := s.Value(); len(v.Raw) == len(text) {
		return v
	}
	return Value{}
}

// Value takes a value of any kind.
func (s *Scanner) Value() Value {
	s.Peek()
	start := s.at
	kind := s.skip()
	if s.unsure {
		return Value{}
	}
	raw := s.text[start:s.at]
	if kind == foreign {
		kind = Plain
		if !utf8.Valid(raw) {
			kind = Escaped
		}
	}
	return Value{kind, raw}
}

// foreign is the kind of a string without escapes of which nobody has looked yet
// whether it is UTF-8.
const foreign = List + 1

// Skip passes over a value of any kind.
func (s *Scanner) Skip() { s.skip() }

func (s *Scanner) skip() Kind {
	switch s.Peek() {
	case '"':
		return s.str()
	case '{':
		for s.Open('{'); s.More('}'); {
			if s.Peek() != '"' {
				s.Fail()
			}
			s.Skip()
			s.want(':')
			s.Skip()
		}
		return Object
	case '[':
		for s.Open('['); s.More(']'); {
			s.Skip()
		}
		return List
	case 't':
		s.word("true")
		return Bool
	case 'f':
		s.word("false")
		return Bool
	case 'n':
		s.word("null")
		return Null
	}
	s.number()
	return Number
}

func (s *Scanner) word(word string) {
	if !s.passText(word) {
		s.Fail()
	}
}

// number takes a number: no leading zero, digits on both sides of a point.
func (s *Scanner) number() {
	text, i := s.text, s.at
	if i < len(text) && text[i] == '-' {
		i++
	}
	end := digits(text, i)
	ok := end == i+1 || end > i && text[i] != '0'
	if i = end; i < len(text) && text[i] == '.' {
		end = digits(text, i+1)
		ok = ok && end > i+1
		i = end
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		end = digits(text, i)
		ok = ok && end > i
		i = end
	}
	if s.at = i; !ok {
		s.Fail()
	}
}

// digits returns where the digits from i on end.
func digits(text []byte, i int) int {
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str takes a string, which is known to begin here, eight bytes at a time: that is
// where the time goes, for most of a log is text.
func (s *Scanner) str() Kind {
	text, kind, high := s.text, Plain, uint64(0) // bytes that are not ASCII have their highest bit set
	for i := s.at + 1; i < len(text); {
		if len(text)-i >= 8 {
			w := binary.LittleEndian.Uint64(text[i:])
			end := ends(w)
			if end == 0 {
				high |= w
				i += 8
				continue
			}
			n := bits.TrailingZeros64(end) - 7
			high |= w & (1<<n - 1)
			i += n >> 3
		}
		switch c := text[i]; {
		case c == '"':
			s.at = i + 1
			if kind == Plain && high&highs != 0 {
				return foreign
			}
			return kind
		case c == '\\':
			kind = Escaped
			n := escape(text[i+1:])
			if n == 0 {
				s.Fail()
				return kind
			}
			i += 1 + n
		case c < ' ':
			s.Fail()
			return kind
		default:
			high |= uint64(c)
			i++
		}
	}
	s.Fail()
	return kind
}

// ends marks, at its highest bit, the first byte of w that a string does not just
// go on behind: a quote, a backslash, or a control character. Marks above the
// first mean nothing.
func ends(w uint64) uint64 {
	quote, slash := w^ones*'"', w^ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highs
}

// escape returns the length of what follows a backslash in JSON, or 0.
func escape(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) < 5 || !isHex(b[1]) || !isHex(b[2]) || !isHex(b[3]) || !isHex(b[4]) {
			return 0
		}
		return 5
	}
	return 0
}

func isHex(c byte) bool { return c-'0' <= 9 || c|0x20-'a' <= 5 }
