package lint

import (
	"fmt"
	"hash/maphash"
	"time"

	"wavetank/traces"
)

// twinTurns rows that are all alike are no chance.
const twinTurns = 5

// A session is what is kept of one, 24 bytes, however long its name.
type session struct {
	rows   int32
	first  time.Duration
	digest uint64 // of its turns so far
}

// A turn is what two copies of a session have in common, whatever they are called
// and whenever they begin.
type turn struct {
	before         uint64
	after          time.Duration
	prompt, output traces.Opt[int32]
}

func (s *scan) addTurn(rec *traces.Record) {
	if !rec.Session.Known {
		return
	}
	name := maphash.String(s.seed, rec.Session.V)
	in, old := s.sessions[name]
	if !old {
		in.first = rec.Arrival
	}
	in.rows++
	in.digest = maphash.Comparable(s.seed, turn{in.digest, rec.Arrival - in.first, rec.PromptTokens, rec.OutputTokens})
	s.sessions[name] = in
}

func sessionsOf(sessions map[uint64]session) Sessions {
	c := newCounts()
	s := Sessions{N: int64(len(sessions))}
	for _, in := range sessions {
		c.rows[in.rows]++
		s.Rows += int64(in.rows)
	}
	l := c.lengths()
	s.TurnsP50, s.TurnsP90, s.TurnsMax = l.P50, l.P90, l.Max
	return s
}

func findTwins(s *scan) []Finding {
	seen := make(map[uint64]bool)
	var twins, rows int64
	for _, in := range s.sessions {
		if in.rows < twinTurns {
			continue
		}
		if seen[in.digest] {
			twins, rows = twins+1, rows+int64(in.rows)
		}
		seen[in.digest] = true
	}
	if twins == 0 {
		return nil
	}
	return []Finding{{"twins",
		fmt.Sprintf("%d of %d sessions, with %d rows, repeat the turns of another under their own name", twins, s.facts.Sessions.N, rows),
		"one recording was published several times: what it holds weighs that much more in every fit",
		"drop the copies at the source; which of them is the original, nothing here tells"}}
}
