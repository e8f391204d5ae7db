package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

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
	return e.told(f), nil
}

// told tells what a user must know about f.
func (e *env) told(f *traces.File) *traces.File {
	for _, w := range f.Warnings() {
		e.warn("%s: %s", f.Name(), w)
	}
	return f
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
		return e.openStream(e.stdin, "standard input", o)
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		f, err := os.Open(path) // it stays open, as standard input does
		if err != nil {
			return nil, err
		}
		return e.openStream(f, path, o)
	}
	f, err := traces.Open(path)
	if err == nil {
		return e.told(f), nil
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

// openStream opens what can be read but once, such as a pipe.
func (e *env) openStream(stream io.Reader, name string, o formats.Options) (input, error) {
	r := bufio.NewReader(stream)
	if head, _ := r.Peek(6); bytes.Equal(head, []byte("ARROW1")) || bytes.HasPrefix(head, []byte("PAR1")) {
		f, err := traces.OpenReader(r, name)
		if err != nil {
			return nil, err
		}
		return e.told(f), nil
	}
	src, err := formats.Open(r, name, o)
	if err != nil {
		return nil, explainLog(err)
	}
	return src, nil
}

// explainLog says what to do about a log that no format takes, or has no bodies;
// other errors say it themselves.
func explainLog(err error) error {
	if errors.Is(err, formats.ErrNoBodies) {
		return hint(err, "leave --keep-bodies out or, where a map can say it, name the field that holds them: --map body=FIELD")
	}
	if errors.Is(err, formats.ErrUnknown) {
		return hint(err, "wavetank convert --help lists the formats; --format NAME and --map COLUMN=FIELD say what a log is")
	}
	return err
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
	return checked{r, func(_ int, err error) error {
		if ctx.Err() != nil {
			return exitError{fmt.Errorf("interrupted"), exitInterrupted}
		}
		return err
	}}
}

// A checked is a Reader with a say in what comes of each row, or batch of rows: check
// is told how many rows were read, or the error instead, and returns the error.
type checked struct {
	traces.Reader
	check func(rows int, err error) error
}

// Read fills rec with the next row.
func (c checked) Read(rec *traces.Record) error { return c.check(1, c.Reader.Read(rec)) }

// ReadBatch is traces.BatchReader's, and has no batches where the Reader has none.
func (c checked) ReadBatch() (*traces.Batch, error) {
	from, ok := c.Reader.(traces.BatchReader)
	if !ok {
		return nil, nil
	}
	b, err := from.ReadBatch()
	if b != nil {
		return b, c.check(b.Rows(), err)
	}
	if err == nil { // the next row is Read's
		return nil, nil
	}
	return nil, c.check(0, err)
}

// Lend is traces.Lender's, and lends nothing where the Reader does not.
func (c checked) Lend() (*traces.Record, error) {
	from, ok := c.Reader.(traces.Lender)
	if !ok {
		return nil, nil
	}
	rec, err := from.Lend()
	if rec == nil && err == nil { // the next row is Read's
		return nil, nil
	}
	return rec, c.check(1, err)
}
