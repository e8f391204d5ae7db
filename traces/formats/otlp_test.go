package formats

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"wavetank/traces"
)

// testSpan is a span of trace 1 unless it says otherwise, times in milliseconds.
type testSpan struct {
	trace, id, parent, name string
	start, ms               int
	attrs                   map[string]any
}

const testEpoch = 1_760_000_000_000 // ms

// message writes spans as one message of OTLP, on one line.
func otlpLine(t testing.TB, spans ...testSpan) string {
	t.Helper()
	var list []map[string]any
	for _, s := range spans {
		if s.trace == "" {
			s.trace = "01"
		}
		list = append(list, map[string]any{
			"traceId": s.trace, "spanId": s.id, "parentSpanId": s.parent, "name": s.name, "attributes": otlpAttrs(s.attrs),
			"startTimeUnixNano": strconv.Itoa((testEpoch + s.start) * 1e6), "endTimeUnixNano": strconv.Itoa((testEpoch + s.start + s.ms) * 1e6),
		})
	}
	line, err := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{"scopeSpans": []any{map[string]any{"spans": list}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

func otlpAttrs(attrs map[string]any) (list []any) {
	for key, v := range attrs {
		list = append(list, map[string]any{"key": key, "value": otlpAny(v)})
	}
	return list
}

func otlpAny(v any) map[string]any {
	switch v := v.(type) {
	case int:
		return map[string]any{"intValue": strconv.Itoa(v)}
	case float64:
		return map[string]any{"doubleValue": v}
	case bool:
		return map[string]any{"boolValue": v}
	case []any:
		var values []any
		for _, e := range v {
			values = append(values, otlpAny(e))
		}
		return map[string]any{"arrayValue": map[string]any{"values": values}}
	}
	return map[string]any{"stringValue": v}
}

// spans reads spans that come in one message.
func spans(t testing.TB, list ...testSpan) ([]traces.Record, traces.Source) {
	t.Helper()
	recs, meta, err := read(otlpLine(t, list...), Options{Format: "otlp"})
	if err != nil {
		t.Fatal(err)
	}
	return recs, meta.Sources[0]
}

// The same spans are the same requests in JSON, in protobuf as the reference
// implementation writes it, and compressed message by message.
func TestOTLPEncodings(t *testing.T) {
	for _, same := range [][]string{{"spans.jsonl", "collector.binpb", "collector.zstd", "collector_json.zstd"}, {"request.json", "request.binpb"}} {
		want, _ := collect(t, fixture("otlp", same[0]), Options{})
		for _, name := range same[1:] {
			got, _ := collect(t, fixture("otlp", name), Options{})
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s and %s: other requests", same[0], name)
			}
		}
	}
}

// Whatever way a writer lays out the JSON, it is the same.
func TestOTLPLayouts(t *testing.T) {
	a := otlpLine(t, testSpan{id: "a", ms: 5, attrs: map[string]any{"gen_ai.operation.name": "chat"}})
	b := otlpLine(t, testSpan{trace: "02", id: "b", start: 1, ms: 5, attrs: map[string]any{"gen_ai.operation.name": "chat"}})
	indented := func(line string) string {
		var out bytes.Buffer
		if err := json.Indent(&out, []byte(line), "", "  "); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	numbers := strings.NewReplacer(`"startTimeUnixNano":"1`, `"startTimeUnixNano":1`, `000000","t`, `000000,"t`, `"traceId":"01"`, `"kind":"SPAN_KIND_CLIENT","traceId":"01"`).Replace(a)
	if numbers == a || !json.Valid([]byte(numbers)) {
		t.Fatalf("times as numbers: %s", numbers)
	}
	want, _, err := read(a+b, Options{})
	if err != nil || len(want) != 2 {
		t.Fatal(want, err)
	}
	for name, log := range map[string]string{
		"blank lines": "\n" + a + "\n\n" + b, "CRLF": strings.ReplaceAll(a+b, "\n", "\r\n"), "no newline at the end": a + strings.TrimSpace(b),
		"a list": "[" + a + "," + b + "]", "an indented list": indented("[" + a + "," + b + "]"), "two on one line": strings.TrimSpace(a) + b,
		"indented": indented(a) + "\n" + indented(b), "byte order mark": "\xef\xbb\xbf" + a + b, "numbers and names": numbers + b,
	} {
		got, _, err := read(log, Options{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A file of messages that is cut loses the message that it is cut in, and says so.
func TestFramesCut(t *testing.T) {
	whole, err := os.ReadFile(fixture("otlp", "collector.binpb"))
	if err != nil {
		t.Fatal(err)
	}
	ends := map[int]bool{}
	for at := 0; at < len(whole); at += frameHead + int(binary.BigEndian.Uint32(whole[at:])) {
		ends[at] = true
	}
	first := frameHead + int(binary.BigEndian.Uint32(whole))
	for n := first; n < len(whole); n += 41 {
		recs, meta, err := drain(whole[:n], Options{Format: "otlp"})
		if cut := meta.Sources[0].Rejected[HalfLine]; err != nil || len(recs) < 2 || (cut == 1) == ends[n] || cut > 1 {
			t.Fatalf("%d bytes: %d requests, %d half messages, %v", n, len(recs), cut, err)
		}
	}
}

// A message over the limit is rejected by the limit's name, and the next is read.
func TestLongMessage(t *testing.T) {
	long, short := make([]byte, 3000), otlpLine(t, testSpan{id: "a", ms: 5, attrs: map[string]any{"gen_ai.operation.name": "chat"}})
	var log bytes.Buffer
	for _, m := range []string{short, string(long), short} {
		log.Write(binary.BigEndian.AppendUint32(nil, uint32(len(m))))
		log.WriteString(m)
	}
	var rejects []Reject
	recs, meta, err := read(log.String(), Options{MaxLine: 2000, OnReject: func(r Reject) { rejects = append(rejects, r) }})
	if err != nil || len(recs) != 1 || meta.Sources[0].Merged != 1 {
		t.Fatalf("%v, %+v, %v", recs, meta.Sources, err)
	}
	if len(rejects) != 1 || rejects[0].Reason != LongLine || rejects[0].Line != 2 || !strings.Contains(rejects[0].Err.Error(), "limit of 2000") {
		t.Errorf("%+v", rejects)
	}
}

// Newer exporters write fields that are not known here.
func TestWireUnknownFields(t *testing.T) {
	log, err := os.ReadFile(fixture("otlp", "request.binpb"))
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := read(string(log), Options{})
	if err != nil {
		t.Fatal(err)
	}
	unknown := "\xc8\x3e\x07" + "\xd2\x3e\x03abc" + "\xd9\x3e12345678" + "\xdd\x3e1234" // 1001..1003, of each wire type
	got, _, err := read(string(log)+unknown, Options{Format: "otlp"})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// A field that is taken off a message is a part of it, and what is left is the rest.
func FuzzWire(f *testing.F) {
	for _, name := range []string{"request.binpb", "broken.binpb"} {
		b, err := os.ReadFile(fixture("otlp", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:200])
	}
	f.Add([]byte("\x08\x96\x01\x11\x01\x02\x03\x04\x05\x06\x07\x08\x15\x01\x02\x03\x04"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			field, rest, err := nextField(b)
			if err != nil {
				return
			}
			if len(rest) >= len(b)-1 || !bytes.HasSuffix(b, rest) || len(field.b) > len(b) || field.num < 1 {
				t.Fatalf("%x: %+v, %d bytes left", b, field, len(rest))
			}
			if v, err := wireValue(field.b, 0); err == nil && field.kind != wireBytes && v != nil {
				t.Fatalf("a number has a value: %v", v)
			}
			b = rest
		}
	})
}

func FuzzOTLP(f *testing.F)          { fuzz(f, "otlp") }
func FuzzInferencePerf(f *testing.F) { fuzz(f, "inference-perf") }

func benchSpans(b *testing.B) []byte {
	var log bytes.Buffer
	for i := range 2000 {
		log.WriteString(otlpLine(b, testSpan{trace: fmt.Sprintf("%032x", i), id: fmt.Sprintf("%016x", i), name: "chat m", start: i * 100, ms: 900, attrs: map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1000 + i, "gen_ai.usage.output_tokens": 100,
			"gen_ai.request.temperature": 0.5, "gen_ai.response.finish_reasons": []any{"stop"}, "server.address": "127.0.0.1", "gen_ai.provider.name": "p",
		}}))
	}
	return log.Bytes()
}

func BenchmarkOTLP(b *testing.B) { benchmark(b, benchSpans(b), 2000, Options{}) }
