package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// An input is a trace, or a log that is read as one. Its Meta is whole only when
// its rows have been read.
type input interface {
	traces.Reader
	Meta() traces.Meta
	Name() string
	Close() error
}

// openTrace opens what must be a trace by now.
func (e *env) openTrace(path string) (*traces.File, error) {
	f, err := e.openFile(path)
	if errors.Is(err, traces.ErrNotTrace) {
		return nil, hint(err, "make a trace of a log first: wavetank convert %s -o t.arrow", path)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range f.Warnings() {
		e.warn("%s: %s", f.Name(), w)
	}
	return f, nil
}

func (e *env) openFile(path string) (*traces.File, error) {
	if path == "-" {
		return traces.OpenReader(e.stdin, "standard input")
	}
	return traces.Open(path)
}

// openInput opens a trace or a log.
func (e *env) openInput(path string, o formats.Options) (input, error) {
	if path == "-" {
		return e.openStdin(o)
	}
	f, err := traces.Open(path)
	if err == nil {
		for _, w := range f.Warnings() {
			e.warn("%s: %s", f.Name(), w)
		}
		return f, nil
	}
	if !errors.Is(err, traces.ErrNotTrace) {
		return nil, err
	}
	src, err := formats.OpenFile(path, o)
	if err != nil {
		return nil, explainLog(err)
	}
	return src, nil
}

func (e *env) openStdin(o formats.Options) (input, error) {
	r := bufio.NewReader(e.stdin)
	if head, _ := r.Peek(6); bytes.Equal(head, []byte("ARROW1")) || bytes.HasPrefix(head, []byte("PAR1")) {
		return traces.OpenReader(r, "standard input")
	}
	src, err := formats.Open(r, "standard input", o)
	if err != nil {
		return nil, explainLog(err)
	}
	return src, nil
}

// explainLog says what to do about a log that no format takes; other errors say
// it themselves.
func explainLog(err error) error {
	if errors.Is(err, formats.ErrUnknown) {
		return hint(err, "wavetank convert --help lists the formats; --format NAME and --map COLUMN=FIELD say what a log is")
	}
	return err
}

// concat reads inputs one after the other as one trace that starts where the
// first does. Clocks are kept: an input that began an hour later starts an hour
// later, be that by the wall clock or by stamps that count on from shard to shard.
// Its rows are not in order, which the writer of a trace sees to.
func concat(inputs []input, readers []traces.Reader) traces.Reader {
	if len(inputs) == 1 {
		return readers[0]
	}
	var first origin
	return traces.Concat(readers, func(i int) (time.Duration, error) {
		o := originOf(inputs[i])
		if i == 0 {
			first = o
		}
		if o.wall != first.wall {
			return 0, errors.New("some of the inputs have wall-clock times and some relative ones: they cannot be put on one clock")
		}
		return o.at - first.at, nil
	})
}

// An origin is when an input starts: since the Unix epoch, or on its own clock.
type origin struct {
	wall bool
	at   time.Duration
}

func originOf(in input) origin {
	if t0 := in.Meta().T0; t0 != nil {
		return origin{true, time.Duration(t0.UnixNano())}
	}
	if log, ok := in.(*formats.Source); ok {
		return origin{at: log.Origin()}
	}
	return origin{}
}

// sizes tells how much of the inputs has been read, in bytes as they are stored,
// and how much there is: 0 where that is not known of all.
func sizes(inputs []input) (read func() int64, total int64) {
	var logs []*formats.Source
	known := true
	for _, in := range inputs {
		log, ok := in.(*formats.Source)
		if !ok {
			continue // a trace is read in no time
		}
		logs = append(logs, log)
		st, err := os.Stat(in.Name())
		if known = known && err == nil && st.Mode().IsRegular(); known {
			total += st.Size()
		}
	}
	if !known {
		total = 0
	}
	return func() (n int64) {
		for _, log := range logs {
			n += log.Stored()
		}
		return n
	}, total
}

// bound makes reading r end with the context.
func bound(ctx context.Context, r traces.Reader) traces.Reader {
	return traces.ReaderFunc(func(rec *traces.Record) error {
		if err := ctx.Err(); err != nil {
			return exitError{fmt.Errorf("interrupted"), exitInterrupted}
		}
		return r.Read(rec)
	})
}
