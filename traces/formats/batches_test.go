package formats

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavetank/traces"
)

// convertAll is readAll with the rows as the bytes of a trace file. It tells too how
// many rows came by columns.
func convertAll(t *testing.T, log []byte, o Options, byRows bool) (r reading, file string, batched int64) {
	t.Helper()
	o.OnReject = func(j Reject) {
		r.rejects = append(r.rejects, fmt.Sprintf("%d %s %q %v", j.Line, j.Reason, j.Text, j.Err))
	}
	s, err := Open(bytes.NewReader(log), "x", o)
	if err != nil {
		r.err, _, _ = strings.Cut(err.Error(), "\n")
		return r, "", 0
	}
	var out bytes.Buffer
	w, err := traces.CreateWriter(&out, traces.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	var src traces.Reader = s
	if byRows {
		src = traces.ReaderFunc(s.Read)
	}
	_, err = traces.Copy(counting{w, &batched}, src)
	if err = errors.Join(err, s.Close()); err != nil {
		r.err = err.Error()
	}
	r.meta = s.Meta()
	w.SetMeta(r.meta)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return r, out.String(), batched
}

type counting struct {
	*traces.FileWriter
	rows *int64
}

func (c counting) WriteBatch(b *traces.Batch) error {
	*c.rows += int64(b.Rows())
	return c.FileWriter.WriteBatch(b)
}

func holdBatches(t *testing.T, name string, log []byte, o Options, rnd *rand.Rand) (batched int64) {
	t.Helper()
	o.workers, o.blockBytes = 1, 1<<20
	want, file, n := convertAll(t, log, o, true)
	if n > 0 {
		t.Fatalf("%s: %d rows in batches, and none was to be", name, n)
	}
	for range 2 {
		o.workers, o.blockBytes = 1+rnd.IntN(4), 1+rnd.IntN(1+rnd.IntN(len(log)))
		got, gotFile, n := convertAll(t, log, o, false)
		if diff := want.differs(got); diff != "" {
			t.Errorf("%s: %d workers, blocks of %d bytes: %s", name, o.workers, o.blockBytes, diff)
		}
		if gotFile != file {
			t.Errorf("%s: %d workers, blocks of %d bytes: another file", name, o.workers, o.blockBytes)
		}
		batched += n
	}
	return batched
}

// A log becomes the same file, to the byte, and the same rejects and metadata, whether
// its rows are handed on as Records or by columns.
func TestBatches(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(logs, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	var batched int64
	for _, path := range paths {
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".want") || len(log) == 0 || len(log) > 32<<10 {
			continue
		}
		batched += holdBatches(t, path, log, Options{}, rnd)
		batched += holdBatches(t, path, log, Options{MaxLine: 80, App: "chat"}, rnd)
	}
	if batched == 0 {
		t.Error("no row came in a batch")
	}
}

// That goes for logs of more rows than a batch of the file has, with rejects among
// them, columns that turn up late, arrivals before the first, and an end in the
// middle of a row.
func TestManyBatches(t *testing.T) {
	var csv, jsonl bytes.Buffer
	csv.WriteString("arrival_ms,user,prompt_tokens\n")
	for i := range 67_000 {
		switch {
		case i%977 == 5:
			fmt.Fprintf(&csv, "%d,\"u\n%d\",x\n", i, i)
		case i > 40_000 && i%3 == 0:
			fmt.Fprintf(&csv, "%d,user-%d,-1\n", i-50_000+i%7, i%50)
		default:
			fmt.Fprintf(&csv, "%d,,%d\n", 1_000_000+i, i)
		}
		fmt.Fprintf(&jsonl, `{"arrival_ms": %d, "stream": %v`, 1_000_000+i, i%2 == 0)
		if i == 66_000 {
			jsonl.WriteString(`, "model": "m"`)
		}
		jsonl.WriteString("}\n")
	}
	csv.WriteString("1000000,half")
	rnd := rand.New(rand.NewPCG(7, 8))
	for name, log := range map[string][]byte{"csv": csv.Bytes(), "jsonl": jsonl.Bytes()} {
		o := Options{Format: name, TimeUnit: "ms"}
		if batched := holdBatches(t, name, log, o, rnd); batched < 67_000 {
			t.Errorf("%s: only %d rows came in batches", name, batched)
		}
	}
}

// Whoever began by batches can go on by Records, at any row.
func TestBatchesThenRecords(t *testing.T) {
	log := manyRows(3000)
	for batches := range 12 {
		s, err := Open(bytes.NewReader(log), "x", Options{workers: 2, blockBytes: 500})
		if err != nil {
			t.Fatal(err)
		}
		rows, lines := 0, uint64(0)
		take := func(err error, n int) {
			if err != nil {
				t.Fatal(err)
			}
			rows += n
		}
		var rec traces.Record
		for range batches {
			b, err := s.ReadBatch()
			if b == nil && err == nil {
				take(s.Read(&rec), 1)
			} else {
				take(err, b.Rows())
			}
		}
		for rows < 3000 {
			take(s.Read(&rec), 1)
			if lines = rec.SourceRow.V; lines != uint64(rows+1) || rec.Seq != uint64(rows-1) {
				t.Fatalf("row %d: seq %d, line %d", rows, rec.Seq, lines)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
