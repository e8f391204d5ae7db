package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"wavetank/traces"
)

// fuzz holds a format to its laws on any bytes at all: an end or an error, books
// that balance, sane rows, and the same again in single bytes, and by columns.
func fuzz(f *testing.F, format string, options ...Options) {
	for _, path := range fixtures(f, format) {
		b := head(f, path)
		f.Add(b[:min(len(b), 2000)])
	}
	paths, err := filepath.Glob(filepath.Join(logs, "broken", "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		for _, o := range append(options, Options{}) {
			o.Format, o.MaxLine = format, 4096
			recs, meta, err := drain(log, o)
			o.workers, o.blockBytes = 3, 97
			s, openErr := Open(iotest.OneByteReader(bytes.NewReader(log)), "x", o)
			if openErr != nil {
				if err == nil {
					t.Errorf("byte by byte: %v", openErr)
				}
				continue
			}
			again, againErr := traces.Collect(s)
			if !reflect.DeepEqual(recs, again) || (err == nil) != (againErr == nil) || !reflect.DeepEqual(meta, s.Meta()) {
				t.Errorf("%v, %v; byte by byte %v, %v", recs, err, again, againErr)
			}
			c, err := Open(bytes.NewReader(log), "x", o)
			if err != nil {
				t.Fatal(err)
			}
			rows, columnsErr := traces.Copy(columnCounter{}, c)
			if rows != int64(len(recs)) || (columnsErr == nil) != (againErr == nil) || !reflect.DeepEqual(meta, c.Meta()) {
				t.Errorf("%d rows, %v; by columns %d, %v", len(recs), againErr, rows, columnsErr)
			}
		}
	})
}

// columnCounter takes rows by columns.
type columnCounter struct{}

// Write implements traces.Writer.
func (columnCounter) Write(*traces.Record) error { return nil }

// WriteBatch implements traces.BatchWriter.
func (columnCounter) WriteBatch(*traces.Batch) error { return nil }

// drain reads log and checks what must hold of every log.
func drain(log []byte, o Options) ([]traces.Record, traces.Meta, error) {
	var told int64
	o.OnReject = func(r Reject) {
		told++
		if !slices.Contains(Reasons, r.Reason) || r.Line < 1 {
			panic(r)
		}
	}
	s, err := Open(bytes.NewReader(log), "x", o)
	if err != nil {
		return nil, traces.Meta{}, err
	}
	recs, err := traces.Collect(s)
	meta := s.Meta()
	src := meta.Sources[0]
	told += src.Rejected[NotARequest] // of which nobody is told
	if told != src.RejectedRows() || src.Emitted != int64(len(recs)) || err == nil && src.Read != src.Emitted+src.Merged+told {
		panic("the books do not balance")
	}
	for i, r := range recs {
		if r.Seq != uint64(i) || r.Arrival < s.Earliest() || r.PromptTokens.V < 0 || r.PromptTokens.V > maxTokens || r.OutputTokens.V < 0 || r.Outcome.Status == "" {
			panic(r)
		}
	}
	return recs, meta, err
}

func FuzzAzure(f *testing.F)    { fuzz(f, "azure") }
func FuzzBurstGPT(f *testing.F) { fuzz(f, "burstgpt") }
func FuzzMooncake(f *testing.F) { fuzz(f, "mooncake") }
func FuzzCSV(f *testing.F) {
	fuzz(f, "csv", Options{TimeUnit: "ms"}, Options{Map: []string{"arrival=TIMESTAMP", "prompt_tokens=ContextTokens"}})
}
func FuzzJSONL(f *testing.F) {
	fuzz(f, "jsonl", Options{TimeUnit: "ms"}, Options{Map: []string{"arrival=timestamp:s", "prompt_tokens=input_length", "params=hash_ids"}})
}

