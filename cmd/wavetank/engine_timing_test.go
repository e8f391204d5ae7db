package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

// A timing is what llama.cpp says of a request, by its own clock.
type timing struct {
	PromptMS    float64 `json:"prompt_ms"`    // until the first token is there
	PredictedMS float64 `json:"predicted_ms"` // from there to the last
}

// timed holds our times of an answer against the server's. Ours include the way,
// and so they are never shorter.
func (r engineRun) timed(t *testing.T, server []timing) {
	if len(server) != len(r.came) {
		t.Fatalf("%d timings for %d rows", len(server), len(r.came))
	}
	var first, decode []float64
	for i, rec := range r.came {
		o, s := rec.Outcome, server[i]
		if ms(o.FirstToken.V) < s.PromptMS || ms(o.End.V) < s.PromptMS+s.PredictedMS {
			t.Errorf("row %d: first token at %v, end at %v; the server needed %+v", i, o.FirstToken.V, o.End.V, s)
		}
		first = append(first, ms(o.FirstToken.V)-s.PromptMS)
		decode = append(decode, ms(o.LastToken.V-o.FirstToken.V)-s.PredictedMS)
	}
	slices.Sort(first)
	slices.Sort(decode)
	t.Logf("ours less the server's, p50 and max: TTFT %.2f and %.2f ms, decode %.2f and %.2f ms", first[len(first)/2], first[len(first)-1], decode[len(decode)/2], decode[len(decode)-1])
	const bound = 50 // ms, for a busy machine
	if first[len(first)/2] > bound || max(decode[len(decode)/2], -decode[len(decode)/2]) > bound {
		t.Errorf("half of the rows differ by more than %d ms", bound)
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// listen puts a proxy before the server, which keeps the timings in the order of
// the requests.
func listen(t *testing.T, target string) (front string, timings func() []timing) {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var answers []*bytes.Buffer
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = u.Scheme, u.Host, u.Host
			if r.Out.Body == nil {
				return
			}
			// The incoming body closes when the answer begins, and a transport that still looks
			// for its end then breaks the answer off.
			body, err := io.ReadAll(r.In.Body)
			if err != nil {
				t.Error(err)
			}
			r.Out.Body = io.NopCloser(bytes.NewReader(body))
		},
		FlushInterval: -1,
		Transport:     &http.Transport{DisableKeepAlives: true}, // the server closes connections that it says it keeps
		ModifyResponse: func(resp *http.Response) error {
			if resp.Request.Method == http.MethodPost {
				answer := new(bytes.Buffer)
				mu.Lock()
				answers = append(answers, answer)
				mu.Unlock()
				resp.Body = struct {
					io.Reader
					io.Closer
				}{io.TeeReader(resp.Body, answer), resp.Body}
			}
			return nil
		},
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL + u.Path, func() (all []timing) {
		s.Close() // waits for the ends of all answers
		for _, answer := range answers {
			all = append(all, timingOf(t, answer.Bytes()))
		}
		return all
	}
}

func timingOf(t *testing.T, answer []byte) (s timing) {
	t.Helper()
	_, object, found := bytes.Cut(answer, []byte(`"timings":`))
	if err := json.NewDecoder(bytes.NewReader(object)).Decode(&s); err != nil || !found {
		t.Fatalf("no timings in an answer (%v):\n%s", err, answer)
	}
	return s
}
