package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// rowsOfCSV returns a log of n rows, in which those that are bad cannot be read.
func rowsOfCSV(n int, bad ...int) []byte {
	var log bytes.Buffer
	log.WriteString("arrival_ms,prompt_tokens\n")
	for i := range n {
		tokens := fmt.Sprint(i)
		if slices.Contains(bad, i) {
			tokens = "many"
		}
		fmt.Fprintf(&log, "%d,%s\n", i, tokens)
	}
	return log.Bytes()
}

// endless is a log without an end, of which the user has enough after so many bytes.
type endless struct {
	log    []byte
	left   int
	cancel func()
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left -= len(p); e.left < 0 {
		e.cancel()
	}
	if len(e.log) == 0 {
		e.log = []byte(strings.Repeat("5,7\n", 1000))
	}
	n := copy(p, e.log)
	e.log = e.log[n:]
	return n, nil
}

// An interrupt in the midst of a conversion ends it at once, and leaves the files of
// before as they were and nothing else.
func TestInterruptedConversion(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.arrow")
	if err := os.WriteFile(path, []byte("of before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{{}, {"--dedupe"}, {"--dequantize", "uniform"}, {"--to", "csv"}, {"--rejects", filepath.Join(dir, "rejects")}} {
		ctx, cancel := context.WithCancel(context.Background())
		in := &endless{log: rowsOfCSV(5000), left: 3 << 20, cancel: cancel}
		err := run(ctx, append([]string{"wavetank", "convert", "-", "--time-unit", "ms", "--force", "-o", path}, more...), in, io.Discard, io.Discard)
		if code := explain(io.Discard, err); code != exitInterrupted {
			t.Errorf("%q ends with %d: %v", more, code, err)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 1 {
			t.Errorf("%q leaves %v, %v", more, files, err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "of before" {
		t.Errorf("the file of before is %q, %v", got, err)
	}
}

// byColumns counts rows that came in batches.
type byColumns struct{ rows int }

func (b *byColumns) Write(*traces.Record) error { return nil }

func (b *byColumns) WriteBatch(batch *traces.Batch) error {
	b.rows += batch.Rows()
	return nil
}

// Rows that come by columns are counted as all others are, the first bad row ends a
// conversion that has no place for it, and an interrupt ends any.
func TestCheckedBatches(t *testing.T) {
	const n = 90_000
	e := &env{stderr: io.Discard}
	for _, test := range []struct {
		name  string
		into  string // where bad rows go
		stop  int64  // rows after which the user has enough
		rows  int64
		error string
	}{
		{"rejects", filepath.Join(t.TempDir(), "rejects"), n, n - 2, ""},
		{"strict", "", n, 0, `:60002: field "prompt_tokens": `},
		{"interrupt", filepath.Join(t.TempDir(), "rejects"), n / 3, 0, "interrupted"},
	} {
		rejects := &rejects{path: test.into, flag: os.O_EXCL}
		log, err := formats.Open(bytes.NewReader(rowsOfCSV(n, 60_000, 60_003)), "log.csv", formats.Options{
			TimeUnit: "ms", OnReject: func(r formats.Reject) { rejects.add("log.csv", r) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		reading := e.watchReading(strict(log, rejects), log.Stored, 0)
		enough := checked{reading, func(_ int, err error) error {
			if reading.rows.Load() > test.stop {
				cancel()
			}
			return err
		}}
		var to byColumns
		got, err := traces.Copy(&to, bound(ctx, enough))
		reading.stop()
		if test.error == "" && (err != nil || got != test.rows || reading.rows.Load() != test.rows) {
			t.Errorf("%s: %d rows, %d counted, %v", test.name, got, reading.rows.Load(), err)
		}
		if test.error != "" && (err == nil || !strings.Contains(err.Error(), test.error)) {
			t.Errorf("%s: %d rows, %v, want %s", test.name, got, err, test.error)
		}
		if to.rows < int(test.stop)/2 {
			t.Errorf("%s: only %d rows came by columns", test.name, to.rows)
		}
		cancel()
		if err := errors.Join(log.Close(), rejects.close()); err != nil {
			t.Error(err)
		}
	}
}

// A conversion that fails before its first row leaves no file of rejects; one that
// rejects none leaves an empty one.
func TestRejectsFile(t *testing.T) {
	dir := t.TempDir()
	log, rejects := filepath.Join(dir, "log.csv"), filepath.Join(dir, "rejects")
	if err := os.WriteFile(log, rowsOfCSV(5), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		code int
		in   string
		out  string
	}{
		{exitFailed, log + "2", "t.arrow"}, {exitFailed, log, "none/t.arrow"}, {exitFailed, log, "log.csv"},
		{exitDone, log, "t.arrow"}, {exitFailed, log, "other.arrow"},
	} {
		_, before := os.Stat(rejects)
		err := run(context.Background(), []string{"wavetank", "convert", test.in, "-o", filepath.Join(dir, test.out), "--time-unit", "ms", "--rejects", rejects}, nil, io.Discard, io.Discard)
		if code := explain(io.Discard, err); code != test.code {
			t.Errorf("%v ends with %d: %v", test, code, err)
		}
		if _, after := os.Stat(rejects); (after == nil) != (before == nil || test.code == exitDone) {
			t.Errorf("%v: %v", test, after)
		}
	}
}

// A log or a trace may come by a pipe that the shell names, which can be read once.
func TestNamedPipes(t *testing.T) {
	if _, err := os.Stat("/dev/fd/0"); err != nil {
		t.Skip("SKIPPED: this system has no /dev/fd")
	}
	trace, err := os.ReadFile(filepath.Join("..", "..", "testdata", "traces", "azure-code.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string][]byte{"log": rowsOfCSV(50), "trace": trace} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			w.Write(in)
			w.Close()
		}()
		var out bytes.Buffer
		err = run(context.Background(), []string{"wavetank", "inspect", fmt.Sprintf("/dev/fd/%d", r.Fd())}, nil, &out, io.Discard)
		if r.Close(); err != nil || !strings.HasPrefix(out.String(), "rows ") {
			t.Errorf("%s: %v, %s", name, err, out.String())
		}
	}
}
