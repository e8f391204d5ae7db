package formats

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

func fixture(format, name string) string { return filepath.Join(logs, format, name) }

// The whole 2023 conversation trace, by the figures of its publication and ours.
func TestAzureConversation(t *testing.T) {
	recs, meta := collect(t, fixture("azure", "AzureLLMInferenceTrace_conv.csv.gz"), Options{App: "chat"})
	var longest int32
	for i, r := range recs {
		longest = max(longest, r.PromptTokens.V)
		if r.Outcome.Status != traces.Unknown || r.App.V != "chat" || r.Seq != uint64(i) || r.SourceRow.V != uint64(i+2) {
			t.Fatalf("row %d: %+v", i, r)
		}
	}
	if len(recs) != 19366 || longest != 14050 {
		t.Errorf("%d rows, longest prompt %d; want 19366 and 14050", len(recs), longest)
	}
	if want := time.Date(2023, 11, 16, 18, 15, 46, 680_590_000, time.UTC); meta.T0 == nil || !meta.T0.Equal(want) {
		t.Errorf("T0 %v, want %v", meta.T0, want)
	}
	last := time.Date(2023, 11, 16, 19, 14, 8, 402_527_000, time.UTC)
	if got := meta.T0.Add(recs[len(recs)-1].Arrival); !got.Equal(last) {
		t.Errorf("last arrival %v, want %v", got, last)
	}
	src := meta.Sources[0]
	if src.Resolution != time.Microsecond || meta.TimeZone != "UTC" {
		t.Errorf("resolution %v in zone %q; want 1µs, though seven digits are printed, in UTC", src.Resolution, meta.TimeZone)
	}
	if src.Licence != "CC-BY-4.0" || src.Attribution == "" {
		t.Errorf("licence %q, attribution %q of a published file", src.Licence, src.Attribution)
	}
}

// A slice is not the published file: nothing is claimed of its licence.
func TestLicenceOnlyWhereCertain(t *testing.T) {
	_, meta := collect(t, fixture("azure", "AzureLLMInferenceTrace_code.head300.csv"), Options{})
	if src := meta.Sources[0]; src.Licence != "" || src.Attribution != "" {
		t.Errorf("licence %q, attribution %q", src.Licence, src.Attribution)
	}
}

// Images are counted, and none is not the same as nobody knows.
func TestAzureImages(t *testing.T) {
	recs, _ := collect(t, fixture("azure", "AzureLMMInferenceTrace_multimodal.headtail.csv"), Options{})
	want := []int32{0, 1, 1, 0, 1, 16, 1, 1, 1, 0}
	for i, r := range recs {
		var n int32
		for _, m := range r.Media {
			if m.Kind != "image" || m.Tokens.Known {
				t.Errorf("row %d: %+v", i, m)
			}
			n += m.Count.V
		}
		if r.Media == nil || n != want[i] {
			t.Errorf("row %d: media %v, want %d images", i, r.Media, want[i])
		}
	}
	recs, _ = collect(t, fixture("azure", "AzureLLMInferenceTrace_code.head300.csv"), Options{})
	if recs[0].Media != nil {
		t.Error("media are known where the log has no column for them")
	}
}

