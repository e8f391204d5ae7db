package main

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/replay"
	"wavetank/replay/openai"
	"wavetank/replay/sim"
	"wavetank/traces"
)

// firstRows reads the beginning of a public trace.
func firstRows(t *testing.T, name string, n int) ([]traces.Record, traces.Meta) {
	t.Helper()
	f, err := traces.Open(filepath.Join("..", "..", "testdata", "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recs := make([]traces.Record, n)
	for i := range recs {
		if err := f.Read(&recs[i]); err != nil {
			t.Fatal(err)
		}
	}
	return recs, f.Meta()
}

func collect(rows *[]traces.Record) traces.Writer {
	return traces.WriterFunc(func(rec *traces.Record) error {
		*rows = append(*rows, *rec)
		return nil
	})
}

// A replay measures what the engine did, to the nanosecond: in process and
// through the OpenAI API over net/http it sees what the same engine tells of the
// same trace in virtual time.
func TestReplayMeasuresTheEngine(t *testing.T) {
	for _, name := range []string{"azure-conv.arrow", "mooncake-conversation.arrow"} {
		recs, m := firstRows(t, name, 60)
		for i := range recs { // requests of one instant reach a server in any order
			recs[i].Arrival += time.Duration(i) * time.Millisecond
		}
		cfg := sim.Config{Model: "sim", BlockTokens: 32}
		var want []traces.Record
		if _, err := sim.Run(traces.FromSlice(recs), collect(&want), cfg, m.BlockTokens); err != nil {
			t.Fatal(err)
		}
		if name == "mooncake-conversation.arrow" && !slices.ContainsFunc(want, func(r traces.Record) bool { return r.Outcome.CachedTokens.V > 0 }) {
			t.Error("no prefix is found again: the cache is not tested")
		}
		t.Run("in process "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target, err := sim.NewTarget(cfg, m.BlockTokens)
				if err != nil {
					t.Fatal(err)
				}
				defer target.Close()
				compareRuns(t, play(t, target, recs), want)
			})
		})
		t.Run("HTTP "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine, err := sim.NewServer(cfg)
				if err != nil {
					t.Fatal(err)
				}
				l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
				server := &http.Server{Handler: engine}
				go server.Serve(l)
				target, err := openai.New(openai.Options{BaseURL: "http://sim/v1", Model: "sim", Salt: "s", BlockTokens: int(m.BlockTokens), Dial: l.dial})
				if err != nil {
					t.Fatal(err)
				}
				compareRuns(t, play(t, target, recs), want)
				target.Close()
				engine.Close()
				server.Close()
			})
		})
	}
}

func play(t *testing.T, target replay.Target, recs []traces.Record) []traces.Record {
	t.Helper()
	var got []traces.Record
	result, err := replay.Run(context.Background(), target, traces.FromSlice(recs), collect(&got), replay.Options{})
	if err != nil || result.Written != int64(len(recs)) {
		t.Fatalf("%+v, %v", result, err)
	}
	return got
}

func compareRuns(t *testing.T, got, want []traces.Record) {
	t.Helper()
	bySeq := func(a, b traces.Record) int { return int(a.Seq) - int(b.Seq) }
	slices.SortFunc(got, bySeq)
	slices.SortFunc(want, bySeq)
	for i := range want {
		g, w := got[i].Outcome, want[i].Outcome
		if g.Status != traces.OK || g.Sent != w.Sent || g.FirstToken != w.FirstToken || g.LastToken != w.LastToken || g.MaxGap != w.MaxGap {
			t.Fatalf("row %d: %s, sent %v, first %v, last %v, gap %v\nwant sent %v, first %v, last %v, gap %v", i,
				g.Status, g.Sent.V, g.FirstToken.V, g.LastToken.V, g.MaxGap.V, w.Sent.V, w.FirstToken.V, w.LastToken.V, w.MaxGap.V)
		}
		if g.CachedTokens != w.CachedTokens && g.CachedTokens.Known {
			t.Errorf("row %d: %d tokens cached, want %d", i, g.CachedTokens.V, w.CachedTokens.V)
		}
	}
}

// A pipeListener listens inside the process, since a bubble has no network.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
