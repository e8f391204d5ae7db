package formats

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"wavetank/traces"
)

// aBody is a request body that no writer of JSON would write so again.
const aBody = `{"model": "m",  "messages":[{"content":"Gr\u00fc\u00dfe \"x\" ü"}], "max_tokens":1.0, "messages_":[]}`

// bodyLogs are rows of the logs that hold request bodies, with BODY or, in a JSON
// string, TEXT in its place.
var bodyLogs = []struct{ format, row string }{
	{"bedrock", `{"schemaType": "ModelInvocationLog", "timestamp": "2025-03-01T09:00:00Z", "requestId": "r", "operation": "Converse", "modelId": "m", "input": {"inputBodyJson": BODY, "inputTokenCount": 4}}`},
	{"vertex", `{"logging_time": "2025-03-01 09:00:00 UTC", "api_method": "rawPredict", "full_request": BODY}`},
	{"vertex", `{"logging_time": "2025-03-01 09:00:00 UTC", "api_method": "rawPredict", "full_request": TEXT}`},
	{"helicone", `{"request_id": "r", "request_created_at": "2025-03-01T09:00:00Z", "delay_ms": 1, "response_status": 200, "request_body": BODY}`},
	{"portkey", `{"created_at": "2025-03-01T09:00:00Z", "ai_model": "m", "req_units": 1, "res_units": 1, "response_time": 1, "request": {"url": "u", "body": BODY}}`},
	{"portkey", `{"created_at": "2025-03-01T09:00:00Z", "ai_model": "m", "req_units": 1, "res_units": 1, "response_time": 1, "request": TEXT}`},
	{"kong", `{"started_at": 1740819600000, "latencies": {}, "ai": {"proxy": {"payload": {"request": TEXT}}}}`},
	{"kong", `{"started_at": 1740819600000, "latencies": {}, "ai": {"payload": {"request": TEXT}, "ai-proxy": {}}}`},
	{"litellm-spend", `{"request_id": "r", "call_type": "acompletion", "startTime": "2025-03-01 09:00:00", "endTime": "2025-03-01 09:00:01", "spend": 0, "proxy_server_request": TEXT}`},
	{"litellm-spend", `{"request_id": "r", "call_type": "acompletion", "startTime": "2025-03-01 09:00:00", "endTime": "2025-03-01 09:00:01", "spend": 0, "proxy_server_request": BODY}`},
	{"litellm-spend", "request_id,call_type,startTime,endTime,spend,proxy_server_request\nr,acompletion,2025-03-01 09:00:00,2025-03-01 09:00:01,0,CELL\n"},
	{"sagemaker", `{"captureData": {"endpointInput": {"encoding": "JSON", "data": TEXT}}, "eventMetadata": {"eventId": "e", "inferenceTime": "2026-04-29T00:03:18Z"}}`},
	{"sagemaker", `{"captureData": {"endpointInput": {"encoding": "BASE64", "data": ENCODED}}, "eventMetadata": {"eventId": "e", "inferenceTime": "2026-04-29T00:03:18Z"}}`},
	{"jsonl", `{"arrival": 1740819600, "body": BODY}`},
	{"jsonl", `{"arrival": 1740819600, "body": TEXT}`},
	{"csv", "arrival,body\n1740819600,CELL\n"},
}

// with puts a body into a row of a log, as JSON, in a JSON string or in a cell.
func with(row, body string) string {
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(body) + `"`
	cell := `"` + strings.ReplaceAll(body, `"`, `""`) + `"`
	return strings.NewReplacer("BODY", body, "TEXT", quoted, "CELL", cell, "ENCODED", `"`+base64.StdEncoding.EncodeToString([]byte(body))+`"`).Replace(row)
}

// A body that is to be kept is kept to the byte, and otherwise not at all; nothing
// else of the row depends on it.
func TestKeepBodies(t *testing.T) {
	for _, tt := range bodyLogs {
		log := with(tt.row, aBody)
		kept, bare := one(t, log, Options{Format: tt.format, KeepBodies: true}), one(t, log, Options{Format: tt.format})
		if string(kept.Body) != aBody || bare.Body != nil {
			t.Errorf("%s: body %q, and %q unasked, of\n%s", tt.format, kept.Body, bare.Body, log)
		}
		if kept.Body = nil; !reflect.DeepEqual(kept, bare) {
			t.Errorf("%s: with its body a row is\n%+v, without\n%+v", tt.format, kept, bare)
		}
	}
}

