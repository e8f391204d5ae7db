package formats

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// A recorded request, by encoding/json alone.
type recorded struct {
	Type     string     `json:"type"`
	T        float64    `json:"t"`
	Model    string     `json:"model"`
	In       int32      `json:"in"`
	Out      int32      `json:"out"`
	HashIDs  []uint64   `json:"hash_ids"`
	Stop     string     `json:"stop"`
	APITime  *float64   `json:"api_time"`
	TTFT     *float64   `json:"ttft"`
	Requests []recorded `json:"requests"`
}

// flat returns the requests of a session with their times since its start.
func flat(t *testing.T, path string) (all []recorded) {
	t.Helper()
	f, err := os.Open(path)
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
	var session recorded
	if err := json.NewDecoder(r).Decode(&session); err != nil {
		t.Fatal(err)
	}
	for _, q := range session.Requests {
		if q.Type != "subagent" {
			all = append(all, q)
		}
		for _, inner := range q.Requests {
			inner.T += q.T
			all = append(all, inner)
		}
	}
	slices.SortStableFunc(all, func(a, b recorded) int { return cmp.Compare(a.T, b.T) })
	return all
}

// Published sessions keep every id of every request, and all else that is said of it.
func TestWekaKeepsAll(t *testing.T) {
	for name, requests := range map[string]int{"trace_0103.json": 3, "trace_0187.json": 3, "trace_0504.json": 3, "trace_0291.json.gz": 32} {
		path := fixture("weka", name)
		recs, meta := collect(t, path, Options{})
		want := flat(t, path)
		if len(recs) != requests || len(want) != requests || meta.BlockTokens != 64 || meta.BlockScope != "session" || meta.T0 != nil {
			t.Fatalf("%s: %d requests of %d, %+v", name, len(recs), len(want), meta)
		}
		for i, r := range recs {
			q := want[i]
			if got := idsOf(r.Blocks); !slices.Equal(got, q.HashIDs) {
				t.Errorf("%s, request %d: ids %v, want %v", name, i, got, q.HashIDs)
			}
			if r.Arrival != seconds(q.T) || r.PromptTokens.V != q.In || r.OutputTokens.V != q.Out || r.Model.V != q.Model ||
				r.Stream.V != (q.Type == "s") || r.Outcome.FinishReason.V != q.Stop || r.Turn.V != int32(i) {
				t.Errorf("%s, request %d: %+v, want %+v", name, i, r, q)
			}
			if r.Outcome.End != optSeconds(q.APITime) || r.Outcome.FirstToken != optSeconds(q.TTFT) {
				t.Errorf("%s, request %d: end %v, first token %v", name, i, r.Outcome.End, r.Outcome.FirstToken)
			}
		}
	}
}

func idsOf(runs []traces.BlockRun) (ids []uint64) {
	for _, run := range runs {
		for i := range uint64(run.Len) {
			ids = append(ids, run.Start+i)
		}
	}
	return ids
}

// seconds is exact for the milliseconds of these files.
func seconds(s float64) time.Duration { return time.Duration(s*1e6+.5) * time.Microsecond }

func optSeconds(s *float64) traces.Opt[time.Duration] {
	if s == nil {
		return traces.Opt[time.Duration]{}
	}
	return traces.Some(seconds(*s))
}

// Nothing waits for what had not ended, think times fit the arrivals, and the main
// line has the answer of every subagent that it started.
func TestWekaGraph(t *testing.T) {
	recs, _ := collect(t, fixture("weka", "trace_0291.json.gz"), Options{})
	awaited := make(map[uint64]int)
	for _, r := range recs {
		last := time.Duration(-1)
		for _, seq := range r.After {
			p := recs[seq]
			awaited[seq]++
			last = max(last, p.Arrival+p.Outcome.End.V)
			if seq >= r.Seq || p.Arrival+p.Outcome.End.V > r.Arrival+time.Second {
				t.Errorf("request %d of %v waits for %d, which ends at %v", r.Seq, r.Arrival, seq, p.Arrival+p.Outcome.End.V)
			}
		}
		if r.Seq > 0 && len(r.After) == 0 {
			t.Errorf("request %d waits for nothing", r.Seq)
		}
		if off := last + r.Think.V - r.Arrival; r.Seq > 0 && (off > 1500*time.Millisecond || off < -1500*time.Millisecond) {
			t.Errorf("request %d: %v after %v, but it came at %v", r.Seq, r.Think, last, r.Arrival)
		}
	}
	for i, r := range recs {
		if i < len(recs)-1 && awaited[r.Seq] == 0 {
			t.Errorf("nothing waits for request %d of %s", i, r.Model.V)
		}
	}
}

// A pause that was recorded across a request without a duration is no pause after it.
func TestWekaThink(t *testing.T) {
	const session = `{"id":"a","block_size":64,"hash_id_scope":"local","requests":[
		{"t":0,"type":"n","model":"m","in":64,"out":1,"hash_ids":[1],"stop":"tool_use","api_time":2},
		{"t":5,"type":"s","model":"m","in":64,"out":1,"hash_ids":[1],"stop":"","think_time":3},
		{"t":9,"type":"s","model":"m","in":64,"out":1,"hash_ids":[1],"stop":"","think_time":7}]}`
	recs, meta, err := read(strings.ReplaceAll(session, "\n", " "), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if recs[1].Think != traces.Some(3*time.Second) || recs[2].Think.Known || recs[2].After[0] != 1 {
		t.Errorf("think %v, then %v after %v", recs[1].Think, recs[2].Think, recs[2].After)
	}
	if w := meta.Sources[0].Warnings; len(w) != 1 || !strings.Contains(w[0], "1 rows: no think time") {
		t.Errorf("warnings %q", w)
	}
}

func BenchmarkWeka(b *testing.B) {
	log, err := os.ReadFile(fixture("weka", "trace_0291.json.gz"))
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, log, 32, Options{Format: "weka"})
}
