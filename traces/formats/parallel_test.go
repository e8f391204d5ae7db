package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"wavetank/traces"
)

// A reading is all that comes of a log.
type reading struct {
	recs    []traces.Record
	meta    traces.Meta
	rejects []string
	err     string
}

func readAll(log io.Reader, o Options) (r reading) {
	o.OnReject = func(j Reject) {
		r.rejects = append(r.rejects, fmt.Sprintf("%d %s %q %v", j.Line, j.Reason, j.Text, j.Err))
	}
	s, err := Open(log, "x", o)
	if err == nil {
		r.recs, err = traces.Collect(s)
		r.meta = s.Meta()
		err = errors.Join(err, s.Close())
	}
	if err != nil { // what follows on the first line is not of the blocks
		r.err, _, _ = strings.Cut(err.Error(), "\n")
	}
	return r
}

// differs says where two readings differ, or nothing.
func (r reading) differs(o reading) string {
	switch {
	case r.err != o.err:
		return fmt.Sprintf("error %q, want %q", o.err, r.err)
	case !reflect.DeepEqual(r.rejects, o.rejects):
		return fmt.Sprintf("rejects\n%s\nwant\n%s", strings.Join(o.rejects, "\n"), strings.Join(r.rejects, "\n"))
	case !reflect.DeepEqual(r.meta, o.meta):
		return fmt.Sprintf("metadata\n%+v\nwant\n%+v", o.meta, r.meta)
	case len(r.recs) != len(o.recs):
		return fmt.Sprintf("%d rows, want %d", len(o.recs), len(r.recs))
	}
	for i := range r.recs {
		if !reflect.DeepEqual(r.recs[i], o.recs[i]) {
			return fmt.Sprintf("row %d: %+v, want %+v", i, o.recs[i], r.recs[i])
		}
	}
	return ""
}

// holdParallel holds what several parsers make of pieces of a log against what one
// makes of the whole.
func holdParallel(t *testing.T, name string, log []byte, o Options, rnd *rand.Rand) {
	t.Helper()
	o.workers, o.blockBytes = 1, 1<<20
	want := readAll(bytes.NewReader(log), o)
	for range 2 {
		o.workers, o.blockBytes = 1+rnd.IntN(4), 1+rnd.IntN(1+rnd.IntN(4096))
		if diff := want.differs(readAll(bytes.NewReader(log), o)); diff != "" {
			t.Errorf("%s: %d workers, blocks of %d bytes: %s", name, o.workers, o.blockBytes, diff)
		}
	}
}

// Rows, rejects, their order and lines, warnings, metadata and the error that ends
// a log are the same however many parsers share it and wherever it is cut.
func TestParallel(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(logs, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, path := range paths {
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".want") || len(log) > 32<<10 {
			continue
		}
		holdParallel(t, path, log, Options{}, rnd)
		holdParallel(t, path, log, Options{MaxLine: 80, App: "chat"}, rnd)
	}
}

// The rows that depend on those before them do so across the cuts: what the first
// arrival decides, turns, keys that turn up late, quotes that span lines, and a
// column that a second field wants.
func TestParallelState(t *testing.T) {
	late := strings.Repeat(`{"arrival_ms": 5, "user": "a"}`+"\n", 50) + `{"arrival_ms": 6, "ttft_ms": 3, "user": "b"}` + "\n"
	for name, log := range map[string]string{
		"numbers, then dates": "arrival_ms\n" + strings.Repeat("x\n", 9) + strings.Repeat("12\n", 99) + "2024-01-01 00:00:00\n",
		"no arrival at first": "arrival,user\n" + strings.Repeat(",a\n", 200) + strings.Repeat("1700000000,b\n", 100) + "0,a\n",
		"turns":               "Timestamp,Session ID,Model,Request tokens,Response tokens,Log Type\n" + strings.Repeat("5,s,m,7,9,API log\n5,t,m,7,0,?\n6,s,m,7,-1,API log\n", 60),
		"late keys":           late + strings.Repeat(`{"arrival_ms": 7, "ttft_ms": 4}`+"\n", 50) + `{"arrival_ms": 8, "model": "m"}` + "\n" + late,
		"two fields":          late + late + `{"arrival_ms": 9, "first_token_ms": 3}` + "\n" + late,
		"quotes": "arrival_ms,user\n" + strings.Repeat("1,\"a\nb\"\n\n2,\"c\"\"\r\n\r\n\"\n3,plain\n4,\"d\"e\n", 60) +
			"5,\"" + strings.Repeat("never\nclosed,", 20),
		"long lines":  "arrival_ms,user\n" + strings.Repeat("1,"+strings.Repeat("a", 300)+"\n2,b\n3,\""+strings.Repeat("c\n", 100)+"\"\n", 20),
		"no line end": "arrival_ms\r\n1\r\r\n\r\n \r\n2\r\n3",
	} {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, 4))
			for range 3 {
				holdParallel(t, name, []byte(log), Options{}, rnd)
				holdParallel(t, name, []byte(log), Options{MaxLine: 100}, rnd)
			}
		})
	}
}

// manyRows is a log of some hundred blocks.
func manyRows(rows int) []byte {
	return append([]byte("arrival_ms,user\n"), bytes.Repeat([]byte("1700000000000,someone\n"), rows)...)
}

// However reading ends, no goroutine is left.
func TestNothingIsLeft(t *testing.T) {
	log := manyRows(5000)
	before := runtime.NumGoroutine()
	for rows := range 15 {
		s, err := Open(bytes.NewReader(log), "x", Options{workers: 3, blockBytes: 100})
		if err != nil {
			t.Fatal(err)
		}
		for range rows * 400 {
			if err := s.Read(new(traces.Record)); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Read(new(traces.Record)); err != io.EOF && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	for wait := time.Millisecond; runtime.NumGoroutine() > before; wait *= 2 {
		if wait > 10*time.Second {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
		time.Sleep(wait)
	}
}

// An error of the reader below comes after the rows before it, and with their line.
func TestParallelReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	log := manyRows(9000)
	o := Options{workers: 3, blockBytes: 128}
	r := readAll(io.MultiReader(bytes.NewReader(log), iotest.ErrReader(broken)), o)
	if len(r.recs) != 9000 || r.err != "x:9002: disk on fire" {
		t.Errorf("%d rows, %s", len(r.recs), r.err)
	}
}

// Memory does not grow with the log: no more blocks are held than are in work.
func TestBlocksAreReused(t *testing.T) {
	s, err := Open(bytes.NewReader(manyRows(100_000)), "x", Options{workers: 2, blockBytes: 256})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	blocks := make(map[*block]bool)
	var rec traces.Record
	for err = s.Read(&rec); err == nil; err = s.Read(&rec) {
		blocks[s.block] = true
	}
	if err != io.EOF || len(blocks) > 2+2 {
		t.Errorf("%d blocks, %v", len(blocks), err)
	}
}
