package openai

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/traces"
)

// raw serves connections by hand on 127.0.0.1.
func raw(t *testing.T, handle func(net.Conn)) *Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				handle(c)
			})
		}
	})
	target, err := New(Options{BaseURL: "http://" + l.Addr().String() + "/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		target.Close()
		l.Close()
		wg.Wait()
	})
	return target
}

const answerOfOneToken = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunked(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// llama.cpp's server closes the connection after an answer although it said that
// it would not, and uvicorn after five idle seconds. That is no failure of the
// server: a request that meets such a connection goes to another one.
func TestAClosedIdleConnectionFailsNobody(t *testing.T) {
	var taken atomic.Int64
	target := raw(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		taken.Add(1)
		fmt.Fprint(c, answerOfOneToken, chunked(hello), chunked(ending+done), "0\r\n\r\n")
	})
	for i := range 60 {
		if out := ask(t, target, row()); out.Status != traces.OK {
			t.Errorf("request %d: %+v", i, out)
		}
	}
	if taken.Load() != 60 {
		t.Errorf("%d of 60 requests reached the server", taken.Load())
	}
}

// A server that takes a request and drops it a while later has failed, and is not
// asked again behind everyone's back, be the connection new or used.
func TestALostRequestIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taken int
		target := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body(r)
			if taken++; taken > 1 {
				time.Sleep(2 * time.Second)
				stop(w, r)
			}
			stream(step{0, hello + ending + done})(w, r)
		}, Options{})
		if out := ask(t, target, row()); out.Status != traces.OK {
			t.Errorf("%+v", out)
		}
		synctest.Wait() // the connection is idle now
		out := ask(t, target, row())
		if out.Status != traces.Error || out.Error.V != "reset" || out.End != some(2*time.Second) || taken != 2 || target.Repeated() != 0 {
			t.Errorf("%+v, taken %d times, repeated %d times", out, taken, target.Repeated())
		}
	})
}

func TestRepeatedRequestsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taken int
		target := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body(r)
			if taken++; taken == 2 {
				stop(w, r)
			}
			stream(step{0, hello + ending + done})(w, r)
		}, Options{})
		ask(t, target, row())
		synctest.Wait()
		if out := ask(t, target, row()); out.Status != traces.OK || taken != 3 || target.Repeated() != 1 {
			t.Errorf("%+v, taken %d times, repeated %d times", out, taken, target.Repeated())
		}
	})
}

// A pool that is too small makes requests wait for each other.
func TestNoRequestWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 300
		var live, peak, dials atomic.Int64
		target := serve(t, func(w http.ResponseWriter, r *http.Request) {
			peak.Store(max(peak.Load(), live.Add(1)))
			defer live.Add(-1)
			stream(step{time.Second, hello}, step{time.Second, hello + ending + done})(w, r)
		}, Options{})
		dial := target.client.DialContext
		target.client.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			return dial(ctx, network, addr)
		}
		for range 2 {
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() {
					if out := ask(t, target, row()); out.FirstToken != some(time.Second) || out.LastToken != some(2*time.Second) {
						t.Errorf("%+v", out)
					}
				})
			}
			wg.Wait()
			synctest.Wait()
		}
		if peak.Load() != n || dials.Load() != n {
			t.Errorf("%d at once and %d connections, want %d", peak.Load(), dials.Load(), n)
		}
	})
}

// The key must not follow a redirect to another host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		target := serve(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			http.Redirect(w, r, "http://elsewhere/v1/chat/completions", http.StatusTemporaryRedirect)
		}, Options{Key: NewSecret("canary")})
		if out := ask(t, target, row()); out.Error.V != "redirect" || out.HTTPStatus != n32(307) || requests != 1 {
			t.Errorf("%+v, %d requests", out, requests)
		}
	})
}

// A proxy of the environment would be measured in the server's place.
func TestTheEnvironmentHasNoSay(t *testing.T) {
	if target := loopback(t, stream(), Options{}); target.client.Proxy != nil {
		t.Error("there is a proxy")
	}
}

// With the real clock and a real network nothing can be said of how long, only of
// what and in which order.
func TestLoopback(t *testing.T) {
	target := loopback(t, stream(step{time.Millisecond, role + hello}, step{time.Millisecond, hello}, step{0, ending + counts + done}), Options{})
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			out := ask(t, target, row())
			if out.Status != traces.OK || out.Events != n32(2) || out.OutputTokensSeen != n32(3) ||
				!(0 < out.FirstToken.V && out.FirstToken.V <= out.LastToken.V && out.LastToken.V <= out.End.V) {
				t.Errorf("%+v", out)
			}
		})
	}
	wg.Wait()
}

func BenchmarkRequestOf20Tokens(b *testing.B) {
	h := stream(step{0, role + repeat(hello, 20) + ending + counts + done})
	srv := newNetwork()
	s := &http.Server{Handler: h}
	go s.Serve(srv)
	defer s.Close()
	target, err := New(Options{BaseURL: "http://pipe/v1", Model: "m", Dial: srv.dial})
	if err != nil {
		b.Fatal(err)
	}
	defer target.Close()
	b.ReportAllocs()
	for b.Loop() {
		c := target.Prepare(b.Context(), row())
		c.Send()
		if out := c.Wait(); out.Status != traces.OK {
			b.Fatal(out)
		}
	}
}
