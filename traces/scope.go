package traces

import "fmt"

// ScopeSession is the Meta.BlockScope of block ids that mean something only
// within a session; ScopeGlobal that of ids that mean the same in every row.
const (
	ScopeSession = "session"
	ScopeGlobal  = "global"
)

// sessionIDs is the length of a session's range.
const sessionIDs = 1 << 40

// BlockRanges gives each session a range of block ids of its own. Traces that are
// to be joined share one. The zero value is ready to use.
type BlockRanges struct {
	bases    map[string]uint64
	sessions uint64
}

// Global moves block ids of ScopeSession into their session's range, so that equal
// ids mean equal prompts wherever they stand. A row without a session is a session
// by itself. It keeps a number for each session. An id of 2^40 or above is an error.
func (b *BlockRanges) Global(r Reader) Reader {
	return ReaderFunc(func(rec *Record) error {
		if err := r.Read(rec); err != nil || len(rec.Blocks) == 0 {
			return err
		}
		base := b.base(rec.Session)
		moved := make([]BlockRun, len(rec.Blocks))
		for i, run := range rec.Blocks {
			if run.Start+uint64(run.Len) > sessionIDs {
				return fmt.Errorf("row with seq %d: block id %d is too large for one of a session", rec.Seq, run.Start)
			}
			moved[i] = BlockRun{Start: base + run.Start, Len: run.Len}
		}
		rec.Blocks = moved
		return nil
	})
}

func (b *BlockRanges) base(session Opt[string]) uint64 {
	if base, ok := b.bases[session.V]; ok && session.Known {
		return base
	}
	b.sessions++
	base := b.sessions * sessionIDs
	if session.Known {
		if b.bases == nil {
			b.bases = make(map[string]uint64)
		}
		b.bases[session.V] = base
	}
	return base
}
