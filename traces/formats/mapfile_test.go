package formats

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// Each thing that the language of maps can say, on one row.
func TestMapLanguage(t *testing.T) {
	const row = `{"at": 1740819600.5, "end": "2025-03-01T09:00:02.75Z", "start": "2025-03-01T09:00:00.5Z", "took_ms": "2250", "tiny": 2.5e-05,
		"usage": {"input": 10, "input_cached": 5, "output": 3, "input.dotted": 1}, "none": null, "dash": "-", "minus": -1,
		"level": "ERROR", "code": "503", "path": "/v1/chat/completions?x=1", "meta": "{\"user\": \"u1\", \"n\": [4, 5]}",
		"tries": "0.1, 0.2 : 0.4", "list": [{"id": "a"}, {"id": "b"}], "ok": true, "not": false, "x-request-id": "r1", "a": {"b.c": {"d": "deep"}}, "temp": "0.70", "odd": "\u00fc"}`
	oneLine := strings.ReplaceAll(row, "\n", " ")
	s := func(ns int64) traces.Opt[time.Duration] { return traces.Some(time.Duration(ns)) }
	for _, tt := range []struct {
		statement string
		got       func(r *traces.Record) any
		want      any
	}{
		{`id = x-request-id`, ofId, traces.Some("r1")},
		{`id = none | dash | a.b.c.d`, ofId, traces.Some("deep")},
		{`id = nowhere | none`, ofId, traces.Opt[string]{}},
		{`id = "const - a | b"`, ofId, traces.Some("const - a | b")},
		{`id = odd`, ofId, traces.Some("ü")},
		{`id = meta.user`, ofId, traces.Some("u1")},
		{`id = meta.n[1]`, ofId, traces.Some("5")},
		{`id = list[0].id`, ofId, traces.Some("a")},
		{`id = list[-1].id`, ofId, traces.Some("b")},
		{`id = list[2].id | none`, ofId, traces.Opt[string]{}},
		{`id = x-request-id[0]`, ofId, traces.Some("r1")},
		{`id = "yes" if ok`, ofId, traces.Some("yes")},
		{`id = "yes" if not | "no"`, ofId, traces.Some("no")},
		{`id = "yes" if usage`, ofId, traces.Some("yes")},
		{`id = "yes" if start != end`, ofId, traces.Some("yes")},
		{`id = "yes" if start != start`, ofId, traces.Opt[string]{}},
		{`id = "yes" if start != none`, ofId, traces.Opt[string]{}},
		{`status = level{ERROR:error, *:ok}`, ofStatus, traces.Error},
		{`status = level{WARN:error, *:ok}`, ofStatus, traces.OK},
		{`status = level{WARN:error}`, ofStatus, traces.Unknown},
		{`status = code{429:rejected} | code{5*:error}`, ofStatus, traces.Error},
		{`status = none{*:error} | "ok"`, ofStatus, traces.OK},
		{`endpoint = path{*/chat/completions*:chat, */completions*:completions}`, func(r *traces.Record) any { return r.Endpoint.V }, "chat"},
		{`http_status = code{5*:*}`, func(r *traces.Record) any { return r.Outcome.HTTPStatus.V }, int32(503)},
		{`http_status = code{503:-, *:*}`, func(r *traces.Record) any { return r.Outcome.HTTPStatus.Known }, false},
		{`prompt_tokens = usage.input + usage.input_cached`, ofPrompt, traces.Some[int32](15)},
		{`prompt_tokens = usage.input - usage.input_cached`, ofPrompt, traces.Some[int32](5)},
		{`prompt_tokens = usage.input + usage.gone?`, ofPrompt, traces.Some[int32](10)},
		{`prompt_tokens = usage.input + usage.gone`, ofPrompt, traces.Opt[int32]{}},
		{`prompt_tokens = usage.gone? + none?`, ofPrompt, traces.Opt[int32]{}},
		{`prompt_tokens = usage.input + minus?`, ofPrompt, traces.Some[int32](10)},
		{`prompt_tokens = usage.input + minus`, ofPrompt, traces.Opt[int32]{}},
		{`prompt_tokens = minus`, ofPrompt, traces.Opt[int32]{}},
		{`prompt_tokens = usage.input*`, ofPrompt, traces.Some[int32](16)},
		{`prompt_tokens = usage.cache* | none`, ofPrompt, traces.Opt[int32]{}},
		{`prompt_tokens = meta.n[*]`, ofPrompt, traces.Some[int32](9)},
		{`end = end - start`, ofEnd, s(2.25e9)},
		{`end = took_ms`, ofEnd, s(2.25e9)},
		{`end = took_ms:us`, ofEnd, s(2.25e6)},
		{`end = tiny:s`, ofEnd, s(25e3)},
		{`end = none:s | took_ms:s`, ofEnd, s(2250e9)},
		{`end = tries[*]:s`, ofEnd, s(0.7e9)},
		{`end = tries[*]:s - tries[-1]:s`, ofEnd, s(0.3e9)},
		{`end = start - end`, ofEnd, traces.Opt[time.Duration]{}},
		{`stream = ok`, func(r *traces.Record) any { return r.Stream }, traces.Some(true)},
		{`params.temperature = temp`, ofParams, traces.Some(`{"temperature":0.70}`)},
		{`params.stop = list`, ofParams, traces.Some(`{"stop":[{"id":"a"},{"id":"b"}]}`)},
		{`params.why = "x y"`, ofParams, traces.Some(`{"why":"x y"}`)},
		{`params.why = none`, ofParams, traces.Opt[string]{}},
	} {
		r := one(t, oneLine, Options{Map: []string{"arrival=at", tt.statement, `token_basis = "usage"`}})
		if got := tt.got(&r); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.statement, got, tt.want)
		}
	}
}

