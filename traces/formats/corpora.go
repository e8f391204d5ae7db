package formats

import (
	"encoding/json"
	"errors"
	"time"

	"wavetank/traces"
)

// conversations reads corpora of conversations, such as WildChat, LMSYS-Chat and
// ShareGPT: each answer is a request. Few of them hold token counts, and texts are
// not counted here: what a text has in tokens only the model's own tokenizer knows.
// Fewer hold times. Texts are not kept.
var conversations = Format{
	Name:     "conversations",
	About:    "corpora of conversations: WildChat, LMSYS-Chat, ShareGPT, ... (JSONL)",
	Sniff:    sniffConversations,
	document: openConversations,
}

func sniffConversations(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	for _, key := range []string{"conversation", "conversations"} {
		if keys[key] == json.Delim('[') {
			return nil
		}
	}
	return errors.New("the first row has no list \"conversation\" or \"conversations\"")
}

type conversationRow struct {
	ID       json.RawMessage `json:"id"`
	CID      json.RawMessage `json:"conversation_id"`
	Hash     json.RawMessage `json:"conversation_hash"`
	Model    json.RawMessage `json:"model"`
	Turns    []corpusMessage `json:"conversation"`
	ShareGPT []corpusMessage `json:"conversations"`
}

type corpusMessage struct {
	Role    string          `json:"role"`
	From    string          `json:"from"`
	Created json.RawMessage `json:"created"`
	User    json.RawMessage `json:"hashed_ip"`
	Usage   *chatUsage      `json:"usage"`
}

// answerers are the words for who answers.
var answerers = map[string]bool{"assistant": true, "gpt": true, "chatgpt": true, "bing": true, "bard": true, "model": true}

type conversationLog struct {
	in    *input
	words words
	timed bool // the first answer tells when it began, and then all do
	rows  int64
}

func openConversations(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("conversations"); err != nil {
		return document{}, err
	}
	c := &conversationLog{in: in}
	return document{parse: c.parse}, nil
}

func (c *conversationLog) parse(row []byte, out *outlet) error {
	var v conversationRow
	if err := decodeRow(row, &v); err != nil {
		return err
	}
	var session traces.Opt[string]
	for _, id := range []json.RawMessage{v.Hash, v.CID, v.ID} {
		if err := setText(&session, unquote(id)); err != nil {
			return inField("id", err)
		}
		if session.Known {
			break
		}
	}
	var turn int32
	for _, m := range append(v.Turns, v.ShareGPT...) {
		if !answerers[m.Role+m.From] {
			out.merge(1)
			continue
		}
		rec, err := c.answer(&v, &m)
		if err != nil {
			if err := out.reject(row, err); err != nil {
				return err
			}
			continue
		}
		rec.Session = session
		if session.Known {
			rec.Turn = traces.Some(turn)
		}
		turn++
		out.emit(rec)
	}
	return nil
}

func (c *conversationLog) answer(v *conversationRow, m *corpusMessage) (rec traces.Record, err error) {
	if err := c.words.set(&rec.Model, unquote(v.Model)); err != nil {
		return rec, inField("model", err)
	}
	if err := setText(&rec.User, unquote(m.User)); err != nil {
		return rec, inField("hashed_ip", err)
	}
	rec.App = traces.Some("chat")
	if err := setUsage(&rec, m); err != nil {
		return rec, err
	}
	if err := c.setArrival(&rec, m); err != nil {
		return rec, inField("created", err)
	}
	if m.Usage == nil {
		c.in.warn("no token counts: texts are not counted here; count them with the model's own tokenizer, and map the counts with --format jsonl")
	}
	return rec, nil
}

func setUsage(rec *traces.Record, m *corpusMessage) error {
	if m.Usage == nil {
		return nil
	}
	for _, n := range []struct {
		field string
		raw   json.RawMessage
		to    *traces.Opt[int32]
	}{
		{"prompt_tokens", m.Usage.Prompt, &rec.PromptTokens}, {"completion_tokens", m.Usage.Output, &rec.OutputTokens},
		{"reasoning_tokens", m.Usage.Out.Reasoning, &rec.ReasoningTokens}, {"cached_tokens", m.Usage.In.Cached, &rec.Outcome.CachedTokens},
	} {
		if err := setUnlessNull(n.to, n.raw); err != nil {
			return inField(n.field, err)
		}
	}
	rec.Outcome.Status = traces.OK
	return nil
}

// setArrival takes the second at which the API began an answer. Other times of a
// corpus are of whole conversations, or nobody says whether they are of the
// question or of the answer.
func (c *conversationLog) setArrival(rec *traces.Record, m *corpusMessage) error {
	created := unquote(m.Created)
	if c.rows++; c.rows == 1 {
		if c.timed = !isUnknown(created); c.timed {
			c.in.absolute = true
			c.in.source.Stamps, c.in.source.TimeUnit, c.in.source.Grammar = "start", "s", decimalGrammar
		}
	}
	if !c.timed {
		c.in.warn(warnNoArrival)
		return nil
	}
	ns, err := parseDecimal(created, 1e9)
	if err == nil && !sinceEpoch(ns) {
		err = rejectf(BadTime, "%s s since 1970 is not of this century", clip(created))
	}
	rec.Arrival = time.Duration(ns)
	return err
}
