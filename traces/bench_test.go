package traces

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

const benchRows = 1_000_000

// blockRows reads rows such as a log with block ids has: three runs a row. They
// are made one by one, since a million Records held in memory would be measured
// instead.
func blockRows(n int) Reader {
	i := 0
	return ReaderFunc(func(rec *Record) error {
		if i == n {
			return io.EOF
		}
		*rec = plainRecord(i)
		start := uint64(i) * 20
		rec.Blocks = []BlockRun{{0, 1}, {start / 7, 4}, {start, 19}}
		i++
		return nil
	})
}

func BenchmarkWrite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "t.arrow")
	for b.Loop() {
		writeRows(b, path)
	}
	report(b, path)
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "t.arrow")
	writeRows(b, path)
	for b.Loop() {
		if err := readAll(path); err != nil {
			b.Fatal(err)
		}
	}
	report(b, path)
}

func writeRows(b *testing.B, path string) {
	w, err := Create(path, Meta{Kind: KindTrace}, CreateOptions{Overwrite: true})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := Copy(w, blockRows(benchRows)); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func report(b *testing.B, path string) {
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/benchRows, "µs/record")
	b.ReportMetric(float64(st.Size())/benchRows, "B/record")
}
