package traces

import (
	"os"
	"path/filepath"
	"testing"
)

const benchRows = 1_000_000

// blockRows are rows such as a log with block ids has: three runs a row.
func blockRows(n int) []Record {
	recs := plainRecords(n)
	for i := range recs {
		start := uint64(i) * 20
		recs[i].Blocks = []BlockRun{{0, 1}, {start / 7, 4}, {start, 19}}
	}
	return recs
}

func BenchmarkWrite(b *testing.B) {
	recs, path := blockRows(benchRows), filepath.Join(b.TempDir(), "t.arrow")
	for b.Loop() {
		writeRows(b, path, recs)
	}
	report(b, path)
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "t.arrow")
	writeRows(b, path, blockRows(benchRows))
	for b.Loop() {
		if err := readAll(path); err != nil {
			b.Fatal(err)
		}
	}
	report(b, path)
}

func writeRows(b *testing.B, path string, recs []Record) {
	w, err := Create(path, Meta{Kind: KindTrace}, CreateOptions{Overwrite: true})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := Copy(w, FromSlice(recs)); err != nil {
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
