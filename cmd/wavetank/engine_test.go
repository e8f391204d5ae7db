package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

const (
	blockTokens  = 16
	sharedBlocks = 20
	sharedTokens = blockTokens * sharedBlocks
	// A word of one prompt equals that of another once in some 4,000 words, and so
	// a prefix cache may find a little more than is shared on purpose.
	chance = 2
)

// TestEngine replays against a llama.cpp servers, which .ci/engine starts. What
// must hold does so whatever the model is, and however long the server takes.
func TestEngine(t *testing.T) {
	targets := strings.Fields(os.Getenv("WAVETANK_TEST_ENGINE"))
	if len(targets) == 0 {
		t.Skip("SKIPPED: WAVETANK_TEST_ENGINE names no server: .ci/engine go test -run TestEngine ./cmd/wavetank starts two")
	}
	for _, target := range targets {
		model := servedModel(t, target)
		for _, api := range []string{"completions", "chat"} {
			t.Run(model+" "+api, func(t *testing.T) { testEngine(t, target, "--model", model, "--api", api, "--max-lag", "1m") })
		}
	}
}

func testEngine(t *testing.T, target string, flags ...string) {
	play := func(t *testing.T, target string, recs []traces.Record, more ...string) engineRun {
		return playEngine(t, recs, slices.Concat([]string{"--target", target}, flags, more))
	}
	t.Run("open loop", func(t *testing.T) { play(t, target, engineTrace()).exact(t) })
	t.Run("one by one", func(t *testing.T) {
		front, timings := listen(t, target)
		run := play(t, front, engineTrace(), "--concurrency", "1")
		run.exact(t)
		run.cached(t)
		run.timed(t, timings()[1:]) // without that of the calibration
	})
	t.Run("own ends", func(t *testing.T) {
		// So few at a time use connections again, which this server closes.
		play(t, target, endingTrace(), "--dialect", "openai", "--concurrency", "4").ended(t)
	})
	t.Run("failures", func(t *testing.T) { play(t, target, failingTrace()).failed(t) })
}

func servedModel(t *testing.T, target string) string {
	t.Helper()
	resp, err := http.Get(target + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list.Data) != 1 {
		t.Fatalf("%d models served, want one (%v)", len(list.Data), err)
	}
	return list.Data[0].ID
}

// An engineRun is what came of a trace, row by row.
type engineRun struct {
	asked, came []traces.Record
	overhead    int32 // tokens that the server adds to a prompt, as calibrated
}

