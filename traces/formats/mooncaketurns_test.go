package formats

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// Two prefixes have one id if and only if they are equal, whatever the source's ids
// stand for; and where the source's ids are of prefixes, they are kept.
func TestChainNamesPrefixes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kept, numbered := newChain(), newChain()
	byPrefix := map[string][2]uint64{}
	byID := [2]map[uint64]string{{}, {}}
	for range 2000 {
		before, prefix := [2]uint64{chainStart, chainStart}, ""
		for range rng.IntN(6) {
			id := rng.Uint64N(4)
			if rng.IntN(50) == 0 {
				id = notSource + rng.Uint64N(3)
			}
			before = [2]uint64{kept.keep(before[0], id), numbered.block(chainLink{before: before[1], id: id})}
			prefix += fmt.Sprint(id, " ")
			if want, ok := byPrefix[prefix]; ok && before != want {
				t.Fatalf("prefix %s is %v, and was %v", prefix, before, want)
			}
			byPrefix[prefix] = before
			for i := range before {
				if was, ok := byID[i][before[i]]; ok && was != prefix {
					t.Fatalf("id %d is of %s, and was of %s", before[i], prefix, was)
				}
				byID[i][before[i]] = prefix
			}
		}
	}
	c := newChain()
	before := uint64(chainStart)
	for _, id := range []uint64{7, 3, 1 << 40} {
		if before = c.keep(before, id); before != id {
			t.Errorf("prefix id %d became %d", id, before)
		}
	}
}

// In a dialect of deltas two prompts share as many leading ids as whole blocks of
// their tokens are equal, wherever turns and answers end.
func TestDeltaBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const block = 4
	c := newChain()
	type prompt struct {
		tokens []string
		ids    []uint64
	}
	var prompts []prompt
	answered := 0
	for session := range 200 {
		d, tokens := &delta{prefix: chainStart}, []string(nil)
		for range 1 + rng.IntN(4) {
			input := int32(1 + rng.IntN(9))
			var ids blockIDs
			ids.known = true
			for i := range blocksOf(input, block) {
				id := rng.Uint64N(2)
				ids.runs, ids.n = append(ids.runs, traces.BlockRun{Start: id, Len: 1}), ids.n+1
				for k := range min(block, input-int32(i)*block) {
					tokens = append(tokens, fmt.Sprint(id, "/", k))
				}
			}
			d.add(c, ids, traces.Some(input), block)
			prompts = append(prompts, prompt{slices.Clone(tokens), idsOf(d.blocks)})
			if d.tokens() != traces.Some(int32(len(tokens))) || len(idsOf(d.blocks)) != len(tokens)/block {
				t.Fatalf("%v tokens and %d blocks, want %d tokens", d.tokens(), len(idsOf(d.blocks)), len(tokens))
			}
			if session%2 == 0 {
				continue
			}
			output := int32(rng.IntN(11))
			d.answer(c, traces.Some(output), block)
			for range output {
				answered++
				tokens = append(tokens, fmt.Sprint("answer ", answered))
			}
		}
	}
	for _, a := range prompts {
		for _, b := range prompts {
			if got, want := common(a.ids, b.ids), common(a.tokens, b.tokens)/block; got != want {
				t.Fatalf("%v and %v share %d ids, want %d", a.tokens, b.tokens, got, want)
			}
		}
	}
}

// common returns how long the common beginning of two lists is.
func common[T comparable](a, b []T) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// The runner's rounds share as many leading blocks as its own prompts would.
func TestTracelabReplayBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var log strings.Builder
	log.WriteString("session_id,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n")
	var prompts [][]int
	context, next := map[int][]int{}, 0
	fresh := func(list []int, n int) []int {
		for range n {
			list, next = append(list, next), next+1
		}
		return list
	}
	rounds := map[int]int{}
	for range 60 {
		s := rng.IntN(4)
		prefix, input, output := rng.IntN(len(context[s])+1), 1+rng.IntN(40), rng.IntN(40)
		fmt.Fprintf(&log, "%d,%d,%d,%d,%d,5\n", s, rounds[s], prefix, input, output)
		rounds[s]++
		prompt := fresh(slices.Clone(context[s][:prefix]), input)
		prompts = append(prompts, prompt)
		context[s] = fresh(slices.Clone(prompt), output)
	}
	recs, meta, err := read(log.String(), Options{})
	if err != nil || len(recs) != len(prompts) || meta.BlockTokens != madeBlock {
		t.Fatalf("%d rows, %+v, %v", len(recs), meta, err)
	}
	for i, a := range prompts {
		if n := len(idsOf(recs[i].Blocks)); int(recs[i].PromptTokens.V) != len(a) || n != len(a)/madeBlock {
			t.Fatalf("row %d: %v tokens, %d blocks; want %d tokens", i, recs[i].PromptTokens, n, len(a))
		}
		for j, b := range prompts {
			if got, want := common(idsOf(recs[i].Blocks), idsOf(recs[j].Blocks)), common(a, b)/madeBlock; got != want {
				t.Fatalf("rows %d and %d share %d blocks, want %d", i, j, got, want)
			}
		}
	}
}

