package traces

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
)

func parquetOf(t testing.TB, m Meta, recs []Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewParquetWriter(&buf, m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Copy(w, FromSlice(recs)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func readParquet(b []byte) (recs []Record, m Meta, err error) {
	f, err := OpenReader(bytes.NewReader(b), "p")
	if err != nil {
		return nil, m, err
	}
	defer f.Close()
	recs, err = Collect(f)
	return recs, f.Meta(), err
}

// What goes in comes out of Parquet as it does of Arrow.
func TestParquetRoundTrip(t *testing.T) {
	for seed := range uint64(10) {
		recs := randomRecords(seed, 300)
		m := Meta{Kind: KindTrace, Tool: "x", BlockTokens: 512}
		got, gotMeta, err := readParquet(parquetOf(t, m, recs))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, recs)
		if !reflect.DeepEqual(gotMeta, m) {
			t.Errorf("metadata %+v, want %+v", gotMeta, m)
		}
	}
}

// A column that only a later row group has is null in the earlier ones, and one
// that no row has is not in the file.
func TestParquetColumnsAppearLate(t *testing.T) {
	recs := plainRecords(210)
	last := &recs[len(recs)-5]
	last.Model, last.Blocks, last.Media = Some("late"), []BlockRun{{7, 2}, {1, 1}}, []Media{{Kind: "image"}}
	var buf bytes.Buffer
	w, err := NewParquetWriter(&buf, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	w.size = 100
	if _, err := Copy(w, FromSlice(recs)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := buf.Bytes()
	got, _, err := readParquet(b)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, recs)
	r, err := openParquet(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.groups) != 3 || r.column("model") == nil || r.column("tenant") != nil {
		t.Errorf("%d row groups, columns %v", len(r.groups), len(r.columns))
	}
}

func TestParquetEmptyAndUnsorted(t *testing.T) {
	got, m, err := readParquet(parquetOf(t, Meta{Tool: "x"}, nil))
	if err != nil || len(got) != 0 || m.Tool != "x" {
		t.Errorf("%d rows, %+v, %v", len(got), m, err)
	}
	w, err := NewParquetWriter(io.Discard, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	recs := plainRecords(2)
	err = errors.Join(w.Write(&recs[1]), w.Write(&recs[0]))
	if !errors.Is(err, ErrUnsorted) || !errors.Is(w.Close(), ErrUnsorted) {
		t.Errorf("unsorted rows: %v", err)
	}
}

// A full disk is an error, at Write or at Close.
func TestParquetWriteFails(t *testing.T) {
	full := errors.New("disk full")
	whole := len(parquetOf(t, Meta{}, plainRecords(100)))
	for room := 0; room < whole; room += 13 {
		w, err := NewParquetWriter(&limited{room, full}, Meta{})
		if err == nil {
			if _, err = Copy(w, FromSlice(plainRecords(100))); err == nil {
				err = w.Close()
			}
		}
		if !errors.Is(err, full) {
			t.Fatalf("with room for %d of %d bytes: %v", room, whole, err)
		}
	}
}

type limited struct {
	room int
	err  error
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.room {
		return l.room, l.err
	}
	l.room -= len(p)
	return len(p), nil
}

// rewritten are traces/testdata/parquet.py's files of a trace of random rows, which
// is wavetank.parquet: what other tools made of the same rows.
func rewritten(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "exports", "*.parquet"))
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	files := make(map[string][]byte)
	for _, path := range paths {
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// pyarrow, Polars and DuckDB store a trace in encodings, compressions and pages of
// their own, and the rows are the same.
func TestRewrittenParquet(t *testing.T) {
	files := rewritten(t)
	want, _, err := readParquet(files["wavetank.parquet"])
	if err != nil || len(want) != 60 {
		t.Fatalf("%d rows, %v", len(want), err)
	}
	for name, b := range files {
		got, _, err := readParquet(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		equal(t, got, want)
		if rows, err := readTable(b); err != nil || len(rows) != len(want) {
			t.Errorf("%s as a table: %d rows, %v", name, len(rows), err)
		}
	}
}

// A damaged file gives rows or an error; where its pages have checksums, as ours
// do, hardly any damage to them goes unnoticed.
func TestMutatedParquet(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20))
	files := rewritten(t)
	n := mutations(t, 2000) / len(files)
	rng := rand.New(rand.NewPCG(1, 2))
	for name, whole := range files {
		refused := 0
		for i := range n {
			b := mutated(rng, whole)
			if _, err := parquetRows(b); err != nil {
				refused++
			}
			if i%4 == 0 {
				readTable(b)
			}
		}
		if refused < n/5 || name == "wavetank.parquet" && refused < n*4/5 {
			t.Errorf("%s: %d of %d mutations were noticed", name, refused, n)
		}
	}
}

func mutated(rng *rand.Rand, whole []byte) []byte {
	b := bytes.Clone(whole)
	for range 1 + rng.IntN(3) {
		switch i := rng.IntN(len(b)); rng.IntN(4) {
		case 0:
			b[i] ^= 1 << rng.IntN(8)
		case 1:
			b[i] = byte(rng.IntN(256))
		case 2:
			copy(b[i:], []byte{0xff, 0xff, 0xff, 0x7f})
		case 3:
			b = append(b[:i], b[min(len(b), i+1+rng.IntN(4)):]...)
		}
	}
	return b
}

// parquetRows reads a file from memory.
func parquetRows(b []byte) (n int64, err error) {
	var d *decoder
	err = guardParquet(func() error {
		d, err = newParquetDecoder(bytes.NewReader(b), int64(len(b)))
		return err
	})
	if err != nil {
		return 0, err
	}
	return Copy(WriterFunc(func(*Record) error { return nil }), d)
}

func FuzzParquet(f *testing.F) {
	f.Add(parquetOf(f, Meta{}, randomRecords(3, 4)))
	f.Add([]byte("PAR1\x15\x00PAR1"))
	for _, b := range rewritten(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		parquetRows(b)
		readTable(b)
	})
}

// What is Parquet and no trace says so, so that it can be tried as a log.
func TestParquetThatIsNoTrace(t *testing.T) {
	for _, b := range [][]byte{[]byte("PAR1....PAR1"), []byte("PAR1"), bytes.Repeat([]byte("PAR1"), 10)} {
		if _, _, err := readParquet(b); !errors.Is(err, ErrNotTrace) || !strings.Contains(err.Error(), "Parquet") {
			t.Errorf("%q: %v", b, err)
		}
	}
}

// Rows of megabytes are read a few at a time.
func TestParquetLargeRows(t *testing.T) {
	body := bytes.Repeat([]byte("a prompt"), 1<<20)
	var buf bytes.Buffer
	w, err := NewParquetWriter(&buf, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	w.size = 10
	for i := range 10 {
		rec := plainRecord(i)
		rec.Body = body
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := newParquetDecoder(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{8, 2} {
		if batch, err := d.fetch(); err != nil || batch.NumRows() != want {
			t.Fatalf("a batch of %d rows, want %d (%v)", batch.NumRows(), want, err)
		}
	}
}

// A file that claims more than it can hold is refused before the memory is gone: a
// run of four bytes is a list of millions.
func TestParquetBomb(t *testing.T) {
	const many = 1 << 18 // and there may be any number of pages
	rec := plainRecord(0)
	rec.After = []uint64{7}
	var buf bytes.Buffer
	w, err := NewParquetWriter(&buf, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	s := newShredder(columns[columnIndex["after"]].typ)
	l := s.leaves[0]
	l.defs, l.reps = bytes.Repeat([]byte{2}, many), bytes.Repeat([]byte{1}, many)
	if err := w.Write(&rec); err != nil {
		t.Fatal(err)
	}
	w.flush()
	for page := range 4 {
		l.defs, l.reps = l.defs[:many], l.reps[:many]
		l.reps[0] = byte(min(page, 1)) // the list begins with the first page and goes on
		l.flush(w.zstd)
	}
	w.groups[0].chunks[columnIndex["after"]] = w.place(s)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if buf.Len() > 10_000 {
		t.Fatalf("a bomb of %d bytes", buf.Len())
	}
	r, err := openParquet(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	r.limit = 8 << 20
	next := (&ParquetTable{r}).Rows("after")
	if _, err := next(); !errors.Is(err, errDamagedParquet) || !strings.Contains(err.Error(), "more than 8388608 bytes of memory") {
		t.Errorf("read: %v", err)
	}
}

func BenchmarkParquetWrite(b *testing.B) {
	const rows = 100_000
	for b.Loop() {
		w, err := NewParquetWriter(io.Discard, Meta{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Copy(w, blockRows(rows)); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/record")
}

func BenchmarkParquetRead(b *testing.B) {
	const rows = 100_000
	recs, err := Collect(blockRows(rows))
	if err != nil {
		b.Fatal(err)
	}
	file := parquetOf(b, Meta{}, recs)
	for b.Loop() {
		if n, err := parquetRows(file); err != nil || n != rows {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/record")
	b.ReportMetric(float64(len(file))/rows, "B/record")
}
