package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"wavetank/testdata"
)

const benchRows = 10_000_000

// BenchmarkConvert converts ten million rows, the hour of the Azure conversation
// trace played over and over, with a process of its own, and tells its peak
// memory and its speed.
func BenchmarkConvert(b *testing.B) {
	dir := b.TempDir()
	program, log := filepath.Join(dir, "wavetank"), filepath.Join(dir, "log.csv")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	writeLog(b, log, benchRows)
	var peak int64
	for b.Loop() {
		cmd := exec.Command(program, "convert", log, "--app", "chat", "--force", "-o", filepath.Join(dir, "t.arrow"))
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		peak = max(peak, peakMemory(cmd.ProcessState))
	}
	b.ReportMetric(float64(peak)/1e6, "MB-peak")
	b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// writeLog writes n rows, each repetition an hour after the one before.
func writeLog(b *testing.B, path string, n int) {
	z, err := gzip.NewReader(bytes.NewReader(testdata.AzureConv))
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\r\n"))
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintf(w, "%s\r\n", lines[0])
	const layout = "2006-01-02 15:04:05.0000000"
	rows := lines[1:]
	for i := range n {
		row := rows[i%len(rows)]
		at, err := time.Parse(layout, string(row[:len(layout)]))
		if err != nil {
			b.Fatal(err)
		}
		at = at.Add(time.Duration(i/len(rows)) * time.Hour)
		fmt.Fprintf(w, "%s%s\r\n", at.Format(layout), row[len(layout):])
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}
