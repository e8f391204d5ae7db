package formats

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"wavetank/traces"
)

var update = flag.Bool("update", false, "write the .want files anew")

const logs = "../../testdata/logs"

// fixtures returns the logs of a format that are whole.
func fixtures(t testing.TB, format string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(logs, format, "*"))
	if err != nil {
		t.Fatal(err)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, ".want") || isRAGPart(filepath.Base(p)) })
	if len(paths) == 0 {
		t.Fatalf("format %s has no fixtures in %s", format, logs)
	}
	return paths
}

// head returns what Sniff sees of a file.
func head(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, _, err := traces.Decompress(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(io.LimitReader(plain, headBytes))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// collect reads a log to its end.
func collect(t testing.TB, path string, o Options) ([]traces.Record, traces.Meta) {
	t.Helper()
	s, err := OpenFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	recs, err := traces.Collect(s)
	if err != nil {
		t.Fatal(err)
	}
	return recs, s.Meta()
}

// Every format takes its own logs, and says why it does not take any other.
func TestSniff(t *testing.T) {
	for _, of := range Formats {
		for _, path := range fixtures(t, of.Name) {
			for _, f := range Formats {
				err := f.Sniff(head(t, path))
				if (err == nil) != (f.Name == of.Name) {
					t.Errorf("%s of %s: %v", f.Name, path, err)
				}
				if err != nil && len(err.Error()) < 10 {
					t.Errorf("%s of %s gives no reason: %v", f.Name, path, err)
				}
			}
		}
	}
}

// Rows are the same whatever pieces a log comes in, and the books balance.
func TestChunking(t *testing.T) {
	for _, f := range Formats {
		for _, path := range fixtures(t, f.Name) {
			want, meta := collect(t, path, Options{})
			src := meta.Sources[0]
			if src.Read != src.Emitted+src.Merged+src.RejectedRows() || src.Emitted != int64(len(want)) {
				t.Errorf("%s: %d rows of %+v", path, len(want), src)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(iotest.OneByteReader(bytes.NewReader(b)), path, Options{Format: f.Name})
			if err != nil {
				t.Fatal(err)
			}
			got, err := traces.Collect(s)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(s.Meta(), meta) {
				t.Errorf("%s: byte by byte, other rows or metadata come of it", path)
			}
		}
	}
}

// What becomes of each fixture is written down.
func TestGolden(t *testing.T) {
	for _, f := range Formats {
		for _, path := range fixtures(t, f.Name) {
			recs, meta := collect(t, path, Options{})
			golden(t, path+".want", render(t, recs, meta))
		}
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update writes it anew); got:\n%s", path, got)
	}
}

// render prints metadata, the first and last rows, and a digest of all.
func render(t *testing.T, recs []traces.Record, meta traces.Meta) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	if err := enc.Encode(meta); err != nil {
		t.Fatal(err)
	}
	all := sha256.New()
	for i := range recs {
		line := known1(reflect.ValueOf(recs[i]))
		fmt.Fprintln(all, line)
		switch {
		case i < 12 || i >= len(recs)-4:
			fmt.Fprintln(&out, line)
		case i == 12:
			fmt.Fprintln(&out, "...")
		}
	}
	fmt.Fprintf(&out, "%d rows, sha256 %x\n", len(recs), all.Sum(nil))
	return out.Bytes()
}

// known1 prints the fields of a record that are known.
func known1(v reflect.Value) string {
	var parts []string
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case f.Kind() == reflect.Struct && f.Type().NumField() == 2 && f.Type().Field(1).Name == "Known":
			if f.Field(1).Bool() {
				parts = append(parts, fmt.Sprintf("%s=%v", name, f.Field(0)))
			}
		case f.Kind() == reflect.Struct:
			parts = append(parts, known1(f))
		case f.Kind() == reflect.Slice:
			if !f.IsNil() {
				parts = append(parts, fmt.Sprintf("%s=%v", name, f))
			}
		default:
			parts = append(parts, fmt.Sprintf("%s=%v", name, f))
		}
	}
	return strings.Join(parts, " ")
}

// A format is found by name, or not at all.
func TestFormatByName(t *testing.T) {
	path := fixtures(t, "azure")[0]
	for _, f := range Formats {
		s, err := OpenFile(path, Options{Format: f.Name})
		if err == nil {
			if got := s.Meta().Sources[0].Format; got != f.Name {
				t.Errorf("asked for %s, got %s", f.Name, got)
			}
			err = s.Read(new(traces.Record))
		}
		if (err == nil) != (f.Name == "azure") {
			t.Errorf("an azure log as %s: %v", f.Name, err)
		}
	}
	_, err := OpenFile(path, Options{Format: "azur"})
	for _, f := range Formats {
		if err == nil || !strings.Contains(err.Error(), f.Name) {
			t.Errorf("an unknown format: %v; want all names, and %s", err, f.Name)
		}
	}
}

// Options that cannot be heeded are refused.
func TestBadOptions(t *testing.T) {
	path := fixtures(t, "azure")[0]
	for _, o := range []Options{
		{MaxLine: -1},
		{TimeUnit: "min"},
		{TimeUnit: "s"},
		{Format: "azure", Map: []string{"arrival=TIMESTAMP"}},
		{Map: []string{"arrival"}},
		{Map: []string{"arrived=TIMESTAMP"}},
		{Map: []string{"prompt_tokens=ContextTokens"}},
		{Map: []string{"arrival=TIMESTAMP", "end=ContextTokens"}},
		{Map: []string{"arrival=TIMESTAMP", "arrival=ContextTokens"}},
		{Map: []string{"arrival=TIMESTAMP", "model=Model"}},
	} {
		if _, err := OpenFile(path, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// A directory is not a log, and a file that is missing says so.
func TestOpenFile(t *testing.T) {
	if _, err := OpenFile(logs, Options{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := OpenFile(filepath.Join(logs, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// An error of the reader below is passed on, and stays.
func TestReadError(t *testing.T) {
	b, err := os.ReadFile(fixtures(t, "azure")[0])
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("disk on fire")
	for _, n := range []int{0, 3, 100, len(b)} {
		s, err := Open(io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken)), "x", Options{})
		if err == nil {
			_, err = traces.Collect(s)
			if again := s.Read(new(traces.Record)); !errors.Is(again, broken) {
				t.Errorf("after %d bytes, the second time: %v", n, again)
			}
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}