func ofId(r *traces.Record) any     { return r.ID }
func ofStatus(r *traces.Record) any { return r.Outcome.Status }
func ofPrompt(r *traces.Record) any { return r.PromptTokens }
func ofEnd(r *traces.Record) any    { return r.Outcome.End }
func ofParams(r *traces.Record) any { return r.Params }

// An arrival may be a date or a number, less a duration, or the first of several.
func TestMapArrival(t *testing.T) {
	t0 := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
	for statement, row := range map[string]string{
		`arrival = at - took_ms:ms`:         `{"at": 1740819602.5, "took_ms": 2500}`,
		`arrival = at:ms - took:s`:          `{"at": 1740819602500, "took": "2.5"}`,
		`arrival = at - took:s | late`:      `{"at": null, "took": 2.5, "late": "2025-03-01 09:00:00"}`,
		`arrival = at - wait_ms? - took:s`:  `{"at": "2025-03-01T09:00:02.5Z", "took": 2.5}`,
		`arrival = at:s - a_s?`:             `{"at": 1.7408196e9}`,
		`arrival = times[0]:s`:              `{"times": [1740819600, 1740819700]}`,
		`arrival = "2025-03-01T09:00:00Z"`:  `{"x": 1}`,
		`arrival = meta.at`:                 `{"meta": "{\"at\": 1740819600000}"}`,
		`arrival = at:s - took[*]:s - zero`: `{"at": 1740819601, "took": [0.25, 0.75], "zero": "-"}`,
	} {
		_, meta, err := read(row, Options{Map: []string{statement, `token_basis = "usage"`}})
		if strings.Contains(row, `"zero"`) {
			if err == nil || !strings.Contains(err.Error(), "no arrival") {
				t.Errorf("%s with an unknown term: %v", statement, err)
			}
			continue
		}
		if err != nil || meta.T0 == nil || !meta.T0.Equal(t0) {
			t.Errorf("%s of %s: %v, %v", statement, row, meta.T0, err)
		}
	}
}

