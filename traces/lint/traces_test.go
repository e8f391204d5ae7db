package lint

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"wavetank/traces"
)

// The published facts of the public traces come out of them.
func TestPublicTraces(t *testing.T) {
	for _, want := range []struct {
		file           string
		rows, distinct int64
		cv             float64
		prompt, output [4]float64 // p50, p90, p99, max
		ids, runs      int64
		sessions       int64
		check          string // a finding that must be there
	}{
		{"azure-code", 8819, 8819, 13.15, [4]float64{1469, 5188, 7436, 7437}, [4]float64{13, 55, 251, 1899}, 0, 0, 0, "prompt_cap"},
		{"azure-conv", 19366, 19366, 1.094, [4]float64{1020, 2735, 4142, 14050}, [4]float64{129, 424, 601, 1000}, 0, 0, 0, ""},
		{"mooncake-conversation", 12031, 1180, 3.034, [4]float64{6909, 27367, 85400, 126195}, [4]float64{350, 597, 1119, 2000}, 288500, 33391, 0, "tick"},
		{"ragpulse", 7106, 7042, 3.221, [4]float64{3140, 3959, 5438, 7712}, [4]float64{234, 563, 891, 2183}, 0, 0, 3990, "coarse"},
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
