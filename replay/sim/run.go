package sim

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"wavetank/traces"
)

// A Result tells of a Run.
type Result struct {
	Counters
	End     time.Duration    // of the last answer, since the trace's start
	Skipped map[string]int64 // rows that were not played, by Outcome.Error
	Refused int64            // rows that the engine could never answer (HTTP 400)
}

// Run plays a trace against the engine of c in virtual time, open loop, and
// writes every row with its outcome, in order of completion. blockTokens is what
// Meta.BlockTokens says; 0 means that the rows' Blocks are of no use. Memory is
// bounded by the requests in flight and the KV blocks.
//
// Rows must be sorted by Arrival. A row whose token counts are unknown or zero,
// or which a gateway's cache answered, is written as skipped. Think times, After
// and recorded cancellations are not played: a row arrives when it did and gets
// its OutputTokens. An error is one of c, r or w.
func Run(r traces.Reader, w traces.Writer, c Config, blockTokens int32) (Result, error) {
	e, err := NewEngine(c)
	if err != nil {
		return Result{}, err
	}
	run := &virtual{engine: e, src: r, dst: w, blockTokens: int64(blockTokens)}
	run.result.Skipped = map[string]int64{}
	err = run.play()
	run.result.Counters, run.result.End = e.Counters(), e.Now()
	return run.result, err
}

// A virtual is a run in virtual time.
type virtual struct {
	engine      *Engine
	src         traces.Reader
	dst         traces.Writer
	blockTokens int64
	result      Result
	next        *flight   // read, not yet submitted; nil after the last
	spare       []*flight // to be used again
}

// A flight is a row on its way through the engine.
type flight struct {
	Request
	rec traces.Record
}

func (v *virtual) play() error {
	if err := v.read(); err != nil {
		return err
	}
	for {
		for v.next != nil && (v.engine.Idle() || v.next.rec.Arrival <= v.engine.Now()) {
			if err := v.submit(); err != nil {
				return err
			}
		}
		if v.engine.Idle() {
			return nil
		}
		_, emitted := v.engine.Step()
		for _, r := range emitted {
			if !r.Done() {
				continue
			}
			f := r.Data.(*flight)
			f.report(&f.rec.Outcome)
			if err := v.write(f); err != nil {
				return err
			}
		}
	}
}

// read fills next.
func (v *virtual) read() error {
	last := time.Duration(math.MinInt64)
	if v.next != nil {
		last = v.next.rec.Arrival
	}
	f := v.takeSpare()
	err := v.src.Read(&f.rec)
	if errors.Is(err, io.EOF) {
		v.next = nil
		return nil
	}
	if err != nil {
		return err
	}
	if f.rec.Arrival < last {
		return fmt.Errorf("sim: row seq %d arrives at %v, after a row of %v; sort the trace first", f.rec.Seq, f.rec.Arrival, last)
	}
	v.next = f
	return nil
}

func (v *virtual) takeSpare() *flight {
	if n := len(v.spare); n > 0 {
		f := v.spare[n-1]
		v.spare = v.spare[:n-1]
		return f
	}
	return &flight{}
}

// submit hands next to the engine, or writes why it cannot, and reads on.
func (v *virtual) submit() error {
	f := v.next
	reason := unplayable(&f.rec.Request, &f.rec.Outcome)
	f.rec.Outcome = traces.Outcome{}
	if reason != "" {
		v.result.Skipped[reason]++
		f.rec.Outcome.Status, f.rec.Outcome.Error = traces.Skipped, traces.Some(reason)
		return errors.Join(v.write(f), v.read())
	}
	v.prepare(f)
	o := &f.rec.Outcome
	o.Due, o.Sent = traces.Some(f.rec.Arrival), traces.Some(f.rec.Arrival)
	if v.engine.Submit(f.rec.Arrival, &f.Request) != nil {
		v.result.Refused++
		refuse(o)
		return errors.Join(v.write(f), v.read())
	}
	return v.read()
}

// prepare makes f's engine request, in the memory of the one that f served before.
func (v *virtual) prepare(f *flight) {
	q := &f.rec.Request
	f.Request = Request{
		Prompt: q.PromptTokens.V,
		Output: q.OutputTokens.V,
		Data:   f,
		Keys:   f.Keys[:0],
		blocks: f.blocks[:0],
	}
	if v.blockTokens > 0 {
		f.Keys = traceKeys(f.Keys, q.Blocks, v.blockTokens, int64(f.Prompt), int64(v.engine.cfg.BlockTokens))
	}
}

// write writes f's row, after which f may be used again.
func (v *virtual) write(f *flight) error {
	v.spare = append(v.spare, f)
	return v.dst.Write(&f.rec)
}

// unplayable says why a row cannot be played, or nothing.
func unplayable(q *traces.Request, o *traces.Outcome) string {
	for _, u := range []struct {
		is     bool
		reason string
	}{
		{o.GatewayCache.V, "gateway_cache"},
		{!q.PromptTokens.Known, "unknown_prompt_tokens"},
		{!q.OutputTokens.Known, "unknown_output_tokens"},
		{q.PromptTokens.V < 1, "no_prompt_tokens"},
		{q.OutputTokens.V < 1, "no_output_tokens"},
	} {
		if u.is {
			return u.reason
		}
	}
	return ""
}

// refuse says of a request what a server's HTTP 400 would.
func refuse(o *traces.Outcome) {
	o.Status, o.Error, o.HTTPStatus = traces.Error, traces.Some("http_4xx"), traces.Some[int32](400)
}

// report says of a whole answer what its client would.
func (r *Request) report(o *traces.Outcome) {
	o.Status, o.HTTPStatus, o.FinishReason = traces.OK, traces.Some[int32](200), traces.Some("length")
	o.FirstToken = traces.Some(r.First - r.Arrived)
	o.FirstOutput = o.FirstToken
	o.LastToken = traces.Some(r.Last - r.Arrived)
	o.End = o.LastToken
	o.Queue = traces.Some(r.Admitted - r.Arrived)
	o.Prefill = traces.Some(r.First - r.Admitted)
	o.Decode = traces.Some(r.Last - r.First)
	o.PromptTokensSeen, o.CachedTokens = traces.Some(r.Prompt), traces.Some(r.Cached)
	o.OutputTokensSeen, o.TokenBasis = traces.Some(r.Output), traces.Some(traces.BasisUsage)
	o.Events = traces.Some(r.Output)
	if r.Output > 1 {
		o.MaxGap = traces.Some(r.MaxGap)
	}
}
