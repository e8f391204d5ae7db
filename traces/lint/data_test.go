package lint

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// lines calls parse for each line of a shared log, so that these tests need no
// other package of ours.
func lines(t *testing.T, path string, parse func(string) (traces.Record, error)) []traces.Record {
	t.Helper()
	f, err := os.Open("../../testdata/logs/" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var recs []traces.Record
	s := bufio.NewScanner(r)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "TIMESTAMP") {
			continue
		}
		rec, err := parse(s.Text())
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return recs
}

func azure(line string) (rec traces.Record, err error) {
	col := strings.Split(line, ",")
	at, err := time.Parse("2006-01-02 15:04:05.9999999", col[0])
	if err != nil {
		return rec, err
	}
	prompt, err := strconv.Atoi(col[1])
	if err != nil {
		return rec, err
	}
	output, err := strconv.Atoi(col[2])
	rec.Arrival = at.Sub(time.Date(2023, 11, 16, 18, 0, 0, 0, time.UTC))
	rec.PromptTokens, rec.OutputTokens = traces.Some(int32(prompt)), traces.Some(int32(output))
	return rec, err
}

func mooncake(line string) (rec traces.Record, err error) {
	var v struct {
		Timestamp int64    `json:"timestamp"`
		Input     int32    `json:"input_length"`
		Output    int32    `json:"output_length"`
		IDs       []uint64 `json:"hash_ids"`
	}
	err = json.Unmarshal([]byte(line), &v)
	rec.Arrival = time.Duration(v.Timestamp) * time.Millisecond
	rec.PromptTokens, rec.OutputTokens = traces.Some(v.Input), traces.Some(v.Output)
	for _, id := range v.IDs {
		if n := len(rec.Blocks); n > 0 && rec.Blocks[n-1].Start+uint64(rec.Blocks[n-1].Len) == id {
			rec.Blocks[n-1].Len++
			continue
		}
		rec.Blocks = append(rec.Blocks, traces.BlockRun{Start: id, Len: 1})
	}
	return rec, err
}

// The figures are numpy's: np.percentile (its default, type 7), and np.std over
// np.mean of np.diff of the sorted stamps.
func TestAzureConversation(t *testing.T) {
	f := inspect(t, lines(t, "azure/AzureLLMInferenceTrace_conv.csv.gz", azure))
	if f.Rows != 19_366 || f.Resolution != time.Microsecond || fmt.Sprintf("%.3f", *f.GapCV) != "1.094" || fmt.Sprintf("%.3f", *f.MeanRate) != "5.530" {
		t.Errorf("%+v", f)
	}
	p := f.PromptTokens
	if got := []float64{*p.P50, *p.P90, *p.P99, *p.Max}; !slices.Equal(got, []float64{1020, 2734.5, 4142, 14050}) {
		t.Errorf("prompt %v", got)
	}
	o := f.OutputTokens
	if got := []float64{*o.P50, *o.P90, *o.P99, *o.Max}; !slices.Equal(got, []float64{129, 424, 601, 1000}) {
		t.Errorf("output %v", got)
	}
	if len(f.Findings) > 0 {
		t.Errorf("findings %v", f.Findings)
	}
	var b strings.Builder
	if err := f.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	// Half a token is rounded up, as people do.
	if !strings.Contains(b.String(), "prompt               2    1020    2735    4142   14050    1155") {
		t.Error(b.String())
	}
}

// The clock of Mooncake's trace ticks every three seconds.
func TestMooncakeTicks(t *testing.T) {
	s := newScan(noMeta)
	recs := lines(t, "mooncake/conversation_trace.head600.jsonl", mooncake)
	for _, rec := range recs {
		s.add(&rec)
	}
	s.finish()
	if g, share := traces.Tick(s.gaps, s.facts.Rows); math.Abs(g.Seconds()-3) > .001 || share != 1 {
		t.Errorf("tick %v, share %v", g, share)
	}
	f := inspect(t, recs)
	if f.Rows != 600 || f.DistinctArrivals != 68 || !slices.Contains(names(f), "tick") || f.Blocks.Rows != 600 {
		t.Errorf("%+v", f)
	}
}
