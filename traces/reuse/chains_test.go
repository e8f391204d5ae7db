package reuse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"wavetank/traces"
)

const blockTokens = 64

// A talk is a conversation under way: what its next prompt starts with.
type talk struct {
	name   string
	ids    []uint64
	prompt int
	output int
}

// talks makes a trace of conversations that all start with one system prompt. Each
// prompt is the one before, the answer to it, and more. Sessions are the truth.
func talks(seed uint64, n int) []traces.Record {
	rng := rand.New(rand.NewPCG(seed, 3))
	next := uint64(1 << 20)
	var open []*talk
	var recs []traces.Record
	for i := range n {
		var s *talk
		if len(open) == 0 || rng.IntN(3) == 0 {
			s = &talk{name: fmt.Sprint("t", i), ids: []uint64{1, 2, 3, 4, 5}, prompt: 5 * blockTokens}
			open = append(open, s)
		} else {
			s = open[rng.IntN(len(open))]
		}
		s.prompt += s.output + 100 + rng.IntN(2000)
		s.output = 50 + rng.IntN(500)
		full := s.prompt / blockTokens
		for len(s.ids) < full {
			s.ids = append(s.ids, next)
			next++
		}
		next += 3
		ids := s.ids
		if s.prompt%blockTokens > 0 {
			ids = append(ids[:full:full], next) // the last, partial block is nobody else's
			next += 3
		}
		recs = append(recs, traces.Record{Request: traces.Request{
			Seq: uint64(i), Arrival: time.Duration(i) * time.Second, User: traces.Some(s.name),
			PromptTokens: traces.Some(int32(s.prompt)), OutputTokens: traces.Some(int32(s.output)), Blocks: runsOf(rng, ids),
		}})
	}
	return recs
}

func infer(t *testing.T, recs []traces.Record) ([]traces.Record, *traces.Edit) {
	t.Helper()
	e, err := Chains(traces.FromSlice(recs), traces.Meta{BlockTokens: blockTokens})
	if err != nil {
		t.Fatal(err)
	}
	got, err := traces.Collect(e)
	if err != nil {
		t.Fatal(err)
	}
	return got, e
}

// Conversations come back whole from their blocks, turn by turn.
func TestChainsFindConversations(t *testing.T) {
	recs := talks(1, 2000)
	got, e := infer(t, recs)
	chain, turns := make(map[string]string), make(map[string]int32)
	for i, r := range got {
		user := recs[i].User.V
		if c, ok := chain[user]; ok && c != r.Session.V || r.Turn.V != turns[user] {
			t.Fatalf("row %d of %s is turn %d of %s, want turn %d of %s", i, user, r.Turn.V, r.Session.V, turns[user], c)
		}
		chain[user] = r.Session.V
		turns[user]++
	}
	distinct := make(map[string]bool)
	for _, c := range chain {
		distinct[c] = true
	}
	if len(distinct) != len(chain) {
		t.Errorf("%d conversations are %d chains", len(chain), len(distinct))
	}
	if c := e.Counts; c[0].N != 2000 || c[1].N != int64(len(chain)) || c[0].N != c[1].N+c[2].N || c[3].N != 0 {
		t.Error(e)
	}
}

// A turn that is tried again or edited belongs to its conversation.
func TestChainsGoBack(t *testing.T) {
	row := func(seq uint64, prompt, output int32, runs ...traces.BlockRun) traces.Record {
		return traces.Record{Request: traces.Request{Seq: seq, PromptTokens: traces.Some(prompt), OutputTokens: traces.Some(output), Blocks: runs}}
	}
	got, e := infer(t, []traces.Record{
		row(0, 640, 64, traces.BlockRun{Start: 100, Len: 10}),
		row(1, 1280, 64, traces.BlockRun{Start: 100, Len: 20}),
		row(2, 1280, 64, traces.BlockRun{Start: 100, Len: 11}, traces.BlockRun{Start: 500, Len: 9}), // the second turn, edited
		row(3, 2560, 64, traces.BlockRun{Start: 100, Len: 11}, traces.BlockRun{Start: 500, Len: 29}),
	})
	for i, r := range got {
		if r.Session.V != "chain-0" || r.Turn.V != int32(i) {
			t.Errorf("row %d is turn %d of %s", i, r.Turn.V, r.Session.V)
		}
	}
	if e.Counts[3].N != 1 {
		t.Error(e)
	}
}

// Questions about one long text are no conversation: no prompt grows by the answer
// to the one before.
func TestChainsAreNotDocuments(t *testing.T) {
	var recs []traces.Record
	for i := range uint64(50) {
		recs = append(recs, traces.Record{Request: traces.Request{Seq: i, PromptTokens: traces.Some(int32(100*blockTokens + i%7)), OutputTokens: traces.Some[int32](300),
			Blocks: []traces.BlockRun{{Start: 0, Len: 100}, {Start: 1000 + 2*i, Len: 1}}}})
	}
	_, e := infer(t, recs)
	if e.Counts[1].N != 50 || e.Counts[4].N != 49 {
		t.Error(e)
	}
}

// A session that the log names stays, and so does a row of which the blocks are not known.
func TestChainsLeaveTheKnownAlone(t *testing.T) {
	recs := talks(2, 50)
	for i := range recs {
		if i%2 == 0 {
			recs[i].Session, recs[i].Turn = traces.Some("mine"), traces.Some(int32(i))
		} else if i%3 == 0 {
			recs[i].Blocks = nil
		}
	}
	got, _ := infer(t, recs)
	for i, r := range got {
		if named := i%2 == 0; named && (r.Session.V != "mine" || r.Turn.V != int32(i)) || !named && r.Session.Known == (i%3 == 0) {
			t.Errorf("row %d: session %v, turn %v", i, r.Session, r.Turn)
		}
	}
	if _, err := Chains(traces.FromSlice(recs), traces.Meta{}); !errors.Is(err, ErrNoBlockSize) {
		t.Errorf("err = %v", err)
	}
}

// A third of the conversation trace of Mooncake continues an earlier row.
func TestChainsOfConversation(t *testing.T) {
	f := conversation(t)
	defer f.Close()
	e, err := Chains(f, f.Meta())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := traces.Collect(e); err != nil {
		t.Fatal(err)
	}
	if share := float64(e.Counts[2].N) / float64(e.Counts[0].N); share < .28 || share > .36 {
		t.Errorf("%.3f: %v", share, e)
	}
	t.Log(e)
}