// Fields of any name are bodies if a map says so, and the map can be read without.
func TestKeepBodiesByMap(t *testing.T) {
	o := Options{Map: []string{"arrival=at", "body=in.raw | text"}}
	for _, log := range []string{`{"at": 1740819600, "in": {"raw": BODY}}`, `{"at": 1740819600, "text": TEXT}`, "at,text\n1740819600,CELL\n"} {
		o.KeepBodies = true
		kept := one(t, with(log, aBody), o)
		o.KeepBodies = false
		if bare := one(t, with(log, aBody), o); string(kept.Body) != aBody || bare.Body != nil {
			t.Errorf("%s: body %q, and %q unasked", log, kept.Body, bare.Body)
		}
	}
	plain := Options{Map: []string{"arrival=at", "body=text"}}
	if r := one(t, with("at,text\n1740819600,CELL\n", aBody), plain); r.Body != nil {
		t.Errorf("body %q unasked", r.Body)
	}
	own := Options{Map: []string{"body = request_head"}, KeepBodies: true}
	cloudflare := `{"created_at": "2025-03-01 09:00:00", "duration": 1, "provider": "p", "tokens_in": 1, "tokens_out": 1, "cached": false, "request_head": BODY}`
	own.Format = "cloudflare"
	if r := one(t, with(cloudflare, aBody), own); string(r.Body) != aBody {
		t.Errorf("by an amended map: %q", r.Body)
	}
}

// What is no whole body is none: an envelope, a placeholder, a text that was cut.
func TestNoWholeBody(t *testing.T) {
	for _, tt := range []struct{ format, body string }{
		{"litellm-spend", `{}`},
		{"litellm-spend", `{"messages": [{"content": "begin... (litellm_truncated 9000 chars) ...end"}]}`},
		{"helicone", `{"max_tokens": 5}`},
		{"bedrock", `null`},
		{"portkey", `null`},
		{"kong", `-`},
	} {
		for _, l := range bodyLogs {
			if l.format != tt.format || tt.body == "-" && !strings.Contains(l.row, "TEXT") {
				continue
			}
			if r := one(t, with(l.row, tt.body), Options{Format: l.format, KeepBodies: true}); r.Body != nil {
				t.Errorf("%s: %q was kept", l.format, r.Body)
			}
		}
	}
}

// A format without bodies says so before it is read; no log gives bodies unasked.
func TestBodiesOfFormats(t *testing.T) {
	keep := []string{"bedrock", "helicone", "jsonl", "kong", "litellm-spend", "portkey", "sagemaker", "vertex"}
	for _, f := range Formats {
		for _, path := range fixtures(t, f.Name) {
			s, err := OpenFile(path, Options{Format: f.Name, KeepBodies: true})
			if err == nil {
				s.Close()
			}
			if slices.Contains(keep, f.Name) != (err == nil) || err != nil && !errors.Is(err, ErrNoBodies) {
				t.Errorf("%s: %v", path, err)
			}
			recs, _ := collect(t, path, Options{})
			if i := slices.IndexFunc(recs, func(r traces.Record) bool { return r.Body != nil }); i >= 0 {
				t.Errorf("%s: row %d has the body %q", path, i, recs[i].Body)
			}
		}
	}
}

// The limit of a row is that of its body.
func TestBodyLimit(t *testing.T) {
	long := fmt.Sprintf(`{"messages": %q}`, strings.Repeat("x", 4000))
	o := Options{KeepBodies: true, MaxLine: 2000}
	_, meta, err := read(with(bodyLogs[0].row, aBody)+"\n"+with(bodyLogs[0].row, long)+"\n", o)
	if err != nil || meta.Sources[0].Rejected[LongLine] != 1 {
		t.Errorf("%+v, %v", meta.Sources, err)
	}
}

// Bodies are the same from all parsers of a log that several cores read.
func TestKeepBodiesInParallel(t *testing.T) {
	var log strings.Builder
	for i := range 500 {
		fmt.Fprintln(&log, with(bodyLogs[0].row, fmt.Sprintf(`{"messages": [%d]}`, i)))
	}
	recs, _, err := read(log.String(), Options{KeepBodies: true, workers: 4, blockBytes: 1 << 10})
	for i, r := range recs {
		if string(r.Body) != fmt.Sprintf(`{"messages": [%d]}`, i) {
			t.Fatalf("row %d: %q", i, r.Body)
		}
	}
	if err != nil || len(recs) != 500 {
		t.Errorf("%d rows, %v", len(recs), err)
	}
}

// A list has its bodies as they stand, over as many lines as they do.
func TestKeepBodiesOfLists(t *testing.T) {
	log, err := os.ReadFile(fixture("", "apim/joined.json"))
	if err != nil {
		t.Fatal(err)
	}
	const text = "{\n   \"a\": [1,\n 2] }"
	list := strings.ReplaceAll(string(log), `"Cache": "none"`, `"Cache": "none", "body": `+text)
	recs, _, err := read(list, Options{Map: []string{"body = body"}, Format: "apim", KeepBodies: true})
	if err != nil || string(recs[0].Body) != text {
		t.Errorf("%q, %v", recs[0].Body, err)
	}
}
