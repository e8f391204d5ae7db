// Package openai plays requests against servers that speak the chat completions
// or the completions API of OpenAI, with answers streamed as server-sent events.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"wavetank/traces"
)

// Options say where requests go and how they are put. The zero value lacks only
// BaseURL.
type Options struct {
	BaseURL     string      // http or https, ending where /chat/completions begins: http://127.0.0.1:8000/v1
	API         API         // of requests whose body was not kept; empty is Chat
	Model       string      // in place of the model that a request names; empty leaves that
	Key         Secret      // sent as a bearer token
	Header      http.Header // added to every request
	Salt        string      // of prompts: equal salts give equal prompts
	BlockTokens int         // tokens a block of the trace; 0: unknown, and prompts share nothing
	Overhead    int         // tokens that the server adds to a prompt of ours; Calibrate finds it
	Dialect     Dialect     // how an answer's length is fixed; empty is VLLM
	KeepGaps    bool        // keep every pause between tokens in Outcome.Gaps

	// Dial opens connections; nil is a net.Dialer. It is where a wire that gates and
	// stamps the bytes joins, and how a test stays off the network.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// An API is one of the two that a prompt can be put in, by its path below BaseURL.
type API string

// The APIs, by the names that a trace gives them.
const (
	Chat        API = "chat"
	Completions API = "completions"
)

var paths = map[API]string{Chat: "/chat/completions", Completions: "/completions"}

// A Dialect says how a server is told to answer with an exact number of tokens.
type Dialect string

// The dialects.
const (
	VLLM   Dialect = "vllm"   // max_tokens, min_tokens and ignore_eos
	OpenAI Dialect = "openai" // max_tokens alone: answers may be shorter
)

// A Target sends requests to one server, each as soon as its Send is called and on
// a connection of its own: however many are open, none waits for another. It is a
// replay.Target.
//
// Times of an Outcome count from Send, and Send comes right after the pacer's
// stamp: what the connection takes to be made and the request to be written is in
// the TTFT, not hidden before it. Arrivals are stamped when net/http hands the
// bytes over, before they are parsed.
//
// Nothing is followed (a redirect is an error), compressed, or sent through a
// proxy of the environment. A request is repeated in one case: when its connection,
// taken from among the idle ones, turns out to have been closed by the server;
// Repeated counts that.
type Target struct {
	o        Options
	base     *url.URL
	client   *http.Transport
	overhead atomic.Int64
	repeated atomic.Int64
}

// New returns a Target, or an error that says which option is wrong.
func New(o Options) (*Target, error) {
	if o.API == "" {
		o.API = Chat
	}
	if o.Dialect == "" {
		o.Dialect = VLLM
	}
	base, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
	switch {
	case err != nil:
		return nil, errors.New("target: the URL cannot be read") // err would show it, and what is secret in it
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("target %s: want a URL like http://127.0.0.1:8000/v1", base.Redacted())
	case base.User != nil || base.RawQuery != "":
		return nil, fmt.Errorf("target %s: want a URL without user and query", base.Host)
	case paths[o.API] == "":
		return nil, fmt.Errorf("target: no API %q: want %s or %s", o.API, Chat, Completions)
	case lengths[o.Dialect] == nil:
		return nil, fmt.Errorf("target: no dialect %q: want %s or %s", o.Dialect, VLLM, OpenAI)
	}
	t := &Target{o: o, base: base, client: newTransport(&o)}
	t.overhead.Store(int64(o.Overhead))
	return t, nil
}

// Repeated returns how many requests were sent again because the server had closed
// the idle connection that they were first written to.
func (t *Target) Repeated() int64 { return t.repeated.Load() }

// Prepare renders req: its kept Body as it is but for the model's name, or else a
// prompt of its PromptTokens and Blocks, an answer of its OutputTokens, and its
// Params. Media are not sent.
//
// The Call gives up at req.Timeout and hangs up at req.Cancel, whichever is
// first, or after req.CancelTokens token-bearing events. Its Outcome has one of
// these statuses and error classes:
//
//	ok, empty
//	truncated  none (the stream ended in good order), reset
//	error      http_4xx, http_5xx, redirect, connect, tls, reset (no response came),
//	           stream_error (an error within a 200), malformed
//	rejected   http_429, http_5xx (503 with Retry-After)
//	timeout    timeout_connect, timeout_first_token, timeout_total
//	cancelled  none (as recorded), interrupted (ctx ended)
//	dropped    files, ports (this machine has no more), endpoint (a kept body of
//	           another API), body (a kept body that is not one of its API), params (no
//	           JSON object), model (nobody named one)
//
// Tokens are counted as usage says, where usage came with or after the last token,
// and else by events.
func (t *Target) Prepare(ctx context.Context, req *traces.Request) interface {
	Send()
	Wait() traces.Outcome
} {
	return t.prepare(ctx, req)
}

func (t *Target) prepare(ctx context.Context, req *traces.Request) *call {
	c := &call{t: t, req: req, done: make(chan struct{})}
	api, body, err := t.render(req)
	if err != nil {
		c.out = traces.Outcome{Status: traces.Dropped, Error: traces.Some(err.Error())}
		return c
	}
	c.ctx, c.hangUp = context.WithCancelCause(ctx)
	c.http = t.request(c.traced(), http.MethodPost, paths[api], body)
	c.http.GetBody = c.again(body)
	return c
}
