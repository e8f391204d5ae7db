package lint

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// The index of dispersion is that of its definition, window by window.
func TestDispersionEqualsItsDefinition(t *testing.T) {
	recs := poisson(4000, 137)
	for i, d := range inspect(t, recs).IDC {
		first := recs[0].Arrival
		n := int((recs[len(recs)-1].Arrival - first) / idcWindows[i])
		counts := make([]float64, n+1)
		for _, r := range recs {
			counts[(r.Arrival-first)/idcWindows[i]]++
		}
		var sum, squares float64
		for _, c := range counts[:n] {
			sum += c
		}
		for _, c := range counts[:n] {
			squares += (c - sum/float64(n)) * (c - sum/float64(n))
		}
		if n < minWindows {
			if d.IDC != nil || d.Windows != int64(n) {
				t.Errorf("%v: %+v of %d windows", d.Window, d, n)
			}
			continue
		}
		if want := squares / float64(n-1) / (sum / float64(n)); d.Windows != int64(n) || math.Abs(*d.IDC-want) > 1e-9*want {
			t.Errorf("%v: %v of %d windows, want %v of %d", d.Window, *d.IDC, d.Windows, want, n)
		}
	}
}

// Whether a check found anything is asked by its name, and a wrong name is not a
// trace without findings.
func TestHas(t *testing.T) {
	f := inspect(t, at(0, 30, 20, 31, 32, 100))
	for check, want := range map[string]bool{"unsorted": true, "tick": false} {
		if got, err := f.Has(check); err != nil || got != want {
			t.Errorf("%s: %v, %v", check, got, err)
		}
	}
	if _, err := f.Has("unsrted"); err == nil || !strings.Contains(err.Error(), `"unsrted"; there are unsorted, wrap`) {
		t.Errorf("err = %v", err)
	}
}

// The figures of a prefix cache are of rows in order; those of a cache that keeps
// everything are of any order.
func TestReuseNeedsOrderForLRUAlone(t *testing.T) {
	recs := poisson(400, 100)
	for i := range recs {
		recs[i].Blocks = []traces.BlockRun{{Start: uint64(i%20) * 1000, Len: uint32(1 + i%7)}}
	}
	in := inspect(t, recs).Reuse
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
	out := inspect(t, recs).Reuse
	if *in.Unique != 140 || *in.Infinite != *out.Infinite || *out.Unique != 140 {
		t.Errorf("sorted %+v, shuffled %+v", in, out)
	}
	if len(in.LRU) != 1 || in.LRU[0].Blocks != 100 || in.Why != "" || len(out.LRU) != 0 || out.Why == "" {
		t.Errorf("sorted %+v, shuffled %+v", in, out)
	}
}

// Ids of a session hit nothing outside of it.
func TestReuseKnowsTheScope(t *testing.T) {
	recs := at(0, 10, 20, 30)
	for i := range recs {
		recs[i].Session = traces.Some([]string{"a", "b"}[i%2])
		recs[i].Blocks = []traces.BlockRun{{Start: 5, Len: 10}}
	}
	for scope, want := range map[string]float64{"global": .75, "session": .5, "": .75} {
		f, err := Inspect(traces.FromSlice(recs), func() traces.Meta { return traces.Meta{BlockScope: scope} })
		if err != nil {
			t.Fatal(err)
		}
		if *f.Reuse.Infinite != want {
			t.Errorf("scope %q: %v, want %v", scope, *f.Reuse.Infinite, want)
		}
	}
}

// The text of a trace that has everything is one screen above its findings.
func TestTextIsOneScreen(t *testing.T) {
	recs := poisson(3000, 200)
	for i := range recs {
		recs[i].Blocks = []traces.BlockRun{{Start: uint64(i/2) * 1000, Len: 100}}
	}
	recs[7].Body = []byte("{}")
	t0 := time.Unix(1.7e9, 0)
	m := traces.Meta{T0: &t0, Tokenizer: "cl100k", Vantage: "gateway", BlockTokens: 16,
		Sources: []traces.Source{{Name: "a.log", TimeUnit: "ms", Stamps: "end"}},
		Edits:   []string{"window 1s to 2s"}, Notes: []string{"sampled \x1band " + strings.Repeat("x", 50)}}
	f, err := Inspect(traces.FromSlice(recs), func() traces.Meta { return m })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	above, _, _ := strings.Cut(b.String(), "\nfinding")
	if n := strings.Count(above, "\n"); n > 24 {
		t.Errorf("%d lines\n%s", n, above)
	}
	for _, want := range []string{"measured tokens by cl100k, latencies at gateway", "times in ms, stamped at the end", "edit window 1s to 2s", "note sampled and", "BODIES in 1 rows", "hit rate 0.500 if none is evicted"} {
		if !strings.Contains(strings.Join(strings.Fields(above), " "), want) {
			t.Errorf("no %q in\n%s", want, above)
		}
	}
}
