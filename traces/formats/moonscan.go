package formats

import "wavetank/traces/jsonscan"

// scan takes apart a row of the published grammar, and reports false for anything
// else, which is then encoding/json's to judge; ids are most of the bytes, and
// decoding them into a slice only to run-code it takes most of the time.
func (m *moonRow) scan(row []byte) bool {
	m.reset()
	s := jsonscan.New(row)
	var seen jsonscan.Seen
	for s.Open('{'); s.More('}'); {
		switch string(s.Key()) {
		case "timestamp":
			s.Once(&seen, 0)
			m.stamp = s.Number()
		case "input_length":
			s.Once(&seen, 1)
			m.input = s.Number()
		case "output_length":
			s.Once(&seen, 2)
			m.output = s.Number()
		case "session_id":
			s.Once(&seen, 3)
			m.session = s.Text()
		case "hash_ids":
			s.Once(&seen, 4)
			m.resetIDs()
			for s.Open('['); s.More(']'); {
				m.add(s.Uint())
			}
		default:
			s.Fail()
		}
	}
	return s.End()
}
