package traces

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// pyarrow, Polars and DuckDB find in a trace what is in it.
func TestOtherReaders(t *testing.T) {
	python := os.Getenv("WAVETANK_TEST_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: WAVETANK_TEST_PYTHON does not name a Python with pyarrow, polars and duckdb")
	}
	path := filepath.Join(t.TempDir(), "t.arrow")
	recs := append(randomRecords(11, 1000), make([]Record, batchRows)...)
	for i := range recs[1000:] {
		recs[1000+i] = plainRecord(1000 + i)
	}
	write(t, path, Meta{Kind: KindTrace}, recs)
	type found struct {
		Reader      string   `json:"reader"`
		Rows        int      `json:"rows"`
		Columns     []string `json:"columns"`
		PromptSum   int64    `json:"prompt_sum"`
		PromptNulls int      `json:"prompt_nulls"`
		Runs        int      `json:"runs"`
		Apps        int      `json:"apps"`
	}
	want, apps := found{Rows: len(recs), Columns: Columns()}, make(map[string]bool)
	for _, rec := range recs {
		want.PromptSum += int64(rec.PromptTokens.V)
		want.Runs += len(rec.Blocks)
		if !rec.PromptTokens.Known {
			want.PromptNulls++
		}
		if rec.App.Known {
			apps[rec.App.V] = true
		}
	}
	want.Apps = len(apps)
	cmd := exec.Command(python, filepath.Join("testdata", "readers.py"), path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(lines) != 3 {
		t.Fatalf("%d readers answered", len(lines))
	}
	for _, line := range lines {
		var got found
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		columns := slices.Equal(got.Columns, want.Columns)
		want.Reader, got.Columns = got.Reader, want.Columns
		if a, b := mustJSON(got), mustJSON(want); a != b || !columns {
			t.Errorf("%s: got %s, want %s, the same columns: %v", got.Reader, a, b, columns)
		}
	}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
