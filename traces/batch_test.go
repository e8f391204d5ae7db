package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// inBatches writes records by batches of any size, and some of them one by one.
func inBatches(t *testing.T, w *FileWriter, recs []Record, rnd *rand.Rand) {
	t.Helper()
	var b Batch
	for len(recs) > 0 {
		n := min(len(recs), 1+rnd.IntN(1+rnd.IntN(9000)))
		if n < 10 {
			if err := w.Write(&recs[0]); err != nil {
				t.Fatal(err)
			}
			recs = recs[1:]
			continue
		}
		b.Reset()
		for i := range recs[:n] {
			b.Add(&recs[i])
		}
		if err := w.WriteBatch(&b); err != nil {
			t.Fatal(err)
		}
		recs = recs[n:]
	}
}

func holdBatches(t *testing.T, m Meta, recs []Record, rnd *rand.Rand) {
	t.Helper()
	dir := t.TempDir()
	one, other := filepath.Join(dir, "rows.arrow"), filepath.Join(dir, "batches.arrow")
	write(t, one, m, recs)
	w, err := Create(other, m, CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	inBatches(t, w, recs, rnd)
	if w.Rows() != int64(len(recs)) {
		t.Errorf("%d rows, want %d", w.Rows(), len(recs))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want, err1 := os.ReadFile(one)
	got, err2 := os.ReadFile(other)
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, want) {
		t.Errorf("another file by batches (%d bytes) than by rows (%d): %v", len(got), len(want), err)
	}
}

// A trace is the same, to the byte, whether its rows are written one by one or by
// batches: with every column and few, sorted and not, as a trace and as a run.
func TestWriteBatch(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	recs := randomRecords(5, 700)
	for i := range batchRows {
		recs = append(recs, plainRecord(i))
	}
	recs = append(recs, randomRecords(6, 700)...)
	holdBatches(t, Meta{Kind: KindTrace}, recs, rnd)
	holdBatches(t, Meta{Kind: KindTrace}, recs[700:9000], rnd)
	holdBatches(t, Meta{Kind: KindRun}, recs[:3000], rnd)
}

// Rows of large bodies are written before they fill the memory, and all of them.
func TestLargeRows(t *testing.T) {
	defer func(n int) { batchBytes = n }(batchBytes)
	batchBytes = 1 << 20
	rnd := rand.New(rand.NewPCG(3, 4))
	recs := plainRecords(3000)
	for i := range recs {
		recs[i].Body = bytes.Repeat([]byte{byte(i)}, rnd.IntN(9000))
	}
	holdBatches(t, Meta{Kind: KindTrace}, recs, rnd)
	path := filepath.Join(t.TempDir(), "t.arrow")
	write(t, path, Meta{}, recs)
	got, _ := read(t, path)
	equal(t, got, recs)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if most := 3000 * 9000 / batchBytes; f.batches < most/3 || f.batches > 2*most {
		t.Errorf("%d batches", f.batches)
	}
	for i := range recs[:20] { // fewer than batchStep, and each nearly a batch
		recs[i].Body = bytes.Repeat([]byte{byte(i)}, batchBytes-1)
	}
	holdBatches(t, Meta{Kind: KindTrace}, recs[:20], rnd)
	write(t, path+"2", Meta{}, recs[:20])
	if f, err = Open(path + "2"); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.batches != 10 {
		t.Errorf("%d batches, want one for every two rows", f.batches)
	}
}

// An end of file that is the writer's is no end of the trace.
func TestCopyErrors(t *testing.T) {
	full := fmt.Errorf("the disk is full: %w", io.EOF)
	n, err := Copy(WriterFunc(func(rec *Record) error {
		if rec.Seq == 2 {
			return full
		}
		return nil
	}), FromSlice(plainRecords(5)))
	if n != 2 || !errors.Is(err, full) {
		t.Errorf("%d rows, %v", n, err)
	}
}

// Bytes packed by how often they come are what any reader of zstd finds.
func TestPackLiterals(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, step := range map[string]func(int) uint64{
		"small":    func(int) uint64 { return rnd.Uint64N(3000) },
		"constant": by(0), "zeros and ones": func(int) uint64 { return rnd.Uint64N(2) }, "noise": func(int) uint64 { return rnd.Uint64() },
	} {
		for _, n := range []int{0, 1, 5, 1000, 70_000} {
			var values []uint64
			for i := range n {
				values = append(values, step(i))
			}
			src := numbers(4, values)
			out := packLiterals([]byte("ahead"), src)
			got, err := dec.DecodeAll(out[len("ahead"):], nil)
			if err != nil || !bytes.Equal(got, src) {
				t.Errorf("%s, %d: %d bytes of %d, %v", name, n, len(got), len(src), err)
			}
			if name == "small" && n == 70_000 && len(out) > len(src)*55/100 {
				t.Errorf("%d bytes of %d", len(out), len(src))
			}
		}
	}
}
