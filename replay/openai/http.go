package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"
)

const (
	// idle connections are let go before servers do it: uvicorn, and so vLLM, closes
	// them after 5 s.
	idleTimeout = 3 * time.Second
	// repeatWithin is how soon after it was taken from the idle ones a connection must
	// fail to count as one that the server had closed. Later than that the server
	// took the request and dropped it, which is its failure and must not be repaired.
	repeatWithin = time.Second
	// dialTimeout ends what net/http lets go on when the request that wanted the
	// connection has long given up.
	dialTimeout = 30 * time.Second
)

func newTransport(o *Options) *http.Transport {
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	return &http.Transport{
		DialContext:         dial,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 1 << 20, // a pool that is too small closes and opens under load
		IdleConnTimeout:     idleTimeout,
		// HTTP/2 would put all requests on one connection, with its limit of streams.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
}

// Close closes idle connections. Those in use close when their requests end.
func (t *Target) Close() { t.client.CloseIdleConnections() }

// request makes a request to path below the base URL.
func (t *Target) request(ctx context.Context, method, path string, body []byte) *http.Request {
	u := *t.base
	u.Path += path
	req := (&http.Request{Method: method, URL: &u, Header: t.o.Header.Clone(), Host: t.o.Header.Get("Host")}).WithContext(ctx)
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Del("Host")
	setDefault(req.Header, "User-Agent", "wavetank")
	if t.o.Key.reveal != nil {
		req.Header.Set("Authorization", "Bearer "+t.o.Key.reveal())
	}
	if body == nil {
		return req
	}
	setDefault(req.Header, "Content-Type", "application/json")
	// This tells net/http that the POST may be repeated when an idle connection turns
	// out to be dead. A key without a value is not sent.
	setDefault(req.Header, "Idempotency-Key")
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	return req
}

// again returns what net/http calls for the body before it repeats a request.
func (c *call) again(body []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		if time.Since(c.connected) > repeatWithin {
			return nil, errLost
		}
		return io.NopCloser(bytes.NewReader(body)), nil
	}
}

func setDefault(h http.Header, key string, values ...string) {
	if _, given := h[key]; !given {
		h[key] = values
	}
}

// traced returns a context that tells the call of its connections.
func (c *call) traced() context.Context {
	return httptrace.WithClientTrace(c.ctx, &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				c.tlsFailed.Store(true)
			}
		},
		GotConn: func(httptrace.GotConnInfo) {
			if c.connections.Add(1) == 1 {
				c.connected = time.Now()
				return
			}
			c.t.repeated.Add(1)
		},
	})
}
