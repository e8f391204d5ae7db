package formats

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"wavetank/traces"
)

// benchmark reads rows of a format and reports rows per second.
func benchmark(b *testing.B, log []byte, rows int, o Options) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(bytes.NewReader(log), "x", o)
		if err != nil {
			b.Fatal(err)
		}
		var rec traces.Record
		n := 0
		for err = s.Read(&rec); err == nil; err = s.Read(&rec) {
			n++
		}
		if err != io.EOF || n != rows {
			b.Fatalf("%d rows of %d, %v", n, rows, err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

const benchRows = 100_000

func azureLog() []byte {
	var log bytes.Buffer
	log.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\r\n")
	at := time.Date(2023, 11, 16, 18, 15, 46, 680_590_000, time.UTC)
	for i := range benchRows {
		at = at.Add(181 * time.Millisecond)
		fmt.Fprintf(&log, "%s0,%d,%d\r\n", at.Format("2006-01-02 15:04:05.000000"), 17+i%4000, i%700)
	}
	return log.Bytes()
}

func BenchmarkAzure(b *testing.B) { benchmark(b, azureLog(), benchRows, Options{}) }

func BenchmarkCSV(b *testing.B) {
	benchmark(b, azureLog(), benchRows, Options{Map: []string{"arrival=TIMESTAMP", "prompt_tokens=ContextTokens", "output_tokens=GeneratedTokens"}})
}

func BenchmarkMooncake(b *testing.B) {
	log, err := os.ReadFile(fixture("mooncake", "conversation_trace.head600.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, bytes.Repeat(log, 20), 12000, Options{})
}

func BenchmarkJSONL(b *testing.B) {
	var log bytes.Buffer
	for i := range benchRows / 10 {
		fmt.Fprintf(&log, `{"arrival": %d, "session": "s%d", "model": "large", "prompt_tokens": %d, "output_tokens": 80, "ttft_ms": 31.5}`+"\n", 1740819600000+i, i/4, i)
	}
	benchmark(b, log.Bytes(), benchRows/10, Options{})
}

// BenchmarkGateway is a gateway's log of 25 fields, eleven of which are mapped: one
// field a column, and with a choice of fields, which is the whole language of maps.
func BenchmarkGateway(b *testing.B) {
	var log bytes.Buffer
	for i := range benchRows / 10 {
		fmt.Fprintf(&log, `{"request_id":"req-%016x","started_at":%d,"route":"/v1/chat/completions","method":"POST","region":"eu-west-1","upstream":"pool-%d",`+
			`"model":"model-%d","user":"user-%d","tenant":"team-%d","session":"s-%d","stream":true,"status":200,`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"cached_tokens":%d,"total_tokens":0},"ttft_ms":%d,"latency_ms":%d,"finish":"stop",`+
			`"client":{"ip":"10.0.0.%d","agent":"sdk/1.4"},"retries":0,"cost":0.%06d,"trace":"%032x","tags":["a","b","c"],"temperature":0.7,"max_tokens":1024,"cache_hit":false,"note":null}`+"\n",
			i*2654435761, 1740819600000+30*i, i%7, i%3, i*7919%3000, i%40, i/5, i%9000, i%900, i%500, 20+i%900, 900+i%30000, i%250, i, i)
	}
	fields := []string{"arrival=started_at:ms", "model=model", "user=user", "tenant=tenant", "session=session", "prompt_tokens=usage.prompt_tokens",
		"output_tokens=usage.completion_tokens", "cached_tokens=usage.cached_tokens", "ttft=ttft_ms", "e2e=latency_ms"}
	for _, id := range []string{"id=request_id", "id = request_id | trace"} {
		b.Run(id, func(b *testing.B) { benchmark(b, log.Bytes(), benchRows/10, Options{Map: append(fields, id)}) })
	}
}
