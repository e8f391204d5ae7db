package sim

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// A dialect is what one endpoint of the API calls things.
type dialect struct {
	path        string
	prefix      string // of ids
	object      string
	chunk       string // object of a stream's events
	open, close string // around the text of an event's choice
	role        string // the choice of the chunk before the first token
	last        string // the choice of the last chunk, before its finish_reason
	limit       int32  // of the answer, where the request sets none
	wrap        func(text string) map[string]any
}

var chat = &dialect{
	path:   "/v1/chat/completions",
	prefix: "chatcmpl-",
	object: "chat.completion",
	chunk:  "chat.completion.chunk",
	open:   `"delta":{"content":"`, close: `"}`,
	role:  `"delta":{"role":"assistant","content":null}`,
	last:  `"delta":{}`,
	limit: maxTokens,
	wrap: func(text string) map[string]any {
		return map[string]any{"message": map[string]any{"role": "assistant", "content": text}}
	},
}

// The default of 16 tokens is the API's own.
var completions = &dialect{
	path:   "/v1/completions",
	prefix: "cmpl-",
	object: "text_completion",
	chunk:  "text_completion",
	open:   `"text":"`, close: `"`,
	last:  `"text":""`,
	limit: 16,
	wrap:  func(text string) map[string]any { return map[string]any{"text": text} },
}

var dialects = []*dialect{chat, completions}

// An answer is one request's way back.
type answer struct {
	call
	manners
	server  *Server
	w       http.ResponseWriter
	ctx     context.Context
	dialect *dialect
	body    *body
	id      string
	words   uint64 // decides which they are
	created int64
	head    []byte // what every event begins with
	frames  frames
}

// vocabulary is a power of two of words without anything to escape in JSON.
var vocabulary = [...]string{
	"wave", "tank", "ship", "sea", "tide", "wind", "keel", "hull", "mast", "sail", "deck", "bow", "stern", "port", "rope", "knot",
	"gull", "reef", "sand", "salt", "foam", "swell", "calm", "storm", "drift", "haul", "pier", "dock", "crew", "watch", "bell", "light",
	"north", "south", "east", "west", "chart", "star", "moon", "cloud", "rain", "fog", "squall", "gale", "crest", "trough", "depth", "sound",
	"anchor", "chain", "oar", "raft", "canoe", "barge", "ferry", "buoy", "shore", "bay", "cape", "isle", "delta", "river", "lake", "brook",
}

// word returns the ith word. It depends on the prompt alone, so that a repeated
// prompt is answered alike and the prefix cache knows the answer too.
func (a *answer) word(i int32) string {
	return vocabulary[mix(a.words^uint64(i))%uint64(len(vocabulary))]
}

// text appends words from to to; one space stands between each and the next.
func (a *answer) text(dst []byte, from, to int32) []byte {
	for i := from; i < to; i++ {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, a.word(i)...)
	}
	return dst
}

// deliver gives the answer to the client as its tokens come.
func (a *answer) deliver() {
	a.created = time.Now().Unix()
	if a.delay > 0 && a.pause(a.delay) != nil {
		return
	}
	give := a.whole
	if a.body.Stream {
		give = a.stream
	}
	err := give()
	if err == nil && a.idleClose {
		err = a.hangUp()
	}
	if errors.Is(err, errCut) || errors.Is(err, errClosed) {
		// net/http's way of breaking a connection off without ending the response.
		panic(http.ErrAbortHandler)
	}
}

// whole gives the answer in one piece.
func (a *answer) whole() error {
	if err := a.follow(func(from, to int32) error { return nil }); err != nil {
		if !errors.Is(err, errTruncated) {
			return err
		}
		writeError(a.w, http.StatusInternalServerError, "internal_error", "broken off on purpose")
		return nil
	}
	choice := a.dialect.wrap(string(a.text(nil, 0, a.visible())))
	choice["index"], choice["finish_reason"] = 0, a.finish
	reply := map[string]any{
		"id": a.id, "object": a.dialect.object, "created": a.created, "model": a.model(), "choices": []any{choice},
	}
	if !a.noUsage {
		reply["usage"] = json.RawMessage(a.usage(nil, a.visible()))
	}
	writeJSON(a.w, http.StatusOK, reply)
	return nil
}

func (a *answer) model() string {
	if a.body.Model != "" {
		return a.body.Model
	}
	return a.server.cfg.Model
}

// visible returns how many tokens the client gets to see.
func (a *answer) visible() int32 {
	if a.empty {
		return 0
	}
	return a.Output
}

// follow calls give for each event's tokens as they come, and has the mishaps
// happen in between.
func (a *answer) follow(give func(from, to int32) error) error {
	sent, perEvent := int32(0), max(a.perEvent, 1)
	for sent < a.Output {
		if err := a.suffer(sent); err != nil {
			return err
		}
		to := min(sent+perEvent, a.Output)
		if err := a.await(to); err != nil {
			return err
		}
		if err := give(sent, to); err != nil {
			return err
		}
		sent = to
	}
	return a.suffer(sent)
}

// suffer has the mishaps that are due happen, each once.
func (a *answer) suffer(sent int32) error {
	rest := a.mishaps[:0]
	for _, m := range a.mishaps {
		if m.tokens > sent {
			rest = append(rest, m)
			continue
		}
		if err := m.act(a); err != nil {
			return err
		}
	}
	a.mishaps = rest
	return nil
}

// await waits for the token before to, and pings while it waits for the first.
func (a *answer) await(to int32) error {
	for a.pings > 0 && a.body.Stream && a.tokens.Load() == 0 {
		ctx, cancel := context.WithTimeout(a.ctx, a.pings)
		_, err := a.server.live.wait(ctx, &a.call, 1)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || a.ctx.Err() != nil {
			break
		}
		if err := a.frames.send([]byte(": ping\n\n")); err != nil {
			return err
		}
	}
	_, err := a.server.live.wait(a.ctx, &a.call, to)
	return err
}

// usage appends the usage object for an answer of n tokens.
func (a *answer) usage(dst []byte, n int32) []byte {
	n += a.miscount
	dst = append(dst, `{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(a.Prompt), 10)
	dst = append(dst, `,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(a.Prompt)+int64(n), 10)
	dst = append(dst, `,"prompt_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(a.Cached), 10)
	return append(dst, `}}`...)
}

// hangUp ends the response in good order and closes the connection under it,
// which net/http would have kept: it takes the connection over to do so.
func (a *answer) hangUp() error {
	rc := http.NewResponseController(a.w)
	if err := rc.Flush(); err != nil {
		return err
	}
	conn, _, err := rc.Hijack()
	if err != nil {
		return nil // HTTP/2 has no connection to close
	}
	if a.body.Stream {
		conn.Write([]byte("0\r\n\r\n")) // the end of a chunked body
	}
	return conn.Close()
}
