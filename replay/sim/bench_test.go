package sim

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"wavetank/traces"
)

// azureConv reads the public one-hour trace of conversations at Azure.
func azureConv(tb testing.TB) []traces.Record {
	const name = "../../testdata/logs/azure/AzureLLMInferenceTrace_conv.csv.gz"
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		tb.Skipf("%s is not there", name)
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var recs []traces.Record
	var first time.Time
	rows := csv.NewReader(z)
	rows.Read() // the header
	for row, err := rows.Read(); err != io.EOF; row, err = rows.Read() {
		if err != nil {
			tb.Fatal(err)
		}
		at, err1 := time.Parse(time.DateTime, row[0])
		in, err2 := strconv.Atoi(row[1])
		out, err3 := strconv.Atoi(row[2])
		if err := errors.Join(err1, err2, err3); err != nil {
			tb.Fatal(err)
		}
		if recs == nil {
			first = at
		}
		recs = append(recs, request(at.Sub(first), in, out))
		recs[len(recs)-1].Seq = uint64(len(recs) - 1)
	}
	return recs
}

// request is a row of a trace.
func request(at time.Duration, prompt, output int) (rec traces.Record) {
	rec.Arrival = at
	rec.PromptTokens, rec.OutputTokens = traces.Some(int32(prompt)), traces.Some(int32(output))
	return rec
}

var discard = traces.WriterFunc(func(*traces.Record) error { return nil })

func BenchmarkRunAzureConvHour(b *testing.B) {
	recs := azureConv(b)
	b.ReportAllocs()
	var res Result
	for b.Loop() {
		var err error
		if res, err = Run(traces.FromSlice(recs), discard, Config{}, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(recs)), "requests")
	b.ReportMetric(float64(res.Steps), "steps")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(res.Generated), "ns/token")
}