// A statement that cannot be meant says what it could be.
func TestMapErrors(t *testing.T) {
	for statement, want := range map[string]string{
		`status`:                       `must be COLUMN=FIELD`,
		`status =`:                     `must be COLUMN=FIELD`,
		`estatus = level`:              `there is no column "estatus"; there are arrival, id`,
		`status = level{ERROR:broken}`: `"broken" is not a status: [ok error`,
		`status = "fine"`:              `"fine" is not a status`,
		`status = level{ERROR}`:        `"ERROR" must be WORD:WORD`,
		`status = level{:ok}`:          `lacks a word`,
		`status = a |`:                 `a field is missing`,
		`status = a | | b`:             `a field is missing`,
		`id = a + b`:                   `column id takes no sum`,
		`id = a.b*`:                    `column id takes no sum`,
		`id = "a`:                      `a quote is never closed`,
		`id = a[x]`:                    `must be NAME[0], NAME[-1] or NAME[*]`,
		`id = a[0`:                     `must be NAME[0], NAME[-1] or NAME[*]`,
		`prompt_tokens = a[*].b`:       `a sum must be the end of its path`,
		`end = took`:                   `field "took" does not tell the unit of column end: map it as end=took:ms`,
		`stream = a{yes:true, no:nay}`: `"nay" is neither true nor false`,
		`skip = a{x:perhaps}`:          `"perhaps" is neither true nor false`,
		`sampling_rate = "2"`:          `"2" is not a share above 0 and up to 1`,
		`prompt_tokens = "many"`:       `"many" is not a number`,
	} {
		_, err := parseMapping(statement, new(Options))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
	}
}

