package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// gatewayMap is what is taken of the gateway's log that is made here: ten of its
// fields and more, some of them nested.
var gatewayMap = []string{
	"arrival=started_at:ms", "id=request_id", "model=model", "user=user", "tenant=tenant", "session=session",
	"prompt_tokens=usage.prompt_tokens", "output_tokens=usage.completion_tokens", "cached_tokens=usage.cached_tokens",
	"ttft=ttft_ms", "e2e=latency_ms",
}

const (
	duckCSV  = `read_csv('%s', header=true, columns={TIMESTAMP: 'TIMESTAMP', ContextTokens: 'INTEGER', GeneratedTokens: 'INTEGER'})`
	duckMoon = `read_json('%s', format='newline_delimited', columns={timestamp: 'BIGINT', input_length: 'INTEGER', output_length: 'INTEGER', hash_ids: 'UBIGINT[]'})`
	duckLog  = `(SELECT started_at, request_id, model, "user", tenant, session, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, ttft_ms, latency_ms
		FROM read_json('%s', format='newline_delimited', columns={started_at: 'BIGINT', request_id: 'VARCHAR', model: 'VARCHAR', "user": 'VARCHAR', tenant: 'VARCHAR', session: 'VARCHAR',
		usage: 'STRUCT(prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER)', ttft_ms: 'BIGINT', latency_ms: 'BIGINT'}))`
	duckSums = `SELECT count(*), sum(hash(COLUMNS(*))) FROM ` // no column may be left unread
	duckCopy = `COPY (SELECT * FROM %s) TO '%s' (FORMAT parquet, COMPRESSION zstd)`
)

// duckDB runs a statement and tells the time of it alone, without the start of the
// interpreter.
const duckDB = `
import duckdb, json, os, sys, time
connection = duckdb.connect()
wall, cpu = time.perf_counter(), os.times()
connection.execute(sys.argv[1]).fetchall()
end = os.times()
print(json.dumps({"wall": time.perf_counter() - wall, "cpu": end.user + end.system - cpu.user - cpu.system}))
`

// A cost is what a process took: seconds, and bytes of memory at its peak.
type cost struct{ Wall, CPU, peak float64 }

// BenchmarkPeers holds reading and converting logs against DuckDB on the same files,
// in turns, and tells the ratios of the medians of three: above 1 is better than
// DuckDB in wall and CPU time, below 1 in memory. DuckDB writes Parquet.
func BenchmarkPeers(b *testing.B) {
	python := os.Getenv("WAVETANK_TEST_PYTHON")
	if python == "" {
		b.Skip("SKIPPED: WAVETANK_TEST_PYTHON does not name a Python with duckdb")
	}
	dir := b.TempDir()
	program := filepath.Join(dir, "wavetank")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	logs := []struct {
		name, table string
		make        func(*testing.B, string, int)
		rows        int
		flags       []string
	}{
		{"azure.csv", duckCSV, writeLog, 2_000_000, nil},
		{"mooncake.jsonl", duckMoon, writeMooncake, 200_000, nil},
		{"gateway.jsonl", duckLog, writeGateway, 200_000, mapFlags()},
	}
	for _, log := range logs {
		path := filepath.Join(dir, log.name)
		log.make(b, path, log.rows)
		for _, path := range withZstd(b, path) {
			table := fmt.Sprintf(log.table, path)
			b.Run("scan/"+filepath.Base(path), func(b *testing.B) {
				sideBySide(b, scanCommand(path), exec.Command(python, "-c", duckDB, duckSums+table))
			})
			b.Run("convert/"+filepath.Base(path), func(b *testing.B) {
				out := filepath.Join(dir, "out")
				ours := exec.Command(program, append([]string{"convert", path, "--force", "-o", out + ".arrow"}, log.flags...)...)
				sideBySide(b, ours, exec.Command(python, "-c", duckDB, fmt.Sprintf(duckCopy, table, out+".parquet")))
			})
		}
	}
}

// BenchmarkMooncakeConversation converts a log of the size of the published
// conversation trace, with a process of its own.
func BenchmarkMooncakeConversation(b *testing.B) {
	dir := b.TempDir()
	program, log := filepath.Join(dir, "wavetank"), filepath.Join(dir, "log.jsonl")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	writeMooncake(b, log, 12_031)
	for b.Loop() {
		measure(b, exec.Command(program, "convert", log, "--force", "-o", log+".arrow"))
	}
}

func sideBySide(b *testing.B, ours, theirs *exec.Cmd) {
	var our, their []cost
	for range 3 {
		our, their = append(our, measure(b, ours)), append(their, measure(b, theirs))
	}
	for b.Loop() { // all is measured
	}
	b.ReportMetric(0, "ns/op")
	for _, m := range []struct {
		unit string
		of   func(cost) float64
		less bool // is better
	}{
		{"wall-ratio", func(c cost) float64 { return c.Wall }, false},
		{"cpu-ratio", func(c cost) float64 { return c.CPU }, false},
		{"memory-ratio", func(c cost) float64 { return c.peak }, true},
	} {
		ratio := median(their, m.of) / median(our, m.of)
		if m.less {
			ratio = 1 / ratio
		}
		b.ReportMetric(ratio, m.unit)
	}
	b.ReportMetric(median(our, func(c cost) float64 { return c.CPU }), "s-cpu")
	b.ReportMetric(median(our, func(c cost) float64 { return c.peak / 1e6 }), "MB-peak")
}

