package formats

import (
	"bytes"
	"math"
)

// scan takes apart a row of the published grammar: known keys, whole numbers,
// strings without escapes. It reports false for anything else, which is then
// encoding/json's to judge; ids are most of the bytes, and decoding them into a
// slice only to run-code it takes most of the time.
func (m *moonRow) scan(row []byte) bool {
	m.reset()
	s := scanner{b: bytes.TrimRight(row, " \t")}
	if !s.take('{') {
		return false
	}
	for {
		if !m.scanPair(&s) {
			return false
		}
		switch {
		case s.take(','):
		case s.take('}'):
			return s.i == len(s.b)
		default:
			return false
		}
	}
}

func (m *moonRow) scanPair(s *scanner) bool {
	key, ok := s.text()
	if !ok || !s.take(':') {
		return false
	}
	switch string(key) {
	case "timestamp":
		m.stamp, ok = s.number()
	case "input_length":
		m.input, ok = s.number()
	case "output_length":
		m.output, ok = s.number()
	case "session_id":
		m.session, ok = s.text()
	case "hash_ids":
		ok = m.scanIDs(s)
	default:
		ok = false
	}
	return ok
}

// scanIDs reads a list of ids as runs.
func (m *moonRow) scanIDs(s *scanner) bool {
	m.resetIDs()
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	for {
		digits, ok := s.number()
		if !ok {
			return false
		}
		id, ok := parseID(digits)
		if !ok {
			return false
		}
		m.add(id)
		switch {
		case s.take(','):
		case s.take(']'):
			return true
		default:
			return false
		}
	}
}

// parseID reads all 64 bits of an id.
func parseID(b []byte) (id uint64, ok bool) {
	for _, c := range b {
		d := uint64(c - '0')
		if id > (math.MaxUint64-d)/10 {
			return 0, false
		}
		id = id*10 + d
	}
	return id, true
}
