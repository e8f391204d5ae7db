package main

import (
	"bytes"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wavetank/traces"
)

// Where no terminal is, a conversion tells every ten seconds how far it is, how
// fast, and how long it will take.
func TestReadingProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		e := &env{stderr: &out}
		var read atomic.Int64
		rows := e.watchReading(traces.ReaderFunc(func(*traces.Record) error {
			if read.Add(1e6) > 25e6 {
				return io.EOF
			}
			return nil
		}), read.Load, 100e6)
		for rows.Read(new(traces.Record)) == nil {
			time.Sleep(time.Second - time.Nanosecond)
		}
		rows.stop()
		const want = "wavetank: 10s: 11 rows, 1 rows/s, 11.0 of 100.0 MB read (11 %), 1m21s left\n" +
			"wavetank: 20s: 21 rows, 1 rows/s, 21.0 of 100.0 MB read (21 %), 1m15s left\n"
		if out.String() != want {
			t.Errorf("%s\nwant\n%s", out.String(), want)
		}
	})
}

// From a pipe, of which nobody knows the length, no end is foretold.
func TestReadingProgressOfAPipe(t *testing.T) {
	n := &reading{stored: func() int64 { return 5e5 }}
	n.rows.Store(1500)
	if got, want := n.line(3*time.Second), "3s: 1500 rows, 500 rows/s, 0.5 MB read"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A run tells how its requests ended.
func TestEndingsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		e := &env{stderr: &out}
		rows := e.watch(traces.WriterFunc(func(*traces.Record) error { return nil }))
		for _, s := range []traces.Status{traces.OK, traces.Timeout, traces.OK} {
			if err := rows.Write(&traces.Record{Outcome: traces.Outcome{Status: s}}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(15 * time.Second)
		rows.stop()
		if got, want := out.String(), "wavetank: 10s: 3 requests ended, 2 ok, 1 timeout\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
