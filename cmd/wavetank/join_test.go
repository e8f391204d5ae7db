package main

import (
	"slices"
	"testing"

	"wavetank/traces"
)

// said is an input that says m of itself.
type said struct {
	input
	m traces.Meta
}

func (s said) Meta() traces.Meta { return s.m }
func (s said) Name() string      { return "log" }

// A joined trace claims no more than all of its inputs do: of two vantage points or
// tokenizers it has neither, and one unfinished input leaves it unfinished.
func TestJoinedMetaClaimsWhatAllSay(t *testing.T) {
	seed := uint64(1)
	a := said{m: traces.Meta{Tokenizer: "t", Vantage: "gateway", Seed: &seed, Target: &traces.Target{}, Notes: []string{"n"}, Edits: []string{"e"}, BlockTokens: 16}}
	b := said{m: traces.Meta{Tokenizer: "t", Vantage: "server", Partial: true, Notes: []string{"n", "o"}}}
	for _, inputs := range [][]input{{a, b}, {b, a}, {a, b, a}} {
		m := joined(inputs)
		if m.Tokenizer != "t" || m.Vantage != "" || m.Seed != nil || m.Target != nil || !m.Partial || m.BlockTokens != 16 || len(m.Notes) != 2 || !slices.Contains(m.Edits, "log: e") {
			t.Errorf("%+v", m)
		}
	}
	if m := joined([]input{a}); m.Vantage != "gateway" || m.Seed != &seed {
		t.Errorf("%+v of one input", m)
	}
}
