package sim

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// faultTests says of every fault how it shows on the wire in a streamed chat of
// 40 prompt tokens and 10 tokens of answer.
var faultTests = map[string]struct {
	value string
	shows func(r *reply, a told) bool
}{
	"reject":            {"0", func(r *reply, _ told) bool { return r.status == 429 && r.header.Get("Retry-After") == "1" }},
	"error-500":         {"", func(r *reply, _ told) bool { return r.status == 500 && strings.Contains(r.body, `"error"`) }},
	"redirect":          {"/there", func(r *reply, _ told) bool { return r.status == 307 && r.header.Get("Location") == "/there" }},
	"slow-start":        {"2s", func(r *reply, a told) bool { return r.head >= 2*time.Second && whole(r, a) }},
	"cut-prompt":        {"2", func(r *reply, a told) bool { return a.usage.Prompt == 2 && whole(r, a) }},
	"ignore-ignore-eos": {"", func(r *reply, a told) bool { return a.finish == "stop" && len(a.tokens) < 10 && a.done }},
	"empty": {"", func(r *reply, a told) bool {
		return len(a.tokens) == 0 && a.finish == "stop" && a.usage.Completion == 0 && a.done
	}},
	"stall": {"3:5s", func(r *reply, a told) bool {
		return whole(r, a) && a.tokens[2] < time.Second && a.tokens[3] >= a.tokens[2]+5*time.Second
	}},
	"cut":          {"3", func(r *reply, a told) bool { return r.err == io.ErrUnexpectedEOF && len(a.tokens) == 3 }},
	"truncate":     {"3", func(r *reply, a told) bool { return r.err == nil && len(a.tokens) == 3 && a.finish == "" && !a.done }},
	"stream-error": {"3", func(r *reply, a told) bool { return r.status == 200 && a.failed && len(a.tokens) == 3 && !a.done }},
	"garbage":      {"3", func(r *reply, a told) bool { return a.garbage == 1 && whole(r, a) }},
	"no-role":      {"", func(r *reply, a told) bool { return a.roles == 0 && whole(r, a) }},
	"pings":        {"300us", func(r *reply, a told) bool { return a.pings == 1 && whole(r, a) }},
	"tokens-per-event": {"4", func(r *reply, a told) bool {
		return len(a.tokens) == 3 && a.usage.Completion == 10 && strings.Count(a.text, " ") == 9
	}},
	// The role and the first three tokens come with the third, and so on.
	"merge-frames": {"4", func(r *reply, a told) bool {
		return whole(r, a) && a.tokens[0] == a.tokens[2] && a.tokens[3] > a.tokens[2]
	}},
	"split-frames": {"7", func(r *reply, a told) bool { return whole(r, a) }}, // see TestSplitFrames
	"wrong-usage":  {"-3", func(r *reply, a told) bool { return a.usage.Completion == 7 && len(a.tokens) == 10 }},
	"no-usage":     {"", func(r *reply, a told) bool { return a.usage == nil && a.done }},
	"no-done":      {"", func(r *reply, a told) bool { return !a.done && a.finish == "length" && r.err == nil }},
	"idle-close":   {"", func(r *reply, a told) bool { return whole(r, a) }}, // see TestIdleClose
}

// whole says whether the answer's 10 tokens came, with a finish, usage and [DONE].
func whole(r *reply, a told) bool {
	return r.err == nil && r.status == 200 && len(a.tokens) == 10 && a.finish == "length" &&
		a.usage != nil && a.usage.Completion == 10 && a.done && !a.failed
}

// Every fault shows on the wire, by header and by flag, and nothing of it stays.
func TestEveryFaultShows(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("w ", 40))
	if len(faultTests) != len(Faults) {
		t.Errorf("%d tests of %d faults", len(faultTests), len(Faults))
	}
	for _, fault := range Faults {
		test, ok := faultTests[fault.Name]
		if !ok || fault.About == "" {
			t.Errorf("fault %s: no test, or nothing about it", fault.Name)
			continue
		}
		order := strings.TrimSuffix(fault.Name+"="+test.value, "=")
		c := testConfig
		c.MeanOutput = 2
		inBubble(t, c, func(t *testing.T, b *bench) {
			bad := b.post(t, chat.path, chatOf(text, 10), order)
			if !test.shows(&bad, bad.read()) {
				t.Errorf("%s does not show: %d %v\n%s", order, bad.status, bad.err, bad.body)
			}
			synctest.Wait() // or else idle-close befalls the next request, as it does in life
			good := b.post(t, chat.path, chatOf(text, 10), "")
			if a := good.read(); !whole(&good, a) || a.roles != 1 || a.garbage+a.pings > 0 {
				t.Errorf("after %s: %d %v\n%s", order, good.status, good.err, good.body)
			}
		})
		c.Faults = order
		inBubble(t, c, func(t *testing.T, b *bench) {
			if bad := b.post(t, chat.path, chatOf(text, 10), ""); !test.shows(&bad, bad.read()) {
				t.Errorf("%s as a flag does not show: %d %v\n%s", order, bad.status, bad.err, bad.body)
			}
		})
	}
}