// playEngine runs wavetank replay on recs and wavetank report on what it wrote.
func playEngine(t *testing.T, recs []traces.Record, flags []string) engineRun {
	t.Helper()
	dir := t.TempDir()
	trace, out := filepath.Join(dir, "t.arrow"), filepath.Join(dir, "run.arrow")
	w, err := traces.Create(trace, traces.Meta{Kind: traces.KindTrace, BlockTokens: blockTokens, BlockScope: "global"}, traces.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := traces.Copy(w, traces.FromSlice(recs)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var report bytes.Buffer
	for _, args := range [][]string{
		append([]string{"wavetank", "replay", trace, "-o", out}, flags...),
		{"wavetank", "report", "--format", "json", out},
	} {
		if err := run(t.Context(), args, nil, &report, t.Output()); err != nil {
			t.Fatal(err)
		}
	}
	r := readRun(t, out)
	r.asked = recs
	if len(r.came) != len(recs) {
		t.Fatalf("%d rows came of %d", len(r.came), len(recs))
	}
	accounted(t, report.Bytes(), len(recs))
	return r
}

func readRun(t *testing.T, path string) (r engineRun) {
	t.Helper()
	f, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	overhead, err := strconv.Atoi(f.Meta().Target.Options["prompt_overhead"])
	if err != nil {
		t.Fatalf("the run does not say what the server adds to a prompt: %v", err)
	}
	r.overhead = int32(overhead)
	if r.came, err = traces.Collect(f); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(r.came, func(a, b traces.Record) int { return int(a.Seq) - int(b.Seq) })
	return r
}

// accounted holds the report against the trace: every row has one status.
func accounted(t *testing.T, report []byte, rows int) {
	t.Helper()
	var v struct {
		Runs []struct {
			Counts struct {
				Offered  int
				Statuses map[string]int
			}
		}
	}
	if err := json.Unmarshal(report, &v); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range v.Runs[0].Counts.Statuses {
		sum += n
	}
	if offered := v.Runs[0].Counts.Offered; offered != rows || sum != rows {
		t.Errorf("the report has %d requests offered and %d with a status, want %d", offered, sum, rows)
	}
}

// engineTrace is prompts of 1 to 1,000 tokens, and then prompts that have their
// beginning in common; answers of 1 to 40 tokens.
func engineTrace() (recs []traces.Record) {
	for i, prompt := 0, int32(1); prompt <= 1000; i, prompt = i+1, prompt*5/4+1 {
		recs = append(recs, engineRecord(i, prompt, int32(1+i*2)))
	}
	for range 20 {
		i := len(recs)
		rec := engineRecord(i, sharedTokens+int32(i), int32(1+i%5))
		rec.Blocks = []traces.BlockRun{{Start: 1 << 60, Len: sharedBlocks}}
		recs = append(recs, rec)
	}
	return recs
}

func engineRecord(i int, prompt, output int32) (rec traces.Record) {
	rec.Seq, rec.Arrival = uint64(i), time.Duration(i)*20*time.Millisecond
	rec.PromptTokens, rec.OutputTokens = traces.Some(prompt), traces.Some(output)
	return rec
}

// exact checks that the server was asked for what the trace says and gave it:
// prompts to the token, or the least that the server can be asked for; answers to
// the token.
func (r engineRun) exact(t *testing.T) {
	t.Logf("the server adds %d tokens to a prompt", r.overhead)
	for i, rec := range r.came {
		o := rec.Outcome
		if o.Status != traces.OK || o.FinishReason.V != "length" {
			t.Errorf("row %d: %s %s, finished for %q", i, o.Status, o.Error.V, o.FinishReason.V)
			continue
		}
		if want := max(rec.PromptTokens.V, r.overhead+1); o.PromptTokensSeen.V != want {
			t.Errorf("row %d: the server saw a prompt of %d tokens, want %d", i, o.PromptTokensSeen.V, want)
		}
		if want := rec.OutputTokens.V; o.OutputTokensSeen.V != want || o.TokenBasis.V != traces.BasisUsage {
			t.Errorf("row %d: %d tokens came, by %s, want %d by usage", i, o.OutputTokensSeen.V, o.TokenBasis.V, want)
		}
		if !(0 < o.FirstToken.V && o.FirstToken.V <= o.LastToken.V && o.LastToken.V <= o.End.V) {
			t.Errorf("row %d: first token at %v, last at %v, end at %v", i, o.FirstToken, o.LastToken, o.End)
		}
	}
}

// cached checks that the server's prefix cache finds what is shared, and nothing
// else: neither another row's words nor an earlier run's.
func (r engineRun) cached(t *testing.T) {
	warm := false
	for i, rec := range r.came {
		got, least := rec.Outcome.CachedTokens.V, int32(0)
		if warm && rec.Blocks != nil {
			least = sharedTokens
		}
		warm = warm || rec.Blocks != nil
		if most := least + r.overhead + 1 + chance; got < least || got > most || !rec.Outcome.CachedTokens.Known {
			t.Errorf("row %d: %d tokens were cached, want %d to %d", i, got, least, most)
		}
	}
}

// endingTrace asks for answers that may end by themselves, as they do after 40
// tokens in the mean where each is drawn from the model's own distribution.
func endingTrace() (recs []traces.Record) {
	for i := range 30 {
		rec := engineRecord(i, 64, 40)
		rec.Params = traces.Some(fmt.Sprintf(`{"temperature":1,"top_k":0,"top_p":1,"min_p":0,"seed":%d}`, i))
		recs = append(recs, rec)
	}
	return recs
}

// ended checks that an answer that stops by itself is told from one that is cut
// off at its limit.
func (r engineRun) ended(t *testing.T) {
	reasons := make(map[string]int)
	for i, rec := range r.came {
		o := rec.Outcome
		reasons[o.FinishReason.V]++
		if whole := o.OutputTokensSeen.V == rec.OutputTokens.V; o.Status != traces.OK && o.Status != traces.Empty || o.OutputTokensSeen.V > rec.OutputTokens.V || !whole && o.FinishReason.V != "stop" {
			t.Errorf("row %d: %s after %d of %d tokens for %q", i, o.Status, o.OutputTokensSeen.V, rec.OutputTokens.V, o.FinishReason.V)
		}
	}
	if reasons["stop"] == 0 || reasons["length"] == 0 {
		t.Errorf("answers finished for %v, want stop and length", reasons)
	}
}

// failingTrace is what must not end well, and last what must.
func failingTrace() []traces.Record {
	const long = 3000 // seconds of answer
	tooLong, tokens, hungUp, timeout, whole := engineRecord(0, 100_000, 1), engineRecord(1, 64, long), engineRecord(2, 64, long), engineRecord(3, 64, long), engineRecord(4, 64, 8)
	tokens.CancelTokens = traces.Some[int32](5)
	hungUp.Cancel = traces.Some(100 * time.Millisecond)
	timeout.Timeout = traces.Some(100 * time.Millisecond)
	whole.Stream = traces.Some(false)
	return []traces.Record{tooLong, tokens, hungUp, timeout, whole}
}

// failed checks that each row of failingTrace is what it is.
func (r engineRun) failed(t *testing.T) {
	var got []string
	for _, rec := range r.came {
		got = append(got, fmt.Sprint(rec.Outcome.Status, " ", rec.Outcome.HTTPStatus.V))
	}
	if want := []string{"error 400", "cancelled 200", "cancelled 200", "timeout 200", "ok 200"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if o := r.came[1].Outcome; o.Events.V != 5 {
		t.Errorf("hung up after %d tokens, want 5", o.Events.V)
	}
	if o := r.came[4].Outcome; o.OutputTokensSeen.V != 8 || o.FirstToken.Known {
		t.Errorf("an answer that is not streamed: %d tokens, the first at %v", o.OutputTokensSeen.V, o.FirstToken)
	}
}
