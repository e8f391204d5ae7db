package sim

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// frames writes server-sent events, at once unless told to merge or split them.
type frames struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	merge int32 // events a write
	split int32 // bytes a write
	held  []byte
	count int32 // events held
}

func (f *frames) send(event []byte) error {
	f.held = append(f.held, event...)
	if f.count++; f.count < f.merge {
		return nil
	}
	return f.flush()
}

// flush writes what is held.
func (f *frames) flush() error {
	rest := f.held
	for len(rest) > 0 {
		n := len(rest)
		if f.split > 0 {
			n = min(n, int(f.split))
		}
		if _, err := f.w.Write(rest[:n]); err != nil {
			return err
		}
		if err := f.rc.Flush(); err != nil {
			return err
		}
		rest = rest[n:]
	}
	f.held, f.count = f.held[:0], 0
	return nil
}

// stream gives the answer as server-sent events: the role at once, then a chunk
// an event, the finish, the usage and [DONE].
func (a *answer) stream() error {
	h := a.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	a.w.WriteHeader(http.StatusOK)
	a.frames = frames{w: a.w, rc: http.NewResponseController(a.w), merge: a.merge, split: a.split}
	if err := a.frames.rc.Flush(); err != nil {
		return err
	}
	a.head = a.eventHead()
	err := a.events()
	if err == errTruncated {
		return a.frames.flush()
	}
	if flushed := a.frames.flush(); err == nil {
		return flushed
	}
	return err
}

func (a *answer) events() error {
	if a.dialect.role != "" && !a.noRole {
		if err := a.send(a.event(a.dialect.role, "", nil)); err != nil {
			return err
		}
	}
	if err := a.follow(a.sendTokens); err != nil {
		return err
	}
	return a.sendEnd()
}

// sendTokens sends one event with tokens from to to.
func (a *answer) sendTokens(from, to int32) error {
	if a.empty {
		return nil
	}
	choice := append([]byte(nil), a.dialect.open...)
	choice = append(a.text(choice, from, to), a.dialect.close...)
	return a.send(a.event(string(choice), "", a.running(to)))
}

// running returns the usage so far, if it was asked for in every event.
func (a *answer) running(n int32) []byte {
	if !a.body.StreamOptions.ContinuousUsageStats || a.noUsage {
		return nil
	}
	return a.usage(nil, n)
}

// sendEnd sends the finish, the usage and [DONE]. The usage of a chat stands in
// an event without choices and that of a completion beside the finish, because
// servers do both and a client must read both.
func (a *answer) sendEnd() error {
	whole, beside := []byte(nil), a.running(a.visible())
	if a.body.StreamOptions.IncludeUsage && !a.noUsage {
		whole = a.usage(nil, a.visible())
	}
	if a.dialect == completions && whole != nil {
		beside = whole
	}
	if err := a.send(a.event(a.dialect.last, a.finish, beside)); err != nil {
		return err
	}
	if a.dialect == chat && whole != nil {
		if err := a.send(a.closeEvent(append(a.head[:len(a.head):len(a.head)], ']'), whole)); err != nil {
			return err
		}
	}
	if a.noDone {
		return nil
	}
	return a.send([]byte("data: [DONE]\n\n"))
}

func (a *answer) send(event []byte) error { return a.frames.send(event) }

// eventHead returns what every event begins with, up to its choices.
func (a *answer) eventHead() []byte {
	b := append([]byte(`data: {"id":`), quote(a.id)...)
	b = append(b, `,"object":"`+a.dialect.chunk+`","created":`...)
	b = strconv.AppendInt(b, a.created, 10)
	b = append(b, `,"model":`...)
	b = append(b, quote(a.model())...)
	return append(b, `,"choices":[`...)
}

// event returns an event with one choice. No finish reason is null.
func (a *answer) event(choice, finish string, usage []byte) []byte {
	b := make([]byte, 0, len(a.head)+len(choice)+len(usage)+80)
	b = append(b, a.head...)
	b = append(b, `{"index":0,`...)
	b = append(b, choice...)
	b = append(b, `,"finish_reason":`...)
	if finish == "" {
		b = append(b, `null}]`...)
	} else {
		b = append(append(b, quote(finish)...), `}]`...)
	}
	return a.closeEvent(b, usage)
}

func (a *answer) closeEvent(b, usage []byte) []byte {
	if usage != nil {
		b = append(append(b, `,"usage":`...), usage...)
	}
	return append(b, "}\n\n"...)
}

func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	return b
}

// sendError is the mishap of an error inside a 200 stream.
func (a *answer) sendError() error {
	if !a.body.Stream {
		return errTruncated
	}
	raw, err := json.Marshal(errorBody(http.StatusInternalServerError, "internal_error", "broken on purpose"))
	if err != nil {
		return err
	}
	if err := a.send(append(append([]byte("data: "), raw...), "\n\n"...)); err != nil {
		return err
	}
	return errTruncated
}

// sendGarbage is the mishap of an event that is not JSON.
func (a *answer) sendGarbage() error {
	if !a.body.Stream {
		return nil
	}
	return a.send([]byte("data: {\"choices\":[{\"delta\":\n\n"))
}