// The three releases print times in three ways, the second of them in two; all
// may stand in one file.
func TestAzureGrammars(t *testing.T) {
	recs, meta, err := read("TIMESTAMP,ContextTokens,GeneratedTokens\r\n"+
		"2024-05-10 00:00:00+00:00,1,1\r\n"+
		"2024-05-10 00:00:00.000010+00:00,1,1\r\n"+
		"2024-05-10 00:00:00.0000300,1,1\r\n"+
		"2024-05-10T00:00:00.001Z,1,1", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{0, 10 * time.Microsecond, 30 * time.Microsecond, time.Millisecond} {
		if recs[i].Arrival != want {
			t.Errorf("row %d: %v, want %v", i, recs[i].Arrival, want)
		}
	}
	if src := meta.Sources[0]; src.Resolution != 10*time.Microsecond || strings.Count(src.Grammar, ";") != 2 {
		t.Errorf("%+v", src)
	}
}

// The first 200 rows of version 1 hold nine failures; a failed request has no
// output, which is known, and no prompt, which is not.
func TestBurstFailures(t *testing.T) {
	recs, meta := collect(t, fixture("burstgpt", "BurstGPT_1.head200.csv"), Options{})
	failed := 0
	for _, r := range recs {
		switch {
		case r.Outcome.Status == traces.Error:
			failed++
			if r.Outcome.Error.V != ErrorFailed || r.OutputTokens != traces.Some[int32](0) || r.PromptTokens.Known {
				t.Errorf("failure in line %d: %+v", r.SourceRow.V, r)
			}
		case r.Outcome.Status != traces.OK || r.PromptTokens.V == 0 || r.OutputTokens.V == 0:
			t.Errorf("line %d: %+v", r.SourceRow.V, r)
		}
	}
	if len(recs) != 200 || failed != 9 {
		t.Errorf("%d rows, %d failed; want 200 and 9", len(recs), failed)
	}
	if meta.T0 != nil || meta.Sources[0].Resolution != time.Second || meta.Sources[0].TimeUnit != "s" {
		t.Errorf("metadata %+v: want relative times in whole seconds", meta)
	}
}

// Version 3 has its Session ID and Elapsed time in between, and is read by names.
func TestBurstSessions(t *testing.T) {
	recs, meta := collect(t, fixture("burstgpt", "BurstGPT_3.head100.csv"), Options{})
	next := map[string]int32{}
	unknown := 0
	for _, r := range recs {
		if r.Session.Known != r.Turn.Known || r.Session.Known && r.Turn.V != next[r.Session.V] {
			t.Errorf("line %d: session %v, turn %v", r.SourceRow.V, r.Session, r.Turn)
		}
		next[r.Session.V]++
		if !r.Outcome.End.Known {
			unknown++
		}
		if r.Outcome.End == traces.Some(time.Duration(0)) {
			t.Errorf("line %d took no time at all", r.SourceRow.V)
		}
	}
	first := recs[0]
	if first.Arrival != 0 || first.Outcome.End.V != 43*time.Second || first.PromptTokens.V != 906 || first.Model.V != "GPT-4" || first.App.V != "chat" {
		t.Errorf("first row: %+v", first)
	}
	if unknown == 0 || len(meta.Sources[0].Warnings) != 1 {
		t.Errorf("%d unknown ends, warnings %q; want some, and to be told", unknown, meta.Sources[0].Warnings)
	}
}

// Blocks are runs of 512-token blocks; ids survive in all of their 64 bits.
func TestMooncakeBlocks(t *testing.T) {
	recs, meta := collect(t, fixture("mooncake", "conversation_trace.head600.jsonl"), Options{})
	ticks := map[time.Duration]bool{}
	for _, r := range recs {
		ticks[r.Arrival] = true
		var n int32
		for _, run := range r.Blocks {
			n += int32(run.Len)
		}
		if n != (r.PromptTokens.V+511)/512 {
			t.Fatalf("line %d: %d blocks for %d tokens", r.SourceRow.V, n, r.PromptTokens.V)
		}
	}
	if len(recs) != 600 || len(ticks) != 68 {
		t.Errorf("%d rows at %d times; want 600 at 68", len(recs), len(ticks))
	}
	if meta.BlockTokens != 512 || meta.BlockScope != "global" || meta.T0 != nil || meta.Sources[0].Resolution != time.Millisecond {
		t.Errorf("metadata %+v", meta)
	}
	row := `{"timestamp": 1, "input_length": 1537, "output_length": 3, "hash_ids": [14879255164371896291, 14879255164371896292, 18446744073709551615, 0]}`
	for _, log := range []string{row, row[:len(row)-1] + `, "extra": 1}`} {
		r := one(t, log, Options{})
		want := []traces.BlockRun{{Start: 14879255164371896291, Len: 2}, {Start: 18446744073709551615, Len: 1}, {Start: 0, Len: 1}}
		if len(r.Blocks) != 3 || r.Blocks[0] != want[0] || r.Blocks[1] != want[1] || r.Blocks[2] != want[2] {
			t.Errorf("blocks %v, want %v", r.Blocks, want)
		}
	}
}

// The dialect with sessions numbers their turns; an id that is a number is text.
func TestMooncakeSessions(t *testing.T) {
	const row = `{"timestamp": 1, "session_id": %s, "input_length": 1, "output_length": 1, "hash_ids": [1]}` + "\n"
	log := ""
	for _, id := range []string{`"a"`, `7`, `"a"`, `"7"`, `"\u0061"`} {
		log += strings.Replace(row, "%s", id, 1)
	}
	recs, _, err := read(log, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		session string
		turn    int32
	}{{"a", 0}, {"7", 0}, {"a", 1}, {"7", 1}, {"a", 2}} {
		if r := recs[i]; r.Session.V != want.session || r.Turn.V != want.turn {
			t.Errorf("row %d: session %v, turn %v; want %+v", i, r.Session, r.Turn, want)
		}
	}
}
