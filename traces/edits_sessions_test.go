package traces

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// sessions makes a trace of n rows, three a second, in sessions of some five turns;
// every seventh row has none.
func sessions(seed uint64, n int) []Record {
	rng := rand.New(rand.NewPCG(seed, 9))
	recs := plainRecords(n)
	open := []string{"s0", "s1", "s2", "s3"}
	names := len(open)
	for i := range recs {
		r := &recs[i]
		r.Arrival = time.Duration(i) * time.Second / 3
		r.ID = Some(fmt.Sprint("id", i))
		r.Blocks = []BlockRun{{uint64(i), 3}, {1 << 40, 2}}
		r.Outcome.End = Some(time.Duration(rng.IntN(20)) * time.Second)
		if i%7 == 0 {
			continue
		}
		k := rng.IntN(len(open))
		if rng.IntN(5) == 0 {
			open[k] = fmt.Sprint("s", names)
			names++
		}
		r.Session = Some(open[k])
		if i%11 == 0 {
			r.After = []uint64{uint64(i - 1)}
			r.Outcome.RetryOf = Some(uint64(i - 1))
		}
	}
	return recs
}

func collect(t *testing.T, r Reader) []Record {
	t.Helper()
	recs, err := Collect(r)
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

func must(t *testing.T) func(e *Edit, err error) *Edit {
	return func(e *Edit, err error) *Edit {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

func bySession(recs []Record) map[string][]Record {
	m := make(map[string][]Record)
	for _, r := range recs {
		if r.Session.Known {
			m[r.Session.V] = append(m[r.Session.V], r)
		}
	}
	return m
}

// Thinning keeps whole sessions, the wanted share of them, and less of the same
// with a smaller share.
func TestThin(t *testing.T) {
	recs := sessions(1, 3000)
	all := bySession(recs)
	thin := func(share float64, seed uint64) []Record {
		e := must(t)(Thin(FromSlice(recs), share, seed))
		got := collect(t, e)
		if e.Counts[0].N != int64(len(got)) || e.Counts[0].N+e.Counts[1].N != int64(len(recs)) {
			t.Errorf("%d rows: %v", len(got), e)
		}
		return got
	}
	half, quarter := thin(.5, 7), thin(.25, 7)
	for _, got := range [][]Record{half, quarter} {
		for name, rows := range bySession(got) {
			if !reflect.DeepEqual(rows, all[name]) {
				t.Errorf("session %s has %d of its %d rows", name, len(rows), len(all[name]))
			}
		}
	}
	n := float64(len(all))
	if k := float64(len(bySession(half))); k < n/2-4*.5*math.Sqrt(n) || k > n/2+4*.5*math.Sqrt(n) {
		t.Errorf("half of %v sessions are %v", n, k)
	}
	more := bySession(half)
	for name := range bySession(quarter) {
		if more[name] == nil {
			t.Errorf("session %s is in a quarter and not in a half", name)
		}
	}
	if reflect.DeepEqual(half, thin(.5, 8)) || !reflect.DeepEqual(half, thin(.5, 7)) || len(thin(1, 3)) != len(recs) {
		t.Error("the seed, and it alone, must decide")
	}
	for _, bad := range []float64{0, -1, 1.5} {
		if _, err := Thin(FromSlice(nil), bad, 0); err == nil {
			t.Errorf("a share of %v was accepted", bad)
		}
	}
}

// Every copy is the original under other names, later by one delay a session; no
// two copies share a name, a Seq or a block.
func TestMultiply(t *testing.T) {
	recs := sessions(2, 900)
	const n = 3
	e := must(t)(Multiply(FromSlice(recs), n, MultiplyOptions{Spread: 20 * time.Second, Seed: 5}))
	got := collect(t, InOrder(e))
	if len(got) != n*len(recs) || e.Counts[0].N != int64(len(recs)) || e.Counts[1].N != int64(len(got)) {
		t.Fatalf("%d rows of %d: %v", len(got), len(recs), e)
	}
	seqs, blocks, delays := make(map[uint64]bool), make(map[uint64]uint64), make(map[string]time.Duration)
	for _, r := range got {
		old, copied := recs[r.Seq/n], r.Seq%n
		suffix := ""
		if copied > 0 {
			suffix = fmt.Sprint("~", copied+1)
		}
		if r.Session != (Opt[string]{old.Session.V + suffix, true}) && old.Session.Known || r.ID.V != old.ID.V+suffix {
			t.Fatalf("row %d: session %v, id %v of %v, %v", r.Seq, r.Session, r.ID, old.Session, old.ID)
		}
		delay := r.Arrival - old.Arrival
		if d, ok := delays[r.Session.V]; ok && old.Session.Known && d != delay {
			t.Fatalf("session %s is %v late and %v late", r.Session.V, d, delay)
		}
		delays[r.Session.V] = delay
		if delay < 0 || delay >= 20*time.Second || copied == 0 && delay != 0 {
			t.Fatalf("row %d is %v late", r.Seq, delay)
		}
		for i, run := range r.Blocks {
			if of, ok := blocks[run.Start]; ok && of != copied || run.Len != old.Blocks[i].Len {
				t.Fatalf("row %d: block %d is copy %d's", r.Seq, run.Start, of)
			}
			blocks[run.Start] = copied
		}
		if old.After != nil && (r.After[0] != old.After[0]*n+copied || r.Outcome.RetryOf.V != r.After[0]) {
			t.Fatalf("row %d is after %d, a retry of %d", r.Seq, r.After[0], r.Outcome.RetryOf.V)
		}
		seqs[r.Seq] = true
	}
	if len(seqs) != len(got) {
		t.Errorf("%d rows have %d seqs", len(got), len(seqs))
	}
	if once := collect(t, must(t)(Multiply(FromSlice(recs), 1, MultiplyOptions{}))); !reflect.DeepEqual(once, recs) {
		t.Error("a trace times 1 is another")
	}
	for _, bad := range []int{0, -1, MaxCopies + 1} {
		if _, err := Multiply(FromSlice(nil), bad, MultiplyOptions{}); err == nil {
			t.Errorf("%d copies were accepted", bad)
		}
	}
}

// A session is in the window from its first row to its last, or not at all.
func TestWindowSessions(t *testing.T) {
	recs := sessions(3, 900)
	from, to := 60*time.Second, 120*time.Second
	e := WindowSessions(FromSlice(recs), from, to)
	got := collect(t, InOrder(e))
	if e.Start != from || int64(len(got)) != e.Counts[0].N || e.Counts[2].N != int64(len(bySession(got))) {
		t.Errorf("%d rows: %v from %v", len(got), e, e.Start)
	}
	kept := bySession(got)
	for name, rows := range bySession(recs) {
		in := rows[0].Arrival >= from && rows[0].Arrival < to
		if want := map[bool]int{true: len(rows)}[in]; len(kept[name]) != want {
			t.Errorf("session %s from %v: %d of %d rows", name, rows[0].Arrival, len(kept[name]), len(rows))
		}
	}
	if max := got[len(got)-1].Arrival; max <= to-from {
		t.Errorf("no session goes on behind the window: the last row is at %v", max)
	}
	for _, r := range got {
		if !r.Session.Known && (r.Arrival < 0 || r.Arrival >= to-from) {
			t.Errorf("a row without a session at %v", r.Arrival)
		}
	}
	if open := collect(t, WindowSessions(FromSlice(recs), 0, 0)); !reflect.DeepEqual(open, recs) {
		t.Error("the open window changed the trace")
	}
}

// With its preroll a window has in flight at its start what the trace had then.
func TestPreroll(t *testing.T) {
	recs := sessions(4, 900)
	recs[177].Outcome.End.Known = false
	from, to := 60*time.Second, 100*time.Second
	e := Preroll(FromSlice(recs), from, to)
	got := collect(t, InOrder(e))
	var want, main []uint64
	for _, r := range recs {
		if r.Arrival < from && r.Outcome.End.Known && r.Arrival+r.Outcome.End.V > from {
			want = append(want, r.Seq)
		}
	}
	var preroll []uint64
	for _, r := range got {
		if old := recs[r.Seq]; r.Arrival+e.Start != old.Arrival {
			t.Errorf("row %d moved from %v to %v after %v", r.Seq, old.Arrival, r.Arrival, e.Start)
		}
		if r.Phase == Some(PhasePreroll) {
			preroll = append(preroll, r.Seq)
		} else {
			main = append(main, r.Seq)
		}
	}
	if !slices.Equal(preroll, want) || len(want) == 0 || got[0].Arrival != 0 || e.Counts[2].N != 1 {
		t.Errorf("in flight %v, want %v; %v", preroll, want, e)
	}
	if window := collect(t, Window(FromSlice(recs), from, to)); len(main) != len(window) || main[0] != window[0].Seq {
		t.Errorf("%d rows in the window, want %d", len(main), len(window))
	}
}

func TestRelabel(t *testing.T) {
	recs := plainRecords(5)
	recs[0].Model, recs[1].Model = Some("gpt-4o-mini"), Some("qwen2.5:7b")
	recs[2].Endpoint, recs[3].Tenant = Some("embeddings"), Some("acme/eu")
	apps := func(file string, rules ...string) string {
		var got []string
		for _, r := range collect(t, must(t)(Relabel(FromSlice(recs), file, rules...))) {
			got = append(got, r.App.V)
		}
		return strings.Join(got, " ")
	}
	for want, rules := range map[string][]string{
		"a chat chat chat chat":    {"gpt-4*=a"},
		"a b chat chat chat":       {"gpt-4*=a", "qwen2.5:7b=b"},
		"b b chat chat chat":       {"*=b", "gpt-4*=a"}, // the first rule counts, and an unknown model fits none
		"chat b chat chat chat":    {"model:*:7b=b"},
		"chat chat e t chat":       {"endpoint:embeddings=e", "tenant:acme*=t"},
		"code code code code code": {"file:*_code*=code"},
		"chat chat chat chat chat": {"file:*_chat*=code"},
	} {
		if got := apps("Azure_code.csv", rules...); got != want {
			t.Errorf("%q: %s, want %s", rules, got, want)
		}
	}
	for _, bad := range []string{"", "chat", "=chat", "gpt=", "turn:1=x"} {
		if _, err := Relabel(FromSlice(nil), "", bad); err == nil {
			t.Errorf("rule %q was accepted", bad)
		}
	}
}

// An Edit says what it did, in numbers, for the trace's metadata.
func TestEditsTell(t *testing.T) {
	recs := plainRecords(10)
	recs[3].Body, recs[4].Body = []byte("hello"), []byte{}
	e := DropBodies(FromSlice(recs))
	if got := collect(t, e); slices.ContainsFunc(got, func(r Record) bool { return r.Body != nil }) {
		t.Error("a body is left")
	}
	if got := e.String(); got != "drop bodies: 2 bodies, 5 bytes" {
		t.Errorf("%q", got)
	}
}

// No Edit changes what the rows of its source point to.
func TestEditsLeaveTheirSourceAlone(t *testing.T) {
	recs, want := sessions(6, 200), sessions(6, 200)
	for name, e := range map[string]*Edit{
		"multiply": must(t)(Multiply(FromSlice(recs), 2, MultiplyOptions{})), "dequantize": Dequantize(FromSlice(recs), time.Second, 1),
		"preroll": Preroll(FromSlice(recs), time.Second, 0), "bodies": DropBodies(FromSlice(recs)), "unwrap": Unwrap(FromSlice(recs), 0),
	} {
		collect(t, e)
		if !reflect.DeepEqual(recs, want) {
			t.Fatalf("%s changed its source", name)
		}
	}
}
