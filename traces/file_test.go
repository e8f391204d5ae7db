package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func write(t *testing.T, path string, m Meta, recs []Record) {
	t.Helper()
	w, err := Create(path, m, CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Copy(w, FromSlice(recs)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) ([]Record, Meta) {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recs, err := Collect(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Warnings()) > 0 {
		t.Errorf("warnings: %q", f.Warnings())
	}
	return recs, f.Meta()
}

func equal(t *testing.T, got, want []Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("row %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

func leftovers(t *testing.T, dir string, want ...string) {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("the directory holds %q, want %q", names, want)
	}
}

// What goes in comes out: null stays null, zero stays zero, an empty list stays
// an empty list.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(20) {
		path := filepath.Join(t.TempDir(), "t.arrow")
		recs := randomRecords(seed, 200)
		write(t, path, Meta{Kind: KindTrace}, recs)
		got, _ := read(t, path)
		equal(t, got, recs)
	}
}

// The table of columns covers every field of a Record exactly once.
func TestEveryFieldHasItsColumn(t *testing.T) {
	fields := 0
	var count func(reflect.Type)
	count = func(typ reflect.Type) {
		for i := range typ.NumField() {
			if f := typ.Field(i); f.Name == "Request" || f.Name == "Outcome" {
				count(f.Type)
			} else {
				fields++
			}
		}
	}
	count(reflect.TypeFor[Record]())
	if fields != len(columns) {
		t.Errorf("%d fields, %d columns", fields, len(columns))
	}
	if len(columnIndex) != len(columns) {
		t.Error("two columns of one name")
	}
}

// Columns that no row has are not in the file, and a column that appears after
// the first batch loses nothing.
func TestColumnsAppearLate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.arrow")
	recs := plainRecords(batchRows + 10)
	recs[batchRows+5].Model = Some("late")
	write(t, path, Meta{}, recs)
	got, _ := read(t, path)
	equal(t, got, recs)
	leftovers(t, filepath.Dir(path), "t.arrow")

	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if schema := f.dec.ipc.Schema(); !schema.HasField("model") || schema.HasField("tenant") {
		t.Errorf("columns: %v", schema)
	}
}

func TestCloseSorts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.arrow")
	recs := plainRecords(1000)
	shuffled := slices.Clone(recs)
	slices.Reverse(shuffled)
	write(t, path, Meta{}, shuffled)
	got, _ := read(t, path)
	equal(t, got, recs)
	leftovers(t, filepath.Dir(path), "t.arrow")
}

// A source whose first row is not its earliest gives a trace that starts at the
// earliest, and its wall clock follows.
func TestNegativeArrivalsMoveTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.arrow")
	t0 := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	recs := plainRecords(3)
	recs[1].Arrival = -2 * time.Second
	write(t, path, Meta{T0: &t0}, recs)
	got, m := read(t, path)
	if !m.T0.Equal(t0.Add(-2 * time.Second)) {
		t.Errorf("t0 = %v", m.T0)
	}
	if got[0].Seq != 1 || got[0].Arrival != 0 || got[1].Arrival != 2*time.Second {
		t.Errorf("rows: %v %v", got[0], got[1])
	}
}

func TestEmptyTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.arrow")
	write(t, path, Meta{Kind: KindTrace, Tool: "x"}, nil)
	got, m := read(t, path)
	if len(got) != 0 || m.Tool != "x" {
		t.Errorf("%d rows, %+v", len(got), m)
	}
}

