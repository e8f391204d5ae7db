package traces

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Other tools read our Parquet, and what they make of it is read here again:
// with their encodings, compressions and kinds of pages.
func TestParquetOfOthers(t *testing.T) {
	python := os.Getenv("WAVETANK_TEST_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: WAVETANK_TEST_PYTHON does not name a Python with pyarrow, polars and duckdb")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "t.parquet")
	recs := append(randomRecords(11, 1000), plainRecords(3000)[1000:]...)
	if err := os.WriteFile(path, parquetOf(t, Meta{Kind: KindTrace}, recs), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "parquet.py"), path, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	written := strings.Fields(string(out))
	if err != nil || len(written) != 12 {
		t.Fatalf("%d files written: %v", len(written), err)
	}
	for _, path := range written {
		f, err := Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := Collect(f)
		f.Close()
		if err != nil {
			t.Error(err)
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) { equal(t, got, recs) })
	}
}
