package formats

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// The session is the column by which requests have something in common, and a
// client that hung up is not one that was answered.
func TestBaseten(t *testing.T) {
	recs, meta := collect(t, fixture("baseten", "requests.parquet"), Options{})
	if meta.BlockTokens != 64 || !meta.T0.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", meta)
	}
	var cancelled, unknown int
	for i, r := range recs {
		if !r.Session.Known || r.Session.V != []string{"0", "1", "2"}[(r.SourceRow.V-1)%3] {
			t.Errorf("row %d: session %v", i, r.Session)
		}
		switch r.Outcome.Status {
		case traces.Cancelled:
			cancelled++
			if r.Cancel.V != 300*time.Millisecond || r.Outcome.End != r.Cancel {
				t.Errorf("row %d: cancelled after %v of %v", i, r.Cancel, r.Outcome.End)
			}
		case traces.Unknown:
			unknown++
		}
	}
	if cancelled != 1 || unknown != 1 {
		t.Errorf("%d cancelled, %d unknown", cancelled, unknown)
	}
	if got := recs[6].Blocks; len(got) != 2 || got[0] != (traces.BlockRun{Start: 0, Len: 1}) || got[1].Len != 2 {
		t.Errorf("a prefix that branches off after its first block: %v", got)
	}
}

// A Parquet file of something else says what it has, and no copy of it stays.
func TestNotBaseten(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	b, _ := exported(t, "parquet", traces.Meta{}, sane(1, 3))
	for name, content := range map[string]string{
		`neither a trace nor a log of Baseten: it has the columns "seq"`: string(b),
		"cannot be read": string(b[:len(b)-3]),
	} {
		if _, _, err := read(content, Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	s, err := OpenFile(fixture("baseten", "requests.parquet"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "wavetank-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
