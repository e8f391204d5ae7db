package formats

import (
	"encoding/json"

	"wavetank/traces"
)

// bailian reads the traces of Alibaba's Qwen service. A chat names the one that it
// continues; a session is all that go back to one root. Hashes are of blocks of 16
// tokens, and nothing says whether they cover what is before the block. So an id
// stays as it is behind one prefix only: if it does cover it, that is all there are.
// Memory grows with chats and distinct prefixes.
var bailian = Format{
	Name:     "bailian",
	About:    "Qwen-Bailian traces: arrivals in s, chats with parents, ids of 16-token blocks (JSONL)",
	Sniff:    sniffBailian,
	document: openBailian,
}

const bailianBlock = 16

func sniffBailian(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	return needKeys(keys, "chat_id", "parent_chat_id", "timestamp", "input_length", "output_length")
}

type bailianRow struct {
	Chat      json.RawMessage `json:"chat_id"`
	Parent    json.RawMessage `json:"parent_chat_id"`
	Timestamp json.RawMessage `json:"timestamp"`
	Input     json.RawMessage `json:"input_length"`
	Output    json.RawMessage `json:"output_length"`
	Type      json.RawMessage `json:"type"`
	Turn      json.RawMessage `json:"turn"`
	HashIDs   blockIDs        `json:"hash_ids"`
}

// A bailianChat is a row that others may continue.
type bailianChat struct {
	session string
	seq     uint64
}

type bailianLog struct {
	in    *input
	chats map[string]bailianChat
	chain *chain
	words words
}

func openBailian(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("bailian"); err != nil {
		return document{}, err
	}
	in.meta.BlockTokens, in.meta.BlockScope = bailianBlock, traces.ScopeGlobal
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "s", decimalGrammar
	b := &bailianLog{in: in, chats: make(map[string]bailianChat), chain: newChain()}
	return document{parse: b.parse}, nil
}

func (b *bailianLog) parse(row []byte, out *outlet) error {
	var v bailianRow
	if err := decodeRow(row, &v); err != nil {
		return err
	}
	var rec traces.Record
	if err := setSizes(&rec, v.Timestamp, v.Input, v.Output); err != nil {
		return err
	}
	if err := b.words.set(&rec.App, unquote(v.Type)); err != nil {
		return inField("type", err)
	}
	if err := b.setTurn(&rec, &v, out.seq()); err != nil {
		return err
	}
	b.setBlocks(&rec, &v.HashIDs)
	out.emit(rec)
	return nil
}

// setTurn places a chat in its session. The parent's answer is part of a chat's
// prompt, and a parent may have several children, so that turns alone do not say
// what a chat waits for.
func (b *bailianLog) setTurn(rec *traces.Record, v *bailianRow, seq uint64) error {
	id, parent := unquote(v.Chat), unquote(v.Parent)
	if isUnknown(id) {
		return inField("chat_id", rejectf(MissingField, "no chat"))
	}
	if turn := unquote(v.Turn); !isUnknown(turn) {
		n, err := parseCount(turn)
		if err != nil || n == 0 {
			return inField("turn", rejectf(BadNumber, "%q is not a turn, counted from 1", clip(turn)))
		}
		rec.Turn = traces.Some(n - 1)
	}
	c := bailianChat{session: string(id), seq: seq}
	rec.ID, rec.After = traces.Some(c.session), noPredecessor
	if !isUnknown(parent) && string(parent) != "-1" {
		p, ok := b.chats[string(parent)]
		if ok {
			rec.After = []uint64{p.seq}
		} else {
			b.in.warn("the chat that they continue is not before them in the log: their session is named by it")
			p.session, rec.After = string(parent), nil
		}
		c.session = p.session
	}
	rec.Session = traces.Some(c.session)
	if _, twice := b.chats[rec.ID.V]; twice {
		b.in.warn("their chat_id came before")
	}
	b.chats[rec.ID.V] = c
	return nil
}

func (b *bailianLog) setBlocks(rec *traces.Record, ids *blockIDs) {
	if !ids.known {
		b.in.warn("no hash_ids")
		return
	}
	if ids.n != (int(rec.PromptTokens.V)+bailianBlock-1)/bailianBlock {
		b.in.warn("the number of hash_ids is not input_length/16, rounded up")
	}
	rec.Blocks = []traces.BlockRun{}
	before := uint64(chainStart)
	ids.each(func(id uint64) {
		before = b.chain.keep(before, id)
		rec.Blocks = appendID(rec.Blocks, before)
	})
}