// The rows of the dialects are told apart by their keys, and deltas by their ids;
// whoever knows better names the format.
func TestDialects(t *testing.T) {
	row := func(keys string) string { return `{"input_length": 1024, "output_length": 1, ` + keys + "}\n" }
	full := row(`"session_id": "a", "timestamp": 0, "hash_ids": [1, 2]`) + row(`"session_id": "a", "delay": 5, "hash_ids": [1, 3]`)
	added := row(`"session_id": "a", "timestamp": 0, "hash_ids": [1, 2]`) + row(`"session_id": "a", "delay": 5, "hash_ids": [4, 5]`)
	mode := func(log, mode string) string {
		return strings.ReplaceAll(log, "{", `{"context_mode": "`+mode+`", `)
	}
	for _, tt := range []struct {
		log, named, format string
		prompt             int32 // of the second row
	}{
		{row(`"timestamp": 0, "hash_ids": [1, 2]`), "", "mooncake", 0},
		{row(`"timestamp": 0`), "", "aiperf", 0},
		{full, "", "aiperf", 1024},
		{added, "", "mooncake-delta", 2048},
		{added, "aiperf", "aiperf", 1024},
		{full, "mooncake-delta", "mooncake-delta", 2048},
		{mode(added, "message_array_with_responses"), "", "aiperf", 1024},
		{mode(added, "deltas_with_responses"), "", "aiperf", 2048},
		{mode(added, "deltas_without_responses"), "", "aiperf", 2049},
		{row(`"request_id": "r", "timestamp": 0, "hash_ids": [1, 2]`), "", "agentic_mooncake", 0},
	} {
		recs, meta, err := read(tt.log, Options{Format: tt.named})
		if err != nil || meta.Sources[0].Format != tt.format {
			t.Fatalf("%s as %q: %v, %v", tt.log, tt.named, meta.Sources, err)
		}
		if len(recs) < 2 {
			continue
		}
		if r := recs[1]; r.PromptTokens.V != tt.prompt || r.Arrival != 5*time.Millisecond || r.Think != traces.Some(5*time.Millisecond) || r.Turn.V != 1 {
			t.Errorf("%s: %+v, want %d prompt tokens", tt.log, r, tt.prompt)
		}
	}
}

// The block's size is what the ids' number says.
func TestTurnBlockSize(t *testing.T) {
	for log, want := range map[string]int32{
		`{"session_id": "a", "timestamp": 0, "input_length": 1025, "output_length": 1, "hash_ids": [1, 2, 3]}`:        512,
		`{"session_id": "a", "timestamp": 0, "input_length": 100, "output_length": 1, "hash_ids": [1, 2]}`:            64,
		`{"session_id": "a", "timestamp": 0, "input_length": 16, "output_length": 1, "hash_ids": [1, 2, 3, 4, 5, 6]}`: 512,
		`{"session_id": "a", "timestamp": 0, "input_length": 700, "output_length": 1, "hash_ids": [1]}`:               512,
		`{"session_id": "a", "timestamp": 0, "input_length": 0, "output_length": 1, "hash_ids": [1, 2]}`:              512,
		`{"session_id": "a", "timestamp": 0, "input_length": 7, "output_length": 1}`:                                  0,
	} {
		if _, meta, err := read(log, Options{}); err != nil || meta.BlockTokens != want {
			t.Errorf("%s: %d tokens a block, %v; want %d", log, meta.BlockTokens, err, want)
		}
	}
}