// Answers in one piece break off too: without the connection, or with HTTP 500.
func TestFaultsOfWholeAnswers(t *testing.T) {
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		body := `{"messages":[{"content":"a b"}],"max_tokens":10,"ignore_eos":true}`
		for _, fault := range []string{"truncate=3", "stream-error=3"} {
			if r := b.post(t, chat.path, body, fault); r.status != 500 {
				t.Errorf("%s: %d %s", fault, r.status, r.body)
			}
		}
		for fault, want := range map[string]string{"wrong-usage=2": `"completion_tokens":12`, "empty": `"content":""`, "garbage=1": `"completion_tokens":10`, "no-usage": `"model":"sim"`} {
			if r := b.post(t, chat.path, body, fault); r.status != 200 || !strings.Contains(r.body, want) {
				t.Errorf("%s: %d %s", fault, r.status, r.body)
			}
		}
		if got, closed := b.raw(t, body, "cut=3"); len(got) > 0 || !closed {
			t.Errorf("cut: closed is %v, %q", closed, got)
		}
	})
}

// A bad order says which and why.
func TestBadOrders(t *testing.T) {
	for _, list := range []string{"nonsense", "cut", "cut=x", "stall=3", "stall=3:x", "empty=1", "cut=3@2", "cut=3@x", "cut=3@NaN"} {
		if _, err := parseFaults("no-done," + list); err == nil || !strings.Contains(err.Error(), list) {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// A share of requests is drawn from the seed: about as many as asked for, the
// same ones each time, and others for another fault.
func TestSharesAreDrawnFromTheSeed(t *testing.T) {
	const n = 10_000
	draw := func(list string) (hit []bool) {
		orders, err := parseFaults(list)
		if err != nil {
			t.Fatal(err)
		}
		s := &Server{cfg: Config{Seed: 5}, orders: orders}
		for i := range uint64(n) {
			m, err := s.manners(&http.Request{}, i)
			if err != nil {
				t.Fatal(err)
			}
			hit = append(hit, m.broken || m.empty)
		}
		return hit
	}
	a, again, other := draw("error-500@0.3"), draw("error-500@.3"), draw("empty@0.3")
	count, both := 0, 0
	for i := range a {
		if a[i] != again[i] {
			t.Fatal("two draws of one seed differ")
		}
		if a[i] {
			count++
			if other[i] {
				both++
			}
		}
	}
	// 3000 ± 4σ and 900 ± 4σ.
	if count < 2817 || count > 3183 || both < 785 || both > 1015 {
		t.Errorf("%d of %d hit, %d of them by the other fault too", count, n, both)
	}
}

// The queue's length decides about a rejection: with one request running and two
// waiting, the next one is too many.
func TestRejectionBeyondAQueue(t *testing.T) {
	c := testConfig
	c.MaxSeqs, c.Faults = 1, "reject=2"
	inBubble(t, c, func(t *testing.T, b *bench) {
		status := make(chan int, 4)
		for i := range 4 {
			go func() {
				time.Sleep(time.Duration(i) * 3 * time.Millisecond)
				r := b.post(t, chat.path, chatOf("a b", 100), "")
				status <- r.status
			}()
		}
		count := map[int]int{}
		for range 4 {
			count[<-status]++
		}
		if count[200] != 3 || count[429] != 1 {
			t.Errorf("%v", count)
		}
	})
}

// raw sends a request over a connection of its own and returns all that comes
// until the server closes it or nothing has come for a minute.
func (b *bench) raw(t *testing.T, body, fault string) (got []byte, closed bool) {
	t.Helper()
	conn, err := b.pipes.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: sim\r\nX-Sim-Fault: %s\r\nContent-Length: %d\r\n\r\n%s", chat.path, fault, len(body), body)
	for {
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		part := make([]byte, 4096)
		n, err := conn.Read(part)
		got = append(got, part[:n]...)
		if err != nil {
			nerr, ok := err.(net.Error)
			return got, !ok || !nerr.Timeout()
		}
	}
}

// llama-server announces keep-alive and closes the connection all the same; so
// does the fault idle-close, after a whole answer, streamed or not.
func TestIdleClose(t *testing.T) {
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		for fault, closes := range map[string]bool{"": false, "idle-close": true} {
			for body, end := range map[string]string{chatOf("a b", 3): "[DONE]\n\n\r\n0\r\n\r\n", `{"messages":[{"content":"a"}],"max_tokens":1}`: "}"} {
				got, closed := b.raw(t, body, fault)
				if closed != closes || !bytes.HasSuffix(got, []byte(end)) || bytes.Contains(got, []byte("Connection: close")) {
					t.Errorf("fault %q: closed is %v, the answer\n%s", fault, closed, got)
				}
			}
		}
	})
}

// Split frames leave in pieces of their own, whatever they cut through.
func TestSplitFrames(t *testing.T) {
	inBubble(t, testConfig, func(t *testing.T, b *bench) {
		got, _ := b.raw(t, chatOf("a b", 3), "split-frames=7")
		_, chunks, _ := bytes.Cut(got, []byte("\r\n\r\n"))
		pieces := 0
		for len(chunks) > 0 {
			var size int
			if _, err := fmt.Sscanf(string(chunks), "%x\r\n", &size); err != nil || size > 7 {
				t.Fatalf("%v, a chunk of %d bytes:\n%s", err, size, got)
			}
			chunks = chunks[len(fmt.Sprintf("%x\r\n", size))+size+2:]
			pieces++
		}
		if pieces < 100 {
			t.Errorf("%d pieces", pieces)
		}
	})
}
