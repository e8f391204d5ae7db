package replay

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"wavetank/traces"
)

// A server answers each request after some time and notes when it was sent.
type server struct {
	service func(seq uint64) time.Duration
	prepare time.Duration // what preparing costs
	start   time.Time

	mu       sync.Mutex
	sent     map[uint64]time.Duration
	order    []uint64
	prepared map[uint64]time.Duration
	requests map[uint64]traces.Request
	live     int
	peak     int // of live
	ready    int // prepared and not sent
	peakSet  int // of ready
}

func newServer(service time.Duration) *server {
	return &server{
		service: func(uint64) time.Duration { return service },
		start:   time.Now(), sent: map[uint64]time.Duration{},
		prepared: map[uint64]time.Duration{}, requests: map[uint64]traces.Request{},
	}
}

type request struct {
	s    *server
	ctx  context.Context
	seq  uint64
	done chan traces.Outcome
}

func (s *server) Prepare(ctx context.Context, req *traces.Request) Call {
	time.Sleep(s.prepare)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prepared[req.Seq] = time.Since(s.start)
	s.requests[req.Seq] = *req
	s.ready++
	s.peakSet = max(s.peakSet, s.ready)
	return &request{s, ctx, req.Seq, make(chan traces.Outcome, 1)}
}

func (r *request) Send() {
	r.s.mu.Lock()
	r.s.sent[r.seq] = time.Since(r.s.start)
	r.s.order = append(r.s.order, r.seq)
	r.s.ready--
	r.s.live++
	r.s.peak = max(r.s.peak, r.s.live)
	r.s.mu.Unlock()
	go func() {
		timer := time.NewTimer(r.s.service(r.seq))
		defer timer.Stop()
		out := traces.Outcome{Status: traces.OK}
		select {
		case <-timer.C:
		case <-r.ctx.Done():
			out = traces.Outcome{Status: traces.Cancelled, Error: traces.Some("interrupted")}
		}
		r.s.mu.Lock()
		r.s.live--
		r.s.mu.Unlock()
		r.done <- out
	}()
}

func (r *request) Wait() traces.Outcome { return <-r.done }

// rows makes a trace of requests that arrive at the given times.
func rows(arrivals ...time.Duration) []traces.Record {
	recs := make([]traces.Record, len(arrivals))
	for i, at := range arrivals {
		recs[i].Request = traces.Request{
			Seq: uint64(i), Arrival: at,
			PromptTokens: traces.Some(int32(10)), OutputTokens: traces.Some(int32(10)),
		}
	}
	return recs
}

func every(gap time.Duration, n int) []traces.Record {
	at := make([]time.Duration, n)
	for i := range at {
		at[i] = time.Duration(i) * gap
	}
	return rows(at...)
}

// A book keeps the rows that were written.
type book struct{ recs []traces.Record }

func (b *book) Write(rec *traces.Record) error {
	b.recs = append(b.recs, *rec)
	return nil
}

// bySeq checks that no row was written twice, and returns them by their seq.
func (b *book) bySeq(t *testing.T) map[uint64]traces.Record {
	m := map[uint64]traces.Record{}
	for _, rec := range b.recs {
		if _, twice := m[rec.Seq]; twice {
			t.Errorf("row %d was written twice", rec.Seq)
		}
		if !slices.Contains(traces.Statuses, rec.Outcome.Status) || rec.Outcome.Status == traces.Unknown {
			t.Errorf("row %d has status %q", rec.Seq, rec.Outcome.Status)
		}
		m[rec.Seq] = rec
	}
	return m
}

// play runs recs against s and checks what holds for every run.
func play(t *testing.T, s Target, recs []traces.Record, o Options) (*book, Result) {
	t.Helper()
	var b book
	res, err := Run(t.Context(), s, traces.FromSlice(recs), &b, o)
	if err != nil {
		t.Fatal(err)
	}
	b.bySeq(t)
	if res.Read != int64(len(recs)) || res.Offered != int64(len(b.recs)) || res.Written != res.Offered || res.Read != res.Offered+res.NotOffered {
		t.Errorf("%+v with %d rows in and %d out", res, len(recs), len(b.recs))
	}
	return &b, res
}

func counts(recs []traces.Record) map[traces.Status]int {
	m := map[traces.Status]int{}
	for _, rec := range recs {
		m[rec.Outcome.Status]++
	}
	return m
}