// What the scanner takes, encoding/json takes apart in the same way.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"timestamp": 1, "input_length": 1537, "output_length": 3, "session_id": "a", "hash_ids": [1, 2, 9]}`))
	f.Add([]byte(`{"hash_ids": [], "hash_ids": [18446744073709551615]}`))
	f.Fuzz(func(t *testing.T, row []byte) {
		var fast, slow moonRow
		if !fast.scan(row) {
			return
		}
		if err := slow.unmarshal(row); err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		if fast.ids != slow.ids || fast.haveIDs != slow.haveIDs || !slices.Equal(fast.runs, slow.runs) ||
			!bytes.Equal(fast.stamp, slow.stamp) || !bytes.Equal(fast.input, slow.input) ||
			!bytes.Equal(fast.output, slow.output) || !bytes.Equal(fast.session, slow.session) {
			t.Errorf("%s: %+v by scan, %+v by encoding/json", row, fast, slow)
		}
	})
}

// A row in place has the fields that encoding/json finds.
func FuzzJSONRow(f *testing.F) {
	for _, row := range []string{
		`{"a": {"b": 1, "c.d": "x"}, "a.b": 2, "e": null, "f": [1, {"g": "\\n"}], "t": true}`,
		`{"a": {"b": "ü"}, "e": -0.5e+7, "f": "\u0061", "t": {"u": 1}}`,
		`{"a": {"b": 1}, "a": 2}`, `{"e": 01}`, `{"a.b": 1} {}`, `{"f": "\x"}`, `{}`, `{"e": "\ud800", "f": {"g": 1}}`,
	} {
		f.Add([]byte(row))
	}
	paths := []string{"a.b", "a.c.d", "e", "f", "t.u"}
	f.Fuzz(func(t *testing.T, row []byte) {
		j := newJSONRows(new(input), new(Options))
		var bound []*binding
		for _, path := range paths {
			bound = append(bound, &binding{column: columnNamed("model"), field: path})
		}
		j.bind(bound)
		if !j.find(row) {
			return
		}
		found := slices.Clone(j.fields)
		if err := j.decode(row); err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		for i, want := range j.fields {
			if got := found[i]; got.found != want.found || want.err != nil || !bytes.Equal(got.text, want.text) || (got.text == nil) != (want.text == nil) {
				t.Errorf("%s: %s is %+v, by encoding/json %+v", row, paths[i], got, want)
			}
		}
	})
}

// The usual row takes no help.
func TestRowsInPlace(t *testing.T) {
	j := newJSONRows(new(input), new(Options))
	j.bind([]*binding{{column: columnNamed("model"), field: "usage.in"}})
	row := `{"at": 1.5, "body": {"messages": [{"text": "a\n\"b\""}]}, "usage": {"out": 2, "in": 7}, "who": "Größe", "ok": true, "why": null}`
	if !j.find([]byte(row)) || string(j.fields[0].text) != "7" {
		t.Errorf("%+v", j.fields)
	}
}

// Whatever encoding/json writes of the published keys, scan takes.
func TestScanTakesThePublishedGrammar(t *testing.T) {
	for _, line := range bytes.Split(head(t, fixture("mooncake", "conversation_trace.head600.jsonl")), []byte("\n")) {
		var m moonRow
		if bytes.HasSuffix(line, []byte("}")) && !m.scan(line) {
			t.Errorf("not taken: %s", line)
		}
	}
	row, err := json.Marshal(map[string]any{"timestamp": 1, "input_length": 2, "output_length": 3, "hash_ids": []uint64{1 << 63}})
	if err != nil {
		t.Fatal(err)
	}
	var m moonRow
	if !m.scan(row) || m.runs[0].Start != 1<<63 {
		t.Errorf("%s: %+v", row, m)
	}
}

// An error that ends a file says where, by name and line.
func TestSyntaxError(t *testing.T) {
	_, _, err := read("arrival\n\n12\n", Options{})
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.File != "x" || syntax.Line != 3 || syntax.Field != "arrival" || !strings.HasPrefix(err.Error(), `x:3: field "arrival": `) {
		t.Errorf("%v", err)
	}
}
