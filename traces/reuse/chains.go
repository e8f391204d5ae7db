package reuse

import (
	"errors"
	"fmt"

	"wavetank/traces"
)

// ErrNoBlockSize is wrapped by Chains's error.
var ErrNoBlockSize = errors.New("the trace does not say how many tokens a block has")

const (
	answerShare  = .9 // of an answer that the next turn's prompt must have grown by
	answerSlack  = 16 // tokens that it may lack of it, for templates and counting
	rootBlocks   = 2  // less in common is no conversation
	maxAncestors = 64 // that an edited or repeated turn is sought among
)

// Chains gives the rows of r that name no session the one that their blocks tell
// of: prefix chains. A row continues an earlier one if its prompt begins with all
// of the earlier prompt but its last block, is longer by 0.9 of the earlier answer
// less 16 tokens at least, and has a block that the chain brought into the trace,
// so that a system prompt makes no conversation of its users. The earlier row is
// the one that touched the last known block most recently, or one of those it
// continues (a turn that was edited or tried again).
//
// A chain is not known to be a session. Reasoning that is not sent back, compaction
// and edits cut one into several; questions on one long text can pass for one, and
// where many rows share an earlier prompt and continue none, they are likely to.
// Rows without blocks are left alone.
//
// r must be in the order of arrival; m is what it says of itself. Memory is that of
// a Stack and 24 bytes a row with blocks.
func Chains(r traces.Reader, m traces.Meta) (*traces.Edit, error) {
	if m.BlockTokens <= 0 {
		return nil, fmt.Errorf("prefix chains: %w", ErrNoBlockSize)
	}
	c := &chains{block: int64(m.BlockTokens), stack: Stack{PerSession: m.BlockScope == traces.ScopeSession}}
	e := &traces.Edit{Name: "sessions from prefix chains", Counts: []traces.Count{
		{What: "rows with blocks and no session"}, {What: "chains"}, {What: "rows that continue one"},
		{What: "of them from before its end"}, {What: "rows that share an earlier prompt and continue none"},
	}}
	c.counts = e.Counts
	e.Reader = traces.ReaderFunc(func(rec *traces.Record) error {
		if err := r.Read(rec); err != nil {
			return err
		}
		return c.place(rec)
	})
	return e, nil
}

type chains struct {
	block  int64
	stack  Stack
	turns  []turn  // as the Stack counts requests
	chains []chain // in the order of their first rows
	counts []traces.Count
}

// A turn is a request with blocks.
type turn struct {
	prompt, output traces.Opt[int32]
	before         int32 // the turn that it continues; -1
	chain          int32
}

type chain struct {
	first uint64 // Seq of its first row
	root  int64  // blocks that were there before it
	turns int32
}

func (c *chains) place(rec *traces.Record) error {
	if len(rec.Blocks) == 0 {
		return nil
	}
	hit, err := c.stack.Touch(rec)
	if err != nil {
		return fmt.Errorf("prefix chains: %w", err)
	}
	now := turn{rec.PromptTokens, rec.OutputTokens, -1, int32(len(c.chains))}
	if !rec.Session.Known {
		now.before = c.before(hit, &now)
	}
	if now.before >= 0 {
		now.chain = c.turns[now.before].chain
	} else {
		c.chains = append(c.chains, chain{first: rec.Seq, root: hit.Blocks})
	}
	c.turns = append(c.turns, now)
	if rec.Session.Known {
		return nil
	}
	in := &c.chains[now.chain]
	rec.Session, rec.Turn = traces.Some(fmt.Sprintf("chain-%d", in.first)), traces.Some(in.turns)
	in.turns++
	c.count(now.before >= 0)
	return nil
}

func (c *chains) count(continues bool) {
	c.counts[0].N++
	if continues {
		c.counts[2].N++
	} else {
		c.counts[1].N++
	}
}

// before returns the turn that now continues, or -1.
func (c *chains) before(hit Hit, now *turn) int32 {
	at := int32(hit.Owner)
	if hit.Blocks < rootBlocks {
		return -1
	}
	fits := false
	for i := 0; at >= 0 && i < maxAncestors; i++ {
		old := &c.turns[at]
		if old.prompt.Known && hit.Blocks >= int64(old.prompt.V)/c.block-1 {
			if hit.Blocks > c.chains[old.chain].root && grown(old, now) {
				if i > 0 {
					c.counts[3].N++
				}
				return at
			}
			fits = true
		}
		at = old.before
	}
	if fits {
		c.counts[4].N++
	}
	return -1
}

func grown(old, now *turn) bool {
	if !old.output.Known || !now.prompt.Known {
		return false
	}
	return float64(now.prompt.V) >= float64(old.prompt.V)+answerShare*float64(old.output.V)-answerSlack
}
