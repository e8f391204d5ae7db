package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// texts are JSON and what is nearly that.
var texts = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `-0.5e+7`, `1E-9`, `true`, `false`, `null`, ` { "a" : [ 1 , { } , [ ] ] } `, "[\r\n\t1]",
	`"a\"b\\c\/\b\f\n\r\t\u00e9\uD83D\uDE00"`, `"\ud800"`, `"grün und 音"`, "\"\xff\"", `"0123456789abcde"`, `"01234567"`, "\"0123456\x7f\"",
	``, ` `, `{`, `}`, `[`, `[]]`, `{]`, `[}`, `[1 2]`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":1}{}`,
	`01`, `-`, `-01`, `1.`, `.5`, `+1`, `1e`, `1e+`, `0x1`, `tru`, `truex`, `nul`, `NaN`, `"`, `"a`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\`, "\"a\nb\"", "\"0123456789\x00\"", "\x00", `"a"b`,
}

// What is JSON is so to encoding/json, too.
func FuzzValid(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := Valid(text), json.Valid(text); got != want {
			t.Fatalf("%q: %v, by encoding/json %v", text, got, want)
		}
		checkText(t, text)
	})
}

// checkText holds a string and its kind against encoding/json.
func checkText(t *testing.T, text []byte) {
	t.Helper()
	v := Of(text)
	var want string
	if v.Kind != Plain && v.Kind != Escaped || json.Unmarshal(text, &want) != nil {
		return
	}
	if string(v.Text()) != want {
		t.Errorf("%q: %q, by encoding/json %q", text, v.Text(), want)
	}
	if asItStands := string(text[1:len(text)-1]) == want; asItStands != (v.Kind == Plain) && !bytes.Contains(text, []byte(`\`)) {
		t.Errorf("%q: kind %d", text, v.Kind)
	}
}

// Every byte at every place of a word is told from its neighbours.
func TestStringsEndWhereTheyEnd(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				inside := bytes.Repeat([]byte("a"), length)
				inside[at] = byte(c)
				text := []byte(`["` + string(inside) + `", "b"]`)
				if got, want := Valid(text), json.Valid(text); got != want {
					t.Fatalf("%q: %v, by encoding/json %v", text, got, want)
				}
				if c >= ' ' && c != '"' && c != '\\' {
					checkText(t, text[1:length+3])
				}
			}
		}
	}
}

func TestDepthIsThatOfEncodingJSON(t *testing.T) {
	for _, depth := range []int{maxDepth, maxDepth + 1, 1 << 20} {
		text := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		if got, want := Valid(text), json.Valid(text); got != want {
			t.Errorf("%d levels: %v, by encoding/json %v", depth, got, want)
		}
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]Kind{
		`null`: Null, `true`: Bool, `false`: Bool, `-1.5e3`: Number, `"ü"`: Plain, `""`: Plain, `"\n"`: Escaped, "\"\xff\"": Escaped,
		`{"a":[]}`: Object, `[{}]`: List, ` 1`: Absent, `1 `: Absent, `01`: Absent, ``: Absent, `nan`: Absent,
	} {
		if v := Of([]byte(text)); v.Kind != want || v.Kind != Absent && string(v.Raw) != text {
			t.Errorf("%q: %+v, want kind %d", text, v, want)
		}
	}
}

// Each method takes what it names and is unsure of all else.
func TestMethods(t *testing.T) {
	methods := map[string]func(*Scanner) string{
		"text":   func(s *Scanner) string { return string(s.Text()) },
		"number": func(s *Scanner) string { return string(s.Number()) },
		"uint":   func(s *Scanner) string { n, _ := json.Marshal(s.Uint()); return string(n) },
		"null":   func(s *Scanner) string { return map[bool]string{true: "null"}[s.Null()] },
		"key":    func(s *Scanner) string { return string(s.Key()) },
	}
	for _, c := range []struct{ method, text, want string }{
		{"text", `"a"`, "a"}, {"text", ` "ü" `, "ü"}, {"text", `"\n"`, "\n"}, {"text", "\"\xff\"", "\ufffd"}, {"text", `1`, "?"}, {"text", `null`, "?"},
		{"number", `-1.5`, "-1.5"}, {"number", `"1"`, "?"}, {"number", `1x`, "?"},
		{"uint", `0`, "0"}, {"uint", `18446744073709551615`, "18446744073709551615"}, {"uint", `18446744073709551616`, "?"}, {"uint", `-1`, "?"}, {"uint", `01`, "?"}, {"uint", ``, "?"}, {"uint", `28446744073709551615`, "?"}, {"uint", `99999999999999999999999`, "?"}, {"uint", `1.0`, "?"}, {"uint", `1e1`, "?"}, {"uint", `null`, "?"},
		{"null", `null`, "null"}, {"null", `nul`, "?"}, {"null", `1`, "?"},
		{"key", `"a" :`, "a"}, {"key", `"a"`, "?"}, {"key", `"\u0061":`, "a"}, {"key", `1:`, "?"},
	} {
		s := New([]byte(c.text))
		if got := methods[c.method](&s); s.End() != (c.want != "?") || s.End() && got != c.want {
			t.Errorf("%s of %s: %q, sure %v, want %q", c.method, c.text, got, s.End(), c.want)
		}
	}
}

func TestOnce(t *testing.T) {
	s := New(nil)
	var seen Seen
	for n := range 64 {
		if s.Once(&seen, n); !s.End() {
			t.Fatalf("unsure of key %d", n)
		}
	}
	if s.Once(&seen, 63); s.End() {
		t.Error("sure of a key that came twice")
	}
}

// row is a line of a gateway's log.
const row = `{"request_id":"req-9e3779b97f4a7c15","started_at":1740819600030,"route":"/v1/chat/completions","method":"POST","region":"eu-west-1",` +
	`"upstream":"pool-1","model":"model-1","user":"user-2485","tenant":"team-5","session":"s-48485","stream":true,"status":200,` +
	`"usage":{"prompt_tokens":8485,"completion_tokens":385,"cached_tokens":485,"total_tokens":0},"ttft_ms":505,"latency_ms":9385,"finish":"stop",` +
	`"client":{"ip":"10.0.0.1","agent":"sdk/1.4.1"},"retries":0,"cost":0.648485,"tags":["a","b","c"],"temperature":0.7,"max_tokens":1024,"cache_hit":false,"note":null}`

func TestNothingIsAllocated(t *testing.T) {
	text, long := []byte(row), []byte(`{"text":"`+strings.Repeat("ü und ", 10_000)+`\n"}`)
	f := NewFinder()
	f.Want("usage.prompt_tokens")
	f.Want("model")
	for name, what := range map[string]func(){
		"valid":     func() { Valid(text) },
		"long text": func() { Valid(long) },
		"find":      func() { f.Find(text) },
	} {
		if n := testing.AllocsPerRun(100, what); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkValid(b *testing.B) {
	text := []byte(row)
	for name, valid := range map[string]func([]byte) bool{"jsonscan": Valid, "encoding-json": json.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if !valid(text) {
					b.Fatal("no JSON")
				}
			}
		})
	}
}

// BenchmarkFind is eleven values of a gateway's row, beside encoding/json with a
// struct of them.
func BenchmarkFind(b *testing.B) {
	text := []byte(row)
	b.Run("jsonscan", func(b *testing.B) {
		f := NewFinder()
		for _, path := range strings.Fields("started_at request_id model user tenant session usage.prompt_tokens usage.completion_tokens usage.cached_tokens ttft_ms latency_ms") {
			f.Want(path)
		}
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if !f.Find(text) || string(f.Value(10).Raw) != "9385" {
				b.Fatal("not found")
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			var v struct {
				Start                        int64  `json:"started_at"`
				ID                           string `json:"request_id"`
				Model, User, Tenant, Session string
				Usage                        struct {
					Prompt     int `json:"prompt_tokens"`
					Completion int `json:"completion_tokens"`
					Cached     int `json:"cached_tokens"`
				}
				TTFT    int `json:"ttft_ms"`
				Latency int `json:"latency_ms"`
			}
			if err := json.Unmarshal(text, &v); err != nil || v.Latency != 9385 {
				b.Fatal("not found", err)
			}
		}
	})
}
