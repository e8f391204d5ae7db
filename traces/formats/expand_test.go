package formats

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// folder makes files in a directory of the test's own and goes there.
func folder(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Shards come in the order of their numbers, from wherever they are named.
func TestExpand(t *testing.T) {
	folder(t, "d/x.jsonl.000010.gz", "d/x.jsonl.000009.gz", "d/sub/y.2", "d/sub/y.10", "d/.hidden", "d/.git/z", "l.csv", "a[1].csv")
	for _, test := range []struct{ paths, want string }{
		{"l.csv", "l.csv"},
		{"./l.csv -", "l.csv -"},
		{"d", "d/sub/y.2 d/sub/y.10 d/x.jsonl.000009.gz d/x.jsonl.000010.gz"},
		{"d/x*.gz l.csv", "d/x.jsonl.000009.gz d/x.jsonl.000010.gz l.csv"},
		{"d/s*", "d/sub/y.2 d/sub/y.10"},
		{"a[1].csv", "a[1].csv"}, // a file of that name is no pattern
		{"missing.csv", "missing.csv"},
	} {
		got, err := Expand(strings.Fields(test.paths))
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if want := strings.Fields(test.want); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", test.paths, got, err, want)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	folder(t, "d/a", "e/.hidden")
	for _, test := range []struct{ paths, err string }{
		{"*.csv", "*.csv: no file matches"},
		{"e", "e: no file is in this directory"},
		{"d d/a", "named twice"},
		{"- -", "-: named twice"},
		{"[", "syntax error in pattern"},
	} {
		if got, err := Expand(strings.Fields(test.paths)); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %q, %v; want %s", test.paths, got, err, test.err)
		}
	}
}

// The order is one: names in natural order stay in it.
func TestByName(t *testing.T) {
	names := []string{"a", "a1", "a2", "a10", "a10b", "a99999999999999999999", "a100000000000000000000", "b"}
	for i := range names {
		for j := range names {
			if got, want := byName(names[i], names[j]), i-j; got*want < 0 || (got == 0) != (want == 0) {
				t.Errorf("%s, %s: %d", names[i], names[j], got)
			}
		}
	}
	if byName("a01", "a1")*byName("a1", "a01") != -1 {
		t.Error("names that are equal as numbers have no order")
	}
}

// A shard whose stamps count on tells where: its Arrival 0 on the log's own clock.
func TestOrigin(t *testing.T) {
	for log, want := range map[string]time.Duration{
		"Timestamp,Model,Request tokens,Response tokens,Log Type\n7200,m,1,1,API log\n7201,m,1,1,API log\n": 2 * time.Hour,
		"arrival\n1970-01-01 00:00:05\n": 5 * time.Second,
		"arrival_s\n90\n":                90 * time.Second,
	} {
		s, err := Open(strings.NewReader(log), "x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := traces.Collect(s); err != nil || s.Origin() != want {
			t.Errorf("%q: %v, %v; want %v", log, s.Origin(), err, want)
		}
	}
}
