package sim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// A Server is the engine behind the OpenAI API: POST /v1/chat/completions and
// /v1/completions (with and without streaming), GET /v1/models, /health and
// /metrics, the last under vLLM's names. A prompt has one token a word (as
// prompt.Words splits it), or those of its list of token ids; an answer has one
// word a token. It answers to every model name.
//
// Without ignore_eos an answer ends by itself after a random number of tokens,
// within min_tokens and max_tokens. The request header X-Sim-Fault adds to
// Config.Faults for one request. X-Request-Id is given back.
type Server struct {
	cfg    Config
	live   *live
	mux    *http.ServeMux
	orders []order
	serial atomic.Uint64
}

// NewServer starts the engine of c. Close ends it.
func NewServer(c Config) (*Server, error) {
	c, err := c.WithDefaults()
	if err != nil {
		return nil, err
	}
	orders, err := parseFaults(c.Faults)
	if err != nil {
		return nil, err
	}
	l, err := newLive(c)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: c, live: l, mux: http.NewServeMux(), orders: orders}
	for _, d := range dialects {
		s.mux.HandleFunc("POST "+d.path, func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, d) })
	}
	s.mux.HandleFunc("GET /v1/models", s.models)
	s.mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.live.writeMetrics(w, c.Model)
	})
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends the engine. Answers that are under way break off.
func (s *Server) Close() { s.live.close() }

// Counters returns the engine's account so far.
func (s *Server) Counters() Counters { return s.live.counters() }

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID          string `json:"id"`
		Object      string `json:"object"`
		Created     int64  `json:"created"`
		OwnedBy     string `json:"owned_by"`
		MaxModelLen int32  `json:"max_model_len"`
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data":   []model{{s.cfg.Model, "model", s.live.start.Unix(), "wavetank", s.cfg.MaxModelLen}},
	})
}

// complete answers a chat or a completion.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, d *dialect) {
	serial := s.serial.Add(1)
	id := cmp.Or(r.Header.Get("X-Request-Id"), strconv.FormatUint(serial, 16))
	w.Header().Set("X-Request-Id", id)
	b, err := readBody(w, r, maxBody)
	if err != nil {
		writeError(w, statusOf(err), "invalid_request_error", err.Error())
		return
	}
	m, err := s.manners(r, serial)
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	if m.forestalls(s, w, r) {
		return
	}
	a := &answer{server: s, w: w, ctx: r.Context(), dialect: d, body: b, manners: m, id: d.prefix + id}
	if err := s.plan(a, serial); err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	if err := s.live.submit(&a.call); err != nil {
		writeError(w, statusOf(err), "invalid_request_error", err.Error())
		return
	}
	defer s.live.abort(&a.call)
	a.deliver()
}

func statusOf(err error) int {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errClosed):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// plan makes the engine's request of a's body: the prompt's size and keys, and
// the answer's length, words and keys.
func (s *Server) plan(a *answer, serial uint64) error {
	keys := chain{size: s.cfg.BlockTokens}
	count := int32(0)
	add := func(token uint64) bool {
		keys.add(token)
		count++
		return count <= s.cfg.MaxModelLen && (!a.cut.Known || count < a.cut.V)
	}
	if a.dialect == chat {
		for i := range s.cfg.TemplateTokens {
			add(mix(^uint64(i)))
		}
	}
	a.body.tokens()(add)
	a.words = keys.last
	room := s.cfg.MaxModelLen - count
	limit, limited := a.body.limit()
	if !limited {
		limit = min(a.dialect.limit, room)
	}
	if limit > room || room < 1 {
		return fmt.Errorf("the model's context is %d tokens; max_tokens is %d and the prompt has at least %d",
			s.cfg.MaxModelLen, limit, count)
	}
	a.Prompt = count
	a.Output, a.finish = a.length(limit, stream(s.cfg.Seed, "answer length", serial).Float64(), s.cfg.MeanOutput)
	for i := range a.Output - 1 {
		keys.add(hash(a.word(i)))
	}
	a.Keys = keys.keys
	return nil
}

// length returns how many tokens the answer has and why it ends, with u uniform
// in [0, 1): the limit, or a geometric number of mean tokens if that is smaller.
func (a *answer) length(limit int32, u, mean float64) (int32, string) {
	if a.empty {
		return 1, "stop"
	}
	if a.body.IgnoreEOS && !a.deafToEOS {
		return limit, "length"
	}
	natural := 1 + math.Floor(math.Log1p(-u)/math.Log1p(-1/mean))
	if !a.deafToEOS {
		natural = max(natural, float64(a.body.MinTokens))
	}
	if natural >= float64(limit) {
		return limit, "length"
	}
	return int32(natural), "stop"
}

// writeError answers with an error in OpenAI's shape.
func writeError(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, errorBody(status, kind, message))
}

func errorBody(status int, kind, message string) map[string]any {
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": status}}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // every v is of types that marshal
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	w.Write(raw)
}

// pause waits for d of real time, or says why it did not.
func (a *answer) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-a.ctx.Done():
		return a.ctx.Err()
	case <-a.server.live.stop:
		return errClosed
	}
}
