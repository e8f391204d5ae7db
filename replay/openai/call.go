package openai

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"wavetank/traces"
)

// Why a request of ours is broken off: causes of the end of a call's context. Any
// other cause is the run's end.
var (
	errTimeout = errors.New("timeout")
	errHungUp  = errors.New("the client hung up, as recorded")
)

// errLost ends a request that net/http would repeat and may not.
var errLost = errors.New("the connection was lost with the request on it")

// A call is one request on its way.
type call struct {
	t      *Target
	req    *traces.Request
	http   *http.Request // nil: it cannot be sent, and out says why
	ctx    context.Context
	hangUp context.CancelCauseFunc
	sent   time.Time
	out    traces.Outcome
	detail string        // the beginning of an error's body
	done   chan struct{} // closed when out is final

	connections atomic.Int32
	connected   time.Time // of the first
	tlsFailed   atomic.Bool
}

// Send starts the request.
func (c *call) Send() {
	if c.http == nil {
		close(c.done)
		return
	}
	c.sent = time.Now()
	go c.run()
}

// Wait returns the outcome.
func (c *call) Wait() traces.Outcome {
	<-c.done
	return c.out
}

func (c *call) run() {
	defer c.hangUp(nil)
	if at, cause := c.limit(); at.Known {
		timer := time.AfterFunc(at.V-time.Since(c.sent), func() { c.hangUp(cause) })
		defer timer.Stop()
	}
	resp, err := c.t.client.RoundTrip(c.http)
	if err != nil {
		c.out.End = traces.Some(time.Since(c.sent))
		c.out.Status, c.out.Error = c.unanswered(err)
		close(c.done)
		return
	}
	defer resp.Body.Close()
	c.out.HTTPStatus = traces.Some(int32(resp.StatusCode))
	if status, class := refusal(resp); class != "" {
		c.refused(resp.Body, status, class)
		return
	}
	a := c.newAnswer()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "application/json" {
		err = a.readWhole(resp.Body)
	} else {
		err = a.readStream(resp.Body)
	}
	c.out = a.outcome(c.brokenOff(), err)
	close(c.done)
	if err == errDone {
		// What follows [DONE] is the end of the chunked body. Taking it lets the connection
		// be used again; a server that withholds it may not hold us.
		timer := time.AfterFunc(time.Second, func() { c.hangUp(nil) })
		defer timer.Stop()
		io.Copy(io.Discard, resp.Body)
	}
}

// limit returns the moment at which the client of this request gives up, and
// whether by its timeout or by hanging up. The earlier is the only one that
// happens; of two at once, the hanging up, which is what was recorded.
func (c *call) limit() (traces.Opt[time.Duration], error) {
	if cancel := c.req.Cancel; cancel.Known && cancel.V <= c.req.Timeout.Or(cancel.V) {
		return cancel, errHungUp
	}
	return c.req.Timeout, errTimeout
}

// brokenOff returns the cause for which we broke the request off, or nil.
func (c *call) brokenOff() error { return context.Cause(c.ctx) }

// unanswered classifies a request that got no response.
func (c *call) unanswered(err error) (traces.Status, traces.Opt[string]) {
	connected := c.connections.Load() > 0
	switch cause := c.brokenOff(); {
	case cause == errTimeout && !connected:
		return traces.Timeout, traces.Some("timeout_connect")
	case cause != nil:
		return broken(cause, false)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return traces.Dropped, traces.Some("files") // ours ran out, which says nothing of the server
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return traces.Dropped, traces.Some("ports")
	case c.tlsFailed.Load():
		return traces.Error, traces.Some("tls")
	case !connected:
		return traces.Error, traces.Some("connect")
	}
	return traces.Error, traces.Some("reset")
}

// broken classifies a request that we broke off.
func broken(cause error, begun bool) (traces.Status, traces.Opt[string]) {
	switch {
	case cause == errHungUp:
		return traces.Cancelled, traces.Opt[string]{}
	case cause == errTimeout && begun:
		return traces.Timeout, traces.Some("timeout_total")
	case cause == errTimeout:
		return traces.Timeout, traces.Some("timeout_first_token")
	}
	return traces.Cancelled, traces.Some("interrupted")
}

// refusal classifies a response by its head; no class: an answer follows.
func refusal(resp *http.Response) (traces.Status, string) {
	switch code := resp.StatusCode; {
	case code < 300:
		return traces.OK, ""
	case code < 400:
		return traces.Error, "redirect"
	case code == http.StatusTooManyRequests:
		return traces.Rejected, "http_429"
	case code < 500:
		return traces.Error, "http_4xx"
	case code == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		return traces.Rejected, "http_5xx"
	}
	return traces.Error, "http_5xx"
}

// refused ends the call with an error response, whose body is read so that the
// connection can be used again.
func (c *call) refused(body io.Reader, status traces.Status, class string) {
	text, _ := io.ReadAll(io.LimitReader(body, 64<<10))
	c.detail = c.t.said(text)
	c.out.End = traces.Some(time.Since(c.sent))
	c.out.Status, c.out.Error = status, traces.Some(class)
	close(c.done)
}
