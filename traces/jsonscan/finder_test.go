package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

var paths = []string{"a.b", "a.c.d", "a", "e", "f", "t.u", "e"}

func finder(t testing.TB) *Finder {
	f := NewFinder()
	for i, path := range paths {
		if slot := f.Want(path); slot != min(i, 5) && path != "e" {
			t.Fatalf("slot %d of path %s", slot, path)
		}
	}
	return f
}

// lookup finds a path; the longest key that is there wins.
func lookup(object map[string]any, path string) (any, bool) {
	if v, ok := object[path]; ok {
		return v, true
	}
	for i := len(path) - 1; i > 0; i-- {
		if inner, ok := object[path[:i]].(map[string]any); path[i] == '.' && ok {
			if v, ok := lookup(inner, path[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// What a Finder is sure of is what encoding/json finds, whatever rows came before.
func FuzzFinder(f *testing.F) {
	for _, rows := range []string{
		`{"a": {"b": 1, "c.d": "x"}, "a.b": 2, "e": null, "f": [1, {"g": "\\n"}], "t": true}`,
		`{"a": {"b": "ü"}, "e": -0.5e+7, "f": "\u0061", "t": {"u": 1}}`,
		"{\"a\": {\"b\": 1}, \"e\": 2}\n{\"e\": 2, \"a\": {\"c\": {\"d\": 3}, \"b\": 1}}\n{\"x\":0,\"e\":4,\"t.u\":5}",
		`{"a": {"b": 1}, "a": 2}`, `{"e": 01}`, `{"a.b": 1} {}`, `{"f": "\x"}`, `{}`, `[]`, `1`, `{"a": "{\"b\": 1}"}`, "{\"e\" : \"\xff\"}", `{"x": {"e": 1, "e": 2}, "x": 3}`,
		"{\"\\\"\":1}\n{\"\"\":1}", "{\"a\":{\"c\":{\"d\":1}}}\n{\"a\":{\"c\":{\"d\":1}},\"a.c\":{\"d\":2}}",
	} {
		f.Add([]byte(rows))
	}
	f.Fuzz(func(t *testing.T, rows []byte) {
		long := finder(t)
		for row := range bytes.SplitSeq(rows, []byte("\n")) {
			fresh := finder(t)
			sure := long.Find(row)
			if fresh.Find(row) != sure {
				t.Fatalf("%q: sure %v, but for the rows before", row, sure)
			}
			if !sure {
				continue
			}
			v, err := decode(row)
			object, ok := v.(map[string]any)
			if !ok || err != nil || !json.Valid(row) {
				t.Fatalf("%q: sure of what is no object: %v", row, err)
			}
			for i, path := range paths[:6] {
				checkFound(t, object, path, long.Value(i))
				if got := fresh.Value(i); got.Kind != long.Value(i).Kind || !bytes.Equal(got.Raw, long.Value(i).Raw) {
					t.Errorf("%q: %s is %+v, but for the rows before %+v", row, path, long.Value(i), got)
				}
			}
		}
	})
}

func checkFound(t *testing.T, object map[string]any, path string, got Value) {
	t.Helper()
	want, ok := lookup(object, path)
	if ok != (got.Kind != Absent) {
		t.Fatalf("%v: %s is %+v, by encoding/json %v, %v", object, path, got, want, ok)
	}
	if !ok {
		return
	}
	if text, ok := want.(string); ok {
		if string(got.Text()) != text {
			t.Fatalf("%v: %s is %q", object, path, got.Text())
		}
		return
	}
	v, err := decode(got.Raw)
	if err != nil || fmt.Sprint(v) != fmt.Sprint(want) {
		t.Fatalf("%v: %s is %s", object, path, got.Raw)
	}
}

// What it finds of usual rows, and what it is unsure of.
func TestFinder(t *testing.T) {
	for _, c := range []struct {
		row  string
		sure bool
		want string // of a.b, a, e
	}{
		{`{"a":{"b":1},"e":"x"}`, true, `1 {"b":1} "x"`},
		{` { "e" : "\n" , "a" : { "b" : [ 1 ] } } `, true, `[ 1 ] { "b" : [ 1 ] } "\n"`},
		{`{"a.b":1,"x":{"e":1},"x":2}`, true, `1  `},
		{`{"a":"text","größe":1}`, true, ` "text" `},
		{`{"a.b":1,"a":{"b":2}}`, false, ""},
		{`{"e":1,"e":1}`, false, ""},
		{`{"a":{},"a":{}}`, false, ""},
		{`{"\u0065":1,"\"":2}`, true, `  1`},
		{`{"\u0065":1,"e":1}`, false, ""},
		{`{"e":1`, false, ""},
	} {
		f := finder(t)
		sure := f.Find([]byte(c.row))
		if got := fmt.Sprintf("%s %s %s", f.Value(0).Raw, f.Value(2).Raw, f.Value(3).Raw); sure != c.sure || sure && got != c.want {
			t.Errorf("%s: %s, sure %v", c.row, got, sure)
		}
	}
}

func TestInText(t *testing.T) {
	for value, want := range map[string]bool{`"{}"`: true, `" {}"`: true, `"[]"`: true, `"\u007b}"`: true, "\"\u00a0{}\"": true, `"text"`: false, `""`: false, `{}`: false, `["{"]`: false, `1`: false} {
		f := finder(t)
		if !f.Find([]byte(`{"e":"{}","a":`+value+`}`)) || f.InText() != want {
			t.Errorf("%s: %v", value, f.InText())
		}
	}
}

func TestClosedFinder(t *testing.T) {
	f := NewFinder()
	f.Close()
	f.Want("a")
	for _, row := range []string{`{"b":1}`, `{"a":1,"b":1}`} {
		if f.Find([]byte(row)) || f.Knows("b") {
			t.Errorf("sure of %s", row)
		}
	}
	f.Ignore("b")
	for _, f := range []*Finder{f, f.Fork()} {
		if row := `{"b":{"c":1},"a":1}`; !f.Closed() || !f.Knows("a") || !f.Knows("b") || !f.Find([]byte(row)) || string(f.Value(0).Raw) != "1" {
			t.Errorf("unsure of %s", row)
		}
		if f.Find([]byte(`{"c":1}`)) {
			t.Error("sure of a key it was not told of")
		}
	}
	if f.Want("b"); !f.Find([]byte(`{"a":1,"b":2}`)) || string(f.Value(1).Raw) != "2" {
		t.Error("a path that was ignored before is not found")
	}
}

// A log whose keys are data does not fill the memory.
func TestKeysThatAreDataAreForgotten(t *testing.T) {
	f := NewFinder()
	f.Want("a")
	for i := range 3 * maxEntries {
		if row := fmt.Sprintf(`{"k%d":1,"a":%d}`, i, i); !f.Find([]byte(row)) || string(f.Value(0).Raw) != fmt.Sprint(i) {
			t.Fatalf("not found in %s", row)
		}
		f.Ignore(fmt.Sprint(i))
	}
	if f.entries > maxEntries+1 || len(f.ignored) > maxEntries {
		t.Errorf("%d entries, %d ignored", f.entries, len(f.ignored))
	}
}
