package lint

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"wavetank/traces"
)

// The published facts of the public traces come out of them.
func TestPublicTraces(t *testing.T) {
	for _, want := range []struct {
		file           string
		rows, distinct int64
		cv             float64
		prompt, output [4]float64 // p50, p90, p99, max
		idc            [3]float64 // at 1 s, 10 s, 60 s
		ids, runs      int64
		infinite       float64 // hit rate
		sessions       int64
		check          string // a finding that must be there
	}{
		{"azure-code", 8819, 8819, 13.15, [4]float64{1469, 5188, 7436, 7437}, [4]float64{13, 55, 251, 1899}, [3]float64{13.2, 71.8, 167}, 0, 0, 0, 0, "prompt_cap"},
		{"azure-conv", 19366, 19366, 1.094, [4]float64{1020, 2735, 4142, 14050}, [4]float64{129, 424, 601, 1000}, [3]float64{1.39, 3.87, 16.4}, 0, 0, 0, 0, ""},
		{"mooncake-conversation", 12031, 1180, 3.034, [4]float64{6909, 27367, 85400, 126195}, [4]float64{350, 597, 1119, 2000}, [3]float64{7.9, 2.1, 2.94}, 288500, 33391, .366, 0, "tick"},
		{"ragpulse", 7106, 7042, 3.221, [4]float64{3140, 3959, 5438, 7712}, [4]float64{234, 563, 891, 2183}, [3]float64{1.01, 1.06, 1.61}, 0, 0, 0, 3990, "coarse"},
	} {
		t.Run(want.file, func(t *testing.T) {
			f, err := traces.Open(filepath.Join("..", "..", "testdata", "traces", want.file+".arrow"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := Inspect(f, f.Meta)
			if err != nil {
				t.Fatal(err)
			}
			if got.Rows != want.rows || got.DistinctArrivals != want.distinct || !got.Sorted {
				t.Errorf("%d rows, %d arrivals, sorted %v", got.Rows, got.DistinctArrivals, got.Sorted)
			}
			if math.Abs(*got.GapCV/want.cv-1) > 5e-4 {
				t.Errorf("gap CV %v, want %v", *got.GapCV, want.cv)
			}
			for name, l := range map[string]struct {
				got  Lengths
				want [4]float64
			}{"prompt": {got.PromptTokens, want.prompt}, "output": {got.OutputTokens, want.output}} {
				for i, v := range []*float64{l.got.P50, l.got.P90, l.got.P99, l.got.Max} {
					if math.Round(*v) != l.want[i] {
						t.Errorf("%s: quantile %d is %v, want %v", name, i, *v, l.want[i])
					}
				}
			}
			for i, k := range []int{1, 3, 5} {
				if idc := *got.IDC[k].IDC; math.Abs(idc/want.idc[i]-1) > .005 {
					t.Errorf("IDC at %v is %v, want %v", got.IDC[k].Window, idc, want.idc[i])
				}
			}
			if r := got.Reuse; (r.Infinite != nil) != (want.ids > 0) || want.ids > 0 && math.Abs(*r.Infinite-want.infinite) > 5e-4 {
				t.Errorf("reuse %+v", r)
			}
			if got.Blocks.IDs != want.ids || got.Blocks.Runs != want.runs || got.Sessions.N != want.sessions {
				t.Errorf("blocks %+v, %d sessions", got.Blocks, got.Sessions.N)
			}
			found := slices.ContainsFunc(got.Findings, func(f Finding) bool { return f.Check == want.check })
			if want.check != "" && !found {
				t.Errorf("no finding %s in %v", want.check, got.Findings)
			}
			if want.check == "" && len(got.Findings) > 0 {
				t.Errorf("findings %v", got.Findings)
			}
		})
	}
}

// The weeks of RAGPulse as they are published and sorted, one over the other, are
// told apart by the lines of the source.
func TestWrapSurvivesSorting(t *testing.T) {
	f, err := traces.Open(filepath.Join("..", "..", "testdata", "traces", "ragpulse.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recs, err := traces.Collect(f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range recs[3800:] {
		recs[3800+i].Arrival -= 7 * 24 * time.Hour
		recs[3800+i].Arrival = max(recs[3800+i].Arrival, 0)
	}
	got, err := Inspect(traces.FromSlice(sorted(recs)), f.Meta)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := got.Has("wrap"); err != nil || !found || !got.Sorted {
		t.Errorf("findings %v", names(got))
	}
}

// Dequantizing cures what the check for ticks finds, and with it the burstiness of
// one second.
func TestDequantizeCuresTheTick(t *testing.T) {
	f, err := traces.Open(filepath.Join("..", "..", "testdata", "traces", "mooncake-conversation.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := Inspect(traces.Dequantize(f, 0, 1), f.Meta)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := got.Has("tick"); err != nil || found || *got.IDC[1].IDC > 2 || *got.GapCV > 1.3 {
		t.Errorf("findings %v, IDC of 1 s %v, gap CV %v", names(got), *got.IDC[1].IDC, *got.GapCV)
	}
}
