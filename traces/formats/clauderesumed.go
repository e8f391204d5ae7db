package formats

import (
	"fmt"
	"slices"

	"wavetank/traces"
)

// Resumed leaves out of files of Claude Code, read one after the other, the requests
// that a file before has too: a session that was resumed or forked begins with a copy
// of the one that it goes on from, in which an answer keeps its id. Who waited for a
// request that is left out waits for the one that stays. file tells of which file a
// row is, and is negative for a row of another log.
//
// Memory grows with the number of requests.
func Resumed(r traces.Reader, file func(*traces.Record) int) *traces.Edit {
	e := &traces.Edit{Name: "claude-code files joined", Counts: []traces.Count{{What: "requests left out that a file before has"}}}
	type place struct {
		file int
		seq  uint64
	}
	first := make(map[string]place)
	stays := make(map[uint64]uint64) // by the Seq of one that is left out
	e.Reader = traces.Filter(r, func(rec *traces.Record) bool {
		at := file(rec)
		if at < 0 {
			return true
		}
		name := nameOf(rec)
		one, known := first[name]
		if known && one.file != at {
			stays[rec.Seq] = one.seq
			e.Counts[0].N++
			return false
		}
		first[name] = place{at, rec.Seq}
		moveEdges(rec, stays)
		return true
	})
	return e
}

// nameOf is what a request keeps when it is copied: a failed one has no id, but its time.
func nameOf(rec *traces.Record) string {
	if rec.ID.Known {
		return rec.ID.V
	}
	return fmt.Sprint(rec.Arrival, rec.Outcome.End, rec.Outcome.Error)
}

// moveEdges has what points at a row point at what it became.
func moveEdges(rec *traces.Record, became map[uint64]uint64) {
	if seq, ok := became[rec.Outcome.RetryOf.V]; ok && rec.Outcome.RetryOf.Known {
		rec.Outcome.RetryOf.V = seq
	}
	moves := func(seq uint64) bool { _, ok := became[seq]; return ok }
	if !slices.ContainsFunc(rec.After, moves) {
		return
	}
	rec.After = slices.Clone(rec.After)
	for i, seq := range rec.After {
		if other, ok := became[seq]; ok {
			rec.After[i] = other
		}
	}
}
