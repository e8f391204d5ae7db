package openai

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/traces"
)

// vllm-project/aibrix#2567: a stream that stalled until the client gave up was
// counted as a success.
func TestTimeoutKeepsWhatCameBefore(t *testing.T) {
	for _, c := range []struct {
		h     http.HandlerFunc
		class string
		end   time.Duration
		n     int32
	}{
		{stream(step{ms, hello}, step{ms, hello}, step{time.Hour, hello}), "timeout_total", time.Second, 2},
		{stream(step{ms, role}, step{time.Hour, hello}), "timeout_first_token", time.Second, 0},
		{func(_ http.ResponseWriter, r *http.Request) { body(r); <-r.Context().Done() }, "timeout_first_token", time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			req := row()
			req.Timeout = some(time.Second)
			out := ask(t, serve(t, c.h, Options{}), req)
			if out.Status != traces.Timeout || out.Error.V != c.class || out.End != some(c.end) || out.Events.V != c.n {
				t.Errorf("%+v, want %s", out, c.class)
			}
		})
	}
}

func TestTimeoutOfAConnectionThatIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target, err := New(Options{BaseURL: "http://pipe/v1", Model: "m", Dial: func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(time.Minute)
			return nil, syscall.ETIMEDOUT
		}})
		if err != nil {
			t.Fatal(err)
		}
		req := row()
		req.Timeout = some(time.Second)
		if out := ask(t, target, req); out.Status != traces.Timeout || out.Error.V != "timeout_connect" || out.End != some(time.Second) {
			t.Errorf("%+v", out)
		}
		time.Sleep(time.Minute)
	})
}

// NVIDIA/TensorRT-LLM#16445: one request was counted both as cancelled and as
// timed out.
func TestCancelledAndTimeoutAreExactlyOne(t *testing.T) {
	for _, c := range []struct {
		cancel, timeout time.Duration
		want            traces.Status
	}{
		{time.Second, time.Second, traces.Cancelled},
		{time.Second, 2 * time.Second, traces.Cancelled},
		{2 * time.Second, time.Second, traces.Timeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			gone := make(chan time.Duration, 1)
			start := time.Now()
			target := serve(t, func(w http.ResponseWriter, r *http.Request) {
				stream(step{ms, hello}, step{time.Hour, hello})(w, r)
				gone <- time.Since(start)
			}, Options{})
			req := row()
			req.Cancel, req.Timeout = some(c.cancel), some(c.timeout)
			out := ask(t, target, req)
			if out.Status != c.want || out.End != some(time.Second) || out.Events != n32(1) || out.TokenBasis.V != traces.BasisEvents {
				t.Errorf("cancel at %v, timeout %v: %+v", c.cancel, c.timeout, out)
			}
			if at := <-gone; at != time.Second {
				t.Errorf("the server saw the client go at %v", at)
			}
		})
	}
}

func TestClientHangsUpAfterTheRecordedTokens(t *testing.T) {
	for n, want := range map[int32]traces.Status{0: traces.Cancelled, 1: traces.Cancelled, 2: traces.Cancelled, 3: traces.OK} {
		synctest.Test(t, func(t *testing.T) {
			req := row()
			req.CancelTokens = n32(n)
			last := `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n"
			out := ask(t, serve(t, stream(step{ms, hello}, step{ms, hello}, step{ms, last}, step{ms, done}), Options{}), req)
			if out.Status != want || out.Events != n32(n) {
				t.Errorf("%d tokens: %+v", n, out)
			}
		})
	}
}

func TestEndOfTheRunIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c := serve(t, stream(step{ms, hello}, step{time.Hour, hello}), Options{}).Prepare(ctx, row())
		c.Send()
		if out := c.Wait(); out.Status != traces.Cancelled || out.Error.V != "interrupted" || out.End != some(time.Second) {
			t.Errorf("%+v", out)
		}
	})
}

// A server that keeps the connection open after [DONE] holds nobody.
func TestDoneIsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := ask(t, serve(t, stream(step{ms, hello + done}, step{time.Hour, ""}), Options{}), row())
		if out.Status != traces.OK || out.End != some(ms) {
			t.Errorf("%+v", out)
		}
		time.Sleep(2 * time.Second)
	})
}

func TestFailuresOfTheWayThere(t *testing.T) {
	for _, c := range []struct {
		err    error
		status traces.Status
		class  string
	}{
		{syscall.ECONNREFUSED, traces.Error, "connect"},
		{&net.DNSError{Err: "no such host"}, traces.Error, "connect"},
		{syscall.EMFILE, traces.Dropped, "files"},
		{syscall.EADDRNOTAVAIL, traces.Dropped, "ports"},
	} {
		target, err := New(Options{BaseURL: "http://pipe/v1", Model: "m", Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: c.err}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if out := ask(t, target, row()); out.Status != c.status || out.Error.V != c.class {
			t.Errorf("%v: %+v", c.err, out)
		}
	}
	target := loopback(t, stream(), Options{})
	target.base.Scheme = "https"
	if out := ask(t, target, row()); out.Status != traces.Error || out.Error.V != "tls" {
		t.Errorf("plain server: %+v", out)
	}
	srv := httptest.NewUnstartedServer(stream())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	target.base.Host = srv.Listener.Addr().String()
	if out := ask(t, target, row()); out.Status != traces.Error || out.Error.V != "tls" {
		t.Errorf("a certificate of nobody: %+v", out)
	}
}