// What is known only at the end is in the file all the same.
func TestMetaOfTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.arrow")
	w, err := Create(path, Meta{Kind: KindTrace}, CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	recs := plainRecords(batchRows + 1) // the head of the file is written by now
	if _, err := Copy(w, FromSlice(recs)); err != nil {
		t.Fatal(err)
	}
	w.SetMeta(Meta{Kind: KindTrace, Sources: []Source{{Name: "log", Read: w.Rows(), Emitted: w.Rows()}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, m := read(t, path); len(m.Sources) != 1 || m.Sources[0].Read != int64(len(recs)) {
		t.Errorf("sources: %+v", m.Sources)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.arrow")
	write(t, path, Meta{}, plainRecords(1))
	if _, err := Create(path, Meta{}, CreateOptions{}); !errors.Is(err, ErrExists) {
		t.Errorf("err = %v", err)
	}
	w, err := Create(path, Meta{}, CreateOptions{Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&plainRecords(1)[0]); err != nil {
		t.Fatal(err)
	}
	w.Discard()
	if got, _ := read(t, path); len(got) != 1 {
		t.Error("a discarded writer touched the file that was there")
	}
	leftovers(t, filepath.Dir(path), "t.arrow")
}

// The rows of a run that was killed are readable, up to the last second.
func TestKilledRun(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(dir, "run.arrow")
		w, err := Create(path, Meta{Kind: KindRun}, CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		recs := plainRecords(30)
		slices.Reverse(recs)
		for i := range recs {
			if err := w.Write(&recs[i]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		// Nothing is closed: this is what a kill leaves.
		f, err := Open(path + ".partial")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := Collect(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < 20 || len(f.Warnings()) != 1 || !f.Meta().Partial {
			t.Errorf("%d rows, %q, partial %v", len(got), f.Warnings(), f.Meta().Partial)
		}
		equal(t, got, recs[:len(got)])
		if _, err := Create(path, Meta{}, CreateOptions{}); !errors.Is(err, ErrExists) {
			t.Errorf("a new run would lose the killed one: %v", err)
		}

		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(recs)
		got, _ = read(t, path)
		equal(t, got, recs)
		leftovers(t, dir, "run.arrow")
	})
}

// A file cut anywhere is read up to a whole batch, or refused; never a wrong row.
func TestCutFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.arrow")
	recs := plainRecords(3 * spillRows)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := newEncoder(f, allColumns, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(enc.copy(FromSlice(recs), spillRows), enc.close(Meta{}), f.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[int]int)
	for cut := 0; cut < len(whole); cut += 611 {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			continue
		}
		got, err := Collect(f)
		f.Close()
		if err != nil || len(f.Warnings()) == 0 {
			t.Fatalf("cut at %d of %d: err %v, warnings %q", cut, len(whole), err, f.Warnings())
		}
		equal(t, got, recs[:len(got)])
		counts[len(got)]++
	}
	for _, n := range []int{0, spillRows, 2 * spillRows, 3 * spillRows} {
		if counts[n] == 0 {
			t.Errorf("no cut left %d rows: %v", n, counts)
		}
	}
}

func TestStandardStreams(t *testing.T) {
	var buf bytes.Buffer
	w, err := CreateWriter(&buf, Meta{Kind: KindTrace})
	if err != nil {
		t.Fatal(err)
	}
	recs := plainRecords(10)
	slices.Reverse(recs)
	if _, err := Copy(w, FromSlice(recs)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := OpenReader(&buf, "a pipe")
	if err != nil {
		t.Fatal(err)
	}
	temp := f.f.Name()
	got, err := Collect(f)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(recs)
	equal(t, got, recs)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy of the pipe is still there: %v", err)
	}
}

func TestWhatIsNotATrace(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty.arrow": "", "log.csv": "TIMESTAMP,ContextTokens\n", "p.parquet": "PAR1....PAR1", "short": "ARR",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, ErrNotTrace) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(dir); !errors.Is(err, ErrNotTrace) {
		t.Errorf("a directory: %v", err)
	}
}

// A row that cannot be written, for want of disk, ends the file with an error,
// and only a run's rows are kept.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir) // of CreateWriter's
	for _, test := range []struct {
		left   []string
		create func() (*FileWriter, error)
	}{
		{nil, func() (*FileWriter, error) { return CreateWriter(io.Discard, Meta{Kind: KindTrace}) }},
		{nil, func() (*FileWriter, error) {
			return Create(filepath.Join(dir, "t.arrow"), Meta{Kind: KindTrace}, CreateOptions{})
		}},
		{[]string{"t.arrow.partial"}, func() (*FileWriter, error) {
			return Create(filepath.Join(dir, "t.arrow"), Meta{Kind: KindRun}, CreateOptions{})
		}},
	} {
		w, err := test.create()
		if err != nil {
			t.Fatal(err)
		}
		for i, rec := range plainRecords(batchRows + 1) {
			if err := w.Write(&rec); err != nil {
				t.Fatalf("row %d: %v", i, err)
			}
		}
		w.parts[0].f.Close() // every write fails from now on
		if err := w.Close(); err == nil {
			t.Error("no error")
		}
		leftovers(t, dir, test.left...)
	}
}

func ExampleCopy() {
	all := FromSlice([]Record{
		{Request: Request{Seq: 0, Arrival: 0, App: Some("chat")}},
		{Request: Request{Seq: 1, Arrival: 2 * time.Second, App: Some("rag")}},
	})
	chat := Filter(all, func(r *Record) bool { return r.App.V == "chat" })
	n, err := Copy(WriterFunc(func(r *Record) error { return nil }), Speed(chat, 2))
	fmt.Println(n, err)
	// Output: 1 <nil>
}

var _ io.Closer = (*File)(nil)
