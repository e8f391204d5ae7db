package lint

import (
	"fmt"
	"time"

	"wavetank/traces"
)

// repeated counts rows that are there twice.
type repeated struct {
	rows  int64 // equal in all
	named int64 // of them those that an id or blocks tell from others that look alike
	usage int64 // equal in id and usage
}

func (s *scan) addRepeat(rec *traces.Record) {
	switch s.repeats.Next(rec) {
	case traces.SameRow:
		s.repeated.rows++
		if rec.ID.Known || len(rec.Blocks) > 0 {
			s.repeated.named++
		}
	case traces.SameUsage:
		s.repeated.usage++
	}
}

func findRepeats(s *scan) []Finding {
	n := s.repeated.rows
	if s.facts.Resolution >= time.Second {
		n = s.repeated.named
	}
	if n == 0 {
		return nil
	}
	return []Finding{{"repeats",
		fmt.Sprintf("%d of %d rows equal an earlier one in all but their place", n, s.facts.Rows),
		"they were exported or read twice: each counts double in rates, and their prompts hit the cache as if somebody had sent them again",
		"convert --dedupe keeps the first of each"}}
}

func findSameID(s *scan) []Finding {
	if s.repeated.usage == 0 {
		return nil
	}
	return []Finding{{"same_id",
		fmt.Sprintf("%d of %d rows have the id and the usage of an earlier one", s.repeated.usage, s.facts.Rows),
		"one answer was logged in parts, each with the usage of the whole: its tokens count several times",
		"convert --dedupe keeps the first of each"}}
}
