package formats

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"wavetank/traces"
)

// llmServingSim reads workloads of LLMServingSim: requests, and sessions of calls
// with tools between them, in nanoseconds of the simulation. Where token ids are
// given, blocks of 16 are made of them; the ids themselves are not kept. Memory
// grows with distinct prefixes.
var llmServingSim = Format{
	Name:     "llmservingsim",
	About:    "LLMServingSim workloads, flat and agentic (JSONL)",
	Sniff:    sniffServingSim,
	document: openServingSim,
}

func sniffServingSim(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	if _, ok := keys["sub_requests"]; ok {
		return needKeys(keys, "arrival_time_ns")
	}
	return needKeys(keys, "input_toks", "output_toks", "arrival_time_ns")
}

type servingSimRow struct {
	servingSimCall
	Arrival json.RawMessage  `json:"arrival_time_ns"`
	Session json.RawMessage  `json:"session_id"`
	Calls   []servingSimCall `json:"sub_requests"`
}

type servingSimCall struct {
	Input    json.RawMessage `json:"input_toks"`
	Output   json.RawMessage `json:"output_toks"`
	Tool     json.RawMessage `json:"tool_duration_ns"`
	InputIDs []uint32        `json:"input_tok_ids"`
}

type servingSimLog struct {
	in       *input
	threads  threads
	contents map[string]uint64 // ids of blocks' tokens
	chain    *chain
}

func openServingSim(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("llmservingsim"); err != nil {
		return document{}, err
	}
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "ns", decimalGrammar
	s := &servingSimLog{in: in, threads: make(threads), contents: make(map[string]uint64), chain: newChain()}
	return document{parse: s.parse}, nil
}

func (s *servingSimLog) parse(row []byte, out *outlet) error {
	var v servingSimRow
	if err := decodeRow(row, &v); err != nil {
		return err
	}
	ns, err := parseDecimal(unquote(v.Arrival), 1)
	if err != nil {
		return inField("arrival_time_ns", err)
	}
	if v.Calls == nil {
		rec, err := s.call(&v.servingSimCall)
		if err != nil {
			return err
		}
		rec.Arrival = time.Duration(ns)
		out.emit(rec)
		return nil
	}
	return s.session(&v, ns, row, out)
}

// session emits the calls of a session. A tool runs after the call that it is of.
func (s *servingSimLog) session(v *servingSimRow, ns int64, row []byte, out *outlet) error {
	var session traces.Opt[string]
	if err := setText(&session, unquote(v.Session)); err != nil || !session.Known {
		return inField("session_id", rejectf(MissingField, "no session"))
	}
	if len(v.Calls) > 1 && s.in.meta.Notes == nil {
		s.in.meta.Notes = []string{noteThreads}
	}
	arrival, pause := traces.Some(ns), traces.Opt[time.Duration]{}
	for i := range v.Calls {
		c := &v.Calls[i]
		rec, err := s.call(c)
		var tool int64
		if err == nil {
			tool, err = parseDecimal(unquote(c.Tool), 1)
			err = inField("tool_duration_ns", err)
		}
		if err != nil {
			if err := out.reject(row, err); err != nil {
				return err
			}
			continue
		}
		s.threads.turn(&rec, session.V, arrival, pause)
		out.emit(rec)
		arrival, pause = traces.Opt[int64]{}, traces.Some(time.Duration(tool))
	}
	return nil
}

func (s *servingSimLog) call(c *servingSimCall) (rec traces.Record, err error) {
	if err := setTokens(&rec.PromptTokens, unquote(c.Input)); err != nil {
		return rec, inField("input_toks", err)
	}
	if err := setTokens(&rec.OutputTokens, unquote(c.Output)); err != nil {
		return rec, inField("output_toks", err)
	}
	if c.InputIDs == nil {
		return rec, nil
	}
	if len(c.InputIDs) != int(rec.PromptTokens.V) {
		s.in.warn("input_tok_ids are not as many as input_toks")
		return rec, nil
	}
	s.in.meta.BlockTokens, s.in.meta.BlockScope = madeBlock, traces.ScopeGlobal
	rec.Blocks = []traces.BlockRun{}
	before := uint64(chainStart)
	var key []byte
	for block := range slices.Chunk(c.InputIDs, madeBlock) {
		if len(block) < madeBlock {
			break
		}
		key = key[:0]
		for _, id := range block {
			key = strconv.AppendUint(append(key, ','), uint64(id), 36)
		}
		content, ok := s.contents[string(key)]
		if !ok {
			content = uint64(len(s.contents))
			s.contents[string(key)] = content
		}
		before = s.chain.block(chainLink{before: before, id: content})
		rec.Blocks = appendID(rec.Blocks, before)
	}
	return rec, nil
}
