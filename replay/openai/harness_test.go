package openai

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"wavetank/traces"
)

// A network is a listener whose connections are pipes, so that net/http runs in
// a testing/synctest bubble.
type network struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newNetwork() *network {
	return &network{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case n.conns <- theirs:
		return ours, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve serves h in the bubble and returns a target for it.
func serve(t *testing.T, h http.HandlerFunc, o Options) *Target {
	t.Helper()
	n := newNetwork()
	srv := &http.Server{Handler: h}
	go srv.Serve(n)
	o.Dial = n.dial
	if o.BaseURL == "" {
		o.BaseURL = "http://pipe/v1"
	}
	if o.Model == "" {
		o.Model = "m"
	}
	target, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		target.Close()
		srv.Close()
	})
	return target
}

// A step is what a server writes after a pause.
type step struct {
	after time.Duration
	text  string
}

// stream answers with steps.
func stream(steps ...step) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		for _, s := range steps {
			select {
			case <-time.After(s.after):
			case <-req.Context().Done():
				return
			}
			io.WriteString(w, s.text)
			w.(http.Flusher).Flush()
		}
	}
}

// stop breaks a connection off as a server does that dies.
func stop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func then(hs ...http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		for _, h := range hs {
			h(w, req)
		}
	}
}

// The events of a server of ours.
const (
	role   = `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}` + "\n\n"
	hello  = `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	ending = `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n"
	counts = `data: {"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":30,"total_tokens":33,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":16}}}` + "\n\n"
	done   = "data: [DONE]\n\n"
)

func delta(fields string) string {
	return `data: {"choices":[{"index":0,"delta":{` + fields + `}}]}` + "\n\n"
}

// row is a request for 3 tokens after 30.
func row() *traces.Request {
	return &traces.Request{Seq: 7, PromptTokens: traces.Some[int32](30), OutputTokens: traces.Some[int32](3)}
}

// ask sends one request and returns its outcome.
func ask(t *testing.T, target *Target, req *traces.Request) traces.Outcome {
	t.Helper()
	c := target.Prepare(t.Context(), req)
	c.Send()
	return c.Wait()
}

// loopback serves h on 127.0.0.1 and returns a target for it.
func loopback(t *testing.T, h http.HandlerFunc, o Options) *Target {
	t.Helper()
	srv := httptest.NewServer(h)
	o.BaseURL, o.Model = srv.URL+"/v1/", "m"
	target, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		target.Close()
		srv.Close()
	})
	return target
}

func body(req *http.Request) string {
	b, _ := io.ReadAll(req.Body)
	return string(b)
}

func some(d time.Duration) traces.Opt[time.Duration] { return traces.Some(d) }

func n32(n int32) traces.Opt[int32] { return traces.Some(n) }

var repeat = strings.Repeat
