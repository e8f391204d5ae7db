package sim

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A pipes is a listener and a dialer without a network: it lets HTTP run in a
// bubble of testing/synctest, where time stands still while anybody works.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- server
	return client, nil
}

// A bench is a sim server and a client of it, in a bubble.
type bench struct {
	sim    *Server
	pipes  *pipes
	client *http.Client
}

// inBubble runs f against a server of c. That it returns proves that nothing is
// left running after Close.
func inBubble(t *testing.T, c Config, f func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer(c)
		if err != nil {
			t.Fatal(err)
		}
		p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		transport := &http.Transport{DialContext: p.dial}
		server := &http.Server{Handler: s}
		done := make(chan struct{})
		go func() { server.Serve(p); close(done) }()
		defer func() {
			transport.CloseIdleConnections()
			s.Close()
			server.Close()
			<-done
		}()
		f(t, &bench{s, p, &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}})
	})
}

// A reply is what a client saw, with times since it sent the request.
type reply struct {
	status int
	header http.Header
	head   time.Duration // when the response's head came
	lines  []string      // not empty
	at     []time.Duration
	body   string
	err    error // of reading the body
}

func (b *bench) post(t *testing.T, path, body, fault string) (r reply) {
	t.Helper()
	start := time.Now()
	req, err := http.NewRequest("POST", "http://sim"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Sim-Fault", fault)
	req.Header.Set("X-Request-Id", "r1")
	req.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	res, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	r.status, r.header, r.head = res.StatusCode, res.Header, time.Since(start)
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		r.body += line
		if line = strings.TrimSpace(line); line != "" {
			r.lines, r.at = append(r.lines, line), append(r.at, time.Since(start))
		}
		if err == io.EOF {
			return r
		}
		if r.err = err; err != nil {
			return r
		}
	}
}

// An event is one of a stream.
type event struct {
	at      time.Duration
	Choices []struct {
		Delta struct {
			Role    string
			Content *string
		}
		Text         string
		FinishReason *string `json:"finish_reason"`
	}
	Usage *usage
	Error *struct{ Message string }
}

type usage struct {
	Prompt     int32 `json:"prompt_tokens"`
	Completion int32 `json:"completion_tokens"`
	Details    struct {
		Cached int32 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// told is what a stream said.
type told struct {
	text    string
	tokens  []time.Duration // of events with text
	finish  string
	usage   *usage
	failed  bool // an error object
	garbage int
	pings   int
	roles   int // role-only chunks
	done    bool
}

func (r *reply) read() (a told) {
	for i, line := range r.lines {
		data, ok := strings.CutPrefix(line, "data: ")
		var e event
		switch {
		case line == ": ping":
			a.pings++
		case !ok:
			a.garbage++
		case data == "[DONE]":
			a.done = true
		case json.Unmarshal([]byte(data), &e) != nil:
			a.garbage++
		default:
			e.at = r.at[i]
			a.take(&e)
		}
	}
	return a
}

func (a *told) take(e *event) {
	a.failed = a.failed || e.Error != nil
	if e.Usage != nil {
		a.usage = e.Usage
	}
	for _, c := range e.Choices {
		text := c.Text
		if c.Delta.Content != nil {
			text = *c.Delta.Content
		}
		if text != "" {
			a.text += text
			a.tokens = append(a.tokens, e.at)
		}
		if c.Delta.Role != "" && c.Delta.Content == nil {
			a.roles++
		}
		if c.FinishReason != nil {
			a.finish = *c.FinishReason
		}
	}
}

// chatOf is a streamed chat with that many tokens out.
func chatOf(text string, output int32) string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"max_tokens":%d,"min_tokens":%d,"ignore_eos":true,
		"stream":true,"stream_options":{"include_usage":true}}`, text, output, output)
}

func (u *usage) Cached() int32 { return u.Details.Cached }

func (b *bench) get(t *testing.T, path string) string {
	t.Helper()
	res, err := b.client.Get("http://sim" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d %v", path, res.StatusCode, err)
	}
	return string(body)
}