// What only rows can tell is told with line and field.
func TestMapRowErrors(t *testing.T) {
	for _, tt := range []struct{ statement, row, want string }{
		{`end = a - b`, `{"at": 1740819600, "a": 5, "b": 3}`, `x:1: field "a": "5" has no unit: map it as a:ms`},
		{`end = a - b`, `{"at": 1740819600, "a": "2025-03-01T09:00:00Z", "b": "3 o'clock"}`, `x:1: field "b": "3 o'clock" is not a time`},
		{`end = a:ms | b:ms`, `{"at": 1740819600, "b": "2025-03-01T09:00:00Z"}`, `a date where a duration must be`},
		{`prompt_tokens = a - b`, `{"at": 1740819600, "a": 1, "b": 2}`, `field "a - b": the sum is negative: -1`},
		{`prompt_tokens = a.*`, `{"at": 1740819600, "a": {"b": 1, "c": "x"}}`, `x:1: field "a.*": "x" is not a number`},
		{`id = a | b`, `{"at": 1740819600, "a": {"b": 1}}`, `x:1: field "a": an object or a list, where column id takes a value`},
		{`skip = a | b`, `{"at": 1740819600, "a": "perhaps"}`, `field "a | b": "perhaps" is neither true nor false`},
		{`id = nowhere | gone`, `{"at": 1740819600, "a": 1}`, `x: field "nowhere | gone": column id: no row has this field`},
		{`id = a | b`, `{"when": 1, "a": 1}`, `x:1: field "at": no arrival; the row has "a", "when"`},
	} {
		_, _, err := read(tt.row, Options{Map: []string{"arrival = at", tt.statement}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s of %s: %v, want %q", tt.statement, tt.row, err, tt.want)
		}
	}
}

// A map file is its statements; an error has file and line.
func TestParseMapFile(t *testing.T) {
	got, err := ParseMapFile(strings.NewReader("# ours\n\nnote: read with care\n arrival = ts:s \nstatus = level{E:error, *:ok}\n"), "our.map")
	want := []string{"note: read with care", "arrival = ts:s", "status = level{E:error, *:ok}"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	r, meta, err := read(`{"ts": 1740819600, "level": "E"}`, Options{Map: got})
	if err != nil || r[0].Outcome.Status != traces.Error || len(meta.Notes) != 1 {
		t.Errorf("%+v, %+v, %v", r, meta, err)
	}
	for text, want := range map[string]string{
		"arrival = ts\n\nend = took\n":         `our.map:3: field "took" does not tell the unit`,
		"stamps: middle\n":                     `our.map:1: stamps: must be start or end`,
		"arrival = ts\narrival = other\n":      `our.map:2: column arrival is mapped twice`,
		"arrival = ts\nparams.x=a\nparams.x=b": `our.map:3: column params.x is mapped twice`,
	} {
		_, err := ParseMapFile(strings.NewReader(text), "our.map")
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A map of plain fields is read in place, and to the same end as any other map.
func TestPlainMapsAgree(t *testing.T) {
	for _, tt := range []struct {
		log string
		m   []string
	}{
		{"csv/columns.csv", []string{"prompt_tokens=prompt_tokens", "output_tokens=output_tokens", "model=model"}},
		{"jsonl/columns.jsonl", []string{"id=id", "prompt_tokens=prompt_tokens", "output_tokens=output_tokens", "model=model", "ttft=ttft_ms", "end=end_s", "stream=stream", "cancel=cancel_ns:ns", "params=params"}},
		{"broken/wrong_types.jsonl", []string{"prompt_tokens=prompt_tokens"}},
	} {
		o := Options{Map: append([]string{"arrival=arrival"}, tt.m...), TimeUnit: "ms"}
		want, wantMeta, wantErr := readFile(t, tt.log, o)
		o.Map = append(o.Map, "note: the long way")
		got, gotMeta, gotErr := readFile(t, tt.log, o)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotMeta.Sources, wantMeta.Sources) || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%s: %+v, %+v, %v; in place %+v, %+v, %v", tt.log, got, gotMeta.Sources, gotErr, want, wantMeta.Sources, wantErr)
		}
	}
}

func readFile(t *testing.T, log string, o Options) ([]traces.Record, traces.Meta, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(logs, log))
	if err != nil {
		t.Fatal(err)
	}
	return read(string(text), o)
}

// A row in place has the values that encoding/json finds.
func FuzzNode(f *testing.F) {
	for _, row := range []string{
		`{"a": {"b": 1, "c.d": "x"}, "a.b": 2, "e": null, "f": [1, {"g": "\\n"}], "t": true}`,
		`{"a": {"b": "ü", "b": 3}, "e": -0.5e+7, "f": "\u0061", "t": {"u": 1}}`,
		`{"a": {"b": [ ] , "c" : { } }, "e":"", "f":{}}`, `{}`, `{"e": "\xff"}`,
	} {
		f.Add([]byte(row))
	}
	paths := []string{"a.b", "a.c.d", "e", "f", "t.u"}
	f.Fuzz(func(t *testing.T, text []byte) {
		m := new(logMap)
		for _, path := range paths {
			if err := m.add("params."+path+" = "+path, new(Options)); err != nil {
				t.Fatal(err)
			}
		}
		r := m.reader(new(input))
		object, err := decodeObject(text)
		if got := r.read(text); (got == nil) != (err == nil) {
			t.Fatalf("%q: %v, by encoding/json %v", text, got, err)
		}
		if err != nil {
			return
		}
		for i, path := range paths {
			term := &m.mappings[i].choices[0].addends[0]
			v, ok := lookup(object, path)
			found := slices.Clone(r.row.find(term))
			inPlace := r.row.inPlace
			r.row.inPlace = false
			if apart := r.row.find(term); len(apart) != len(found) || len(found) == 1 && !bytes.Equal(apart[0].Raw, found[0].Raw) {
				t.Fatalf("%q: %s in place %+v, in the row taken apart %+v", text, path, found, apart)
			}
			r.row.inPlace = inPlace
			if ok != (len(found) == 1) {
				if s, isText := object[path[:1]].(string); isText && s != "" {
					continue // a string may hold an object
				}
				t.Fatalf("%q: %s found %d times, by encoding/json %v", text, path, len(found), ok)
			}
			if !ok {
				continue
			}
			want := fieldOf(v, columnNamed("params"))
			got, err := found[0].scalar(columnNamed("params"))
			if isUnknown(want.text) {
				want.text = nil
			}
			if string(got) != string(want.text) || (err == nil) != (want.err == nil) {
				t.Errorf("%q: %s is %q, %v, by encoding/json %q, %v", text, path, got, err, want.text, want.err)
			}
		}
	})
}

// No statement is a crash.
func FuzzMapping(f *testing.F) {
	for _, format := range gateways {
		text, err := mapFiles.ReadFile("maps/" + format.Name + ".map")
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f.Add(strings.TrimSpace(line))
		}
	}
	f.Fuzz(func(t *testing.T, statement string) {
		m := new(logMap)
		if m.add(statement, new(Options)) != nil || len(m.mappings) == 0 {
			return
		}
		for _, row := range []string{`{"at": 1740819600, "a": {"b": [1, "2, 3"]}, "c": "{\"d\": 4}", "e": "1e-3"}`, `{"at": 1740819600}`} {
			_, _, err := read(row, Options{Map: []string{"arrival = at", statement, `token_basis = "usage"`}})
			if err != nil && !strings.HasPrefix(err.Error(), "x") {
				t.Logf("%s: %v", statement, err)
			}
		}
	})
}