func median(costs []cost, of func(cost) float64) float64 {
	var values []float64
	for _, c := range costs {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// measure runs a command anew. Where it prints what it took itself, that counts.
func measure(b *testing.B, command *exec.Cmd) cost {
	b.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(command.Path, command.Args[1:]...)
	c.Env, c.Stdout, c.Stderr = command.Env, &stdout, &stderr
	start := time.Now()
	if err := c.Run(); err != nil {
		b.Fatalf("%v\n%s%s", err, stdout.Bytes(), stderr.Bytes())
	}
	took := cost{Wall: time.Since(start).Seconds(), CPU: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()}
	if line, _, _ := bytes.Cut(stdout.Bytes(), []byte("\n")); bytes.HasPrefix(line, []byte("{")) {
		if err := json.Unmarshal(line, &took); err != nil {
			b.Fatal(err)
		}
	}
	took.peak = float64(peakMemory(c.ProcessState))
	return took
}

// scanCommand has this test program read a log to its end (TestScan).
func scanCommand(path string) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run=^TestScan$")
	c.Env = append(os.Environ(), "WAVETANK_TEST_SCAN="+path)
	return c
}

// TestScan is a process that only reads a log, for BenchmarkPeers, and tells the time of
// it alone, as duckDB does.
func TestScan(t *testing.T) {
	path := os.Getenv("WAVETANK_TEST_SCAN")
	if path == "" {
		t.Skip("a part of BenchmarkPeers")
	}
	var o formats.Options
	if bytes.Contains([]byte(path), []byte("gateway")) {
		o.Map = gatewayMap
	}
	start := time.Now()
	s, err := formats.OpenFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := traces.Copy(nowhere{}, s); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("{\"wall\": %f}\n", time.Since(start).Seconds())
}

// nowhere takes rows as a trace file does, by columns where they come so.
type nowhere struct{}

func (nowhere) Write(*traces.Record) error     { return nil }
func (nowhere) WriteBatch(*traces.Batch) error { return nil }

func mapFlags() (flags []string) {
	for _, pair := range gatewayMap {
		flags = append(flags, "--map", pair)
	}
	return flags
}

// withZstd returns the path, and that of the file compressed if there is a zstd.
func withZstd(b *testing.B, path string) []string {
	if err := exec.Command("zstd", "-q", "-k", path).Run(); err != nil {
		b.Logf("zstd %s: %v: measured uncompressed only", path, err)
		return []string{path}
	}
	return []string{path, path + ".zst"}
}

// writeRows writes n lines.
func writeRows(b *testing.B, path string, n int, row func(w io.Writer, i int)) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range n {
		row(w, i)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}

// writeMooncake writes the head of the Mooncake conversation trace over and over,
// each repetition after the one before.
func writeMooncake(b *testing.B, path string, n int) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "logs", "mooncake", "conversation_trace.head600.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	const stamp = `{"timestamp": `
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	writeRows(b, path, n, func(w io.Writer, i int) {
		line, ok := bytes.CutPrefix(lines[i%len(lines)], []byte(stamp))
		ms, rest, _ := bytes.Cut(line, []byte(","))
		at, err := strconv.Atoi(string(ms))
		if !ok || err != nil {
			b.Fatalf("%s: %v", line, err)
		}
		fmt.Fprintf(w, "%s%d,%s\n", stamp, at+i/len(lines)*300_000, rest)
	})
}

// writeGateway writes a log such as a gateway keeps: 25 fields, of which eleven are
// of a trace.
func writeGateway(b *testing.B, path string, n int) {
	writeRows(b, path, n, func(w io.Writer, i int) {
		mixed := uint64(i) * 0x9e3779b97f4a7c15 // scattered, and the same every time
		fmt.Fprintf(w, `{"request_id":"req-%016x","started_at":%d,"route":"/v1/chat/completions","method":"POST","region":"eu-west-1","upstream":"pool-%d",`+
			`"model":"model-%d","user":"user-%d","tenant":"team-%d","session":"s-%d","stream":true,"status":200,`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"cached_tokens":%d,"total_tokens":0},"ttft_ms":%d,"latency_ms":%d,"finish":"stop",`+
			`"client":{"ip":"10.0.0.%d","agent":"sdk/1.4.%d"},"retries":0,"cost":0.%06d,"trace":"%032x","tags":["a","b","c"],"temperature":0.7,"max_tokens":1024,"cache_hit":false,"note":null}`+"\n",
			mixed, 1740819600000+30*i, i%7, i%3, mixed%3000, mixed%40, mixed%50000, mixed%9000, mixed%900, mixed%500, 20+mixed%900, 900+mixed%30000, i%250, i%9, mixed%1e6, mixed)
	})
}
