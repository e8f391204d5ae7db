package traces

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// mooncakeIDs returns the block ids of the first rows of the Mooncake conversation
// trace.
func mooncakeIDs(t *testing.T) (rows [][]uint64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "logs", "mooncake", "conversation_trace.head600.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var row struct {
			IDs []uint64 `json:"hash_ids"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row.IDs)
	}
	return rows
}

func runsOf(ids []uint64) (runs []BlockRun) {
	for _, id := range ids {
		if n := len(runs); n > 0 && runs[n-1].Start+uint64(runs[n-1].Len) == id {
			runs[n-1].Len++
			continue
		}
		runs = append(runs, BlockRun{id, 1})
	}
	return runs
}

// Block ids as runs take at most half of what they take as a plain list of uint64,
// both compressed: After is such a list.
func TestBlockRunsAreSmall(t *testing.T) {
	size := func(fill func(*Record, []uint64)) int64 {
		path := filepath.Join(t.TempDir(), "t.arrow")
		w, err := Create(path, Meta{}, CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, ids := range mooncakeIDs(t) {
			rec := Record{Request: Request{Seq: uint64(i)}}
			fill(&rec, ids)
			if err := w.Write(&rec); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st.Size()
	}
	none := size(func(*Record, []uint64) {})
	runs := size(func(r *Record, ids []uint64) { r.Blocks = runsOf(ids) }) - none
	list := size(func(r *Record, ids []uint64) { r.After = ids }) - none
	t.Logf("%d bytes as runs, %d as a list", runs, list)
	if 2*runs > list {
		t.Errorf("%d bytes as runs, %d as a list", runs, list)
	}
}
