package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"wavetank/traces"
)

// A request is what loads a server: when it comes and how much it asks for.
type request struct {
	at             time.Duration
	prompt, output int32
}

// A trace is requests in the order of their arrival.
type trace []request

func readTrace(path string) (trace, error) {
	f, err := traces.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := collect(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(t) < 2 || t.span() == 0 {
		return nil, fmt.Errorf("%s: %d requests in %v are too few to compare", path, len(t), t.span())
	}
	return t.fromZero(), nil
}

// collect reads the requests that have both lengths: the others load no server.
func collect(r traces.Reader) (t trace, err error) {
	for rec, err := range traces.All(r) {
		if err != nil {
			return nil, err
		}
		if rec.PromptTokens.V > 0 && rec.OutputTokens.V > 0 {
			t = append(t, request{rec.Arrival, rec.PromptTokens.V, rec.OutputTokens.V})
		}
	}
	return t, nil
}

func (t trace) reader() traces.Reader {
	next := 0
	return traces.ReaderFunc(func(rec *traces.Record) error {
		if next == len(t) {
			return io.EOF
		}
		q := t[next]
		*rec = traces.Record{Outcome: traces.Outcome{Status: traces.Unknown}}
		rec.Seq, rec.Arrival = uint64(next), q.at
		rec.PromptTokens, rec.OutputTokens = traces.Some(q.prompt), traces.Some(q.output)
		next++
		return nil
	})
}

func (t trace) span() time.Duration {
	if len(t) == 0 {
		return 0
	}
	return t[len(t)-1].at - t[0].at
}

// rate is in requests a second.
func (t trace) rate() float64 { return float64(len(t)) / t.span().Seconds() }

// gaps are the pauses between arrivals in seconds.
func (t trace) gaps() []float64 {
	out := make([]float64, len(t)-1)
	for i := range out {
		out[i] = (t[i+1].at - t[i].at).Seconds()
	}
	return out
}

func (t trace) prompts() []float64 {
	return t.column(func(q request) float64 { return float64(q.prompt) })
}
func (t trace) outputs() []float64 {
	return t.column(func(q request) float64 { return float64(q.output) })
}

func (t trace) column(value func(request) float64) []float64 {
	out := make([]float64, len(t))
	for i, q := range t {
		out[i] = value(q)
	}
	return out
}

// moments are the mean and the standard deviation.
func moments(xs []float64) (mean, sd float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		sd += (x - mean) * (x - mean) / float64(len(xs))
	}
	return mean, math.Sqrt(sd)
}
