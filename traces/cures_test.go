package traces

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"
)

func mooncake(t *testing.T) []Record {
	t.Helper()
	f, err := Open(filepath.Join("..", "testdata", "traces", "mooncake-conversation.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return collect(t, f)
}

// Dequantizing keeps the order and every row within its tick, moves nothing but
// arrivals, and leaves a trace without a tick.
func TestDequantize(t *testing.T) {
	recs := mooncake(t)
	e := Dequantize(FromSlice(recs), 0, 1)
	got := collect(t, InOrder(e))
	if len(got) != len(recs) || e.Counts[0].N != 12031 || e.Counts[1].N != 1180 {
		t.Fatalf("%d rows: %v", len(got), e)
	}
	spread := slices.Clone(got)
	var sum float64
	for i := range got {
		late := got[i].Arrival - recs[i].Arrival
		if late < 0 || late > 3001*time.Millisecond {
			t.Fatalf("row %d is %v behind its stamp", i, late)
		}
		sum += late.Seconds() / 3
		got[i].Arrival -= late
	}
	equal(t, got, recs)
	// The mean of 12,031 uniforms is within four of its standard errors of 1/2.
	if mean := sum / float64(len(got)); math.Abs(mean-.5) > 4/math.Sqrt(12*float64(len(got))) {
		t.Errorf("rows are %.3f of a tick behind their stamps in the mean", mean)
	}
	again, other := collect(t, Dequantize(FromSlice(recs), 0, 1)), collect(t, Dequantize(FromSlice(recs), 0, 2))
	if !reflect.DeepEqual(again, spread) || reflect.DeepEqual(other, spread) {
		t.Error("the seed, and it alone, must decide")
	}
}

// A tick that is given is taken at its word; where there is none to find, that is told.
func TestDequantizeNeedsATick(t *testing.T) {
	recs := plainRecords(1000)
	if _, err := Collect(Dequantize(FromSlice(recs), 0, 1)); !errors.Is(err, ErrNoTick) {
		t.Errorf("err = %v", err)
	}
	for i := range recs {
		recs[i].Arrival = recs[i].Arrival.Truncate(100 * time.Millisecond)
	}
	e := Dequantize(FromSlice(recs), 100*time.Millisecond, 1)
	got := collect(t, InOrder(e))
	for i := range got {
		if late := got[i].Arrival - recs[i].Arrival; late < 0 || late >= 100*time.Millisecond {
			t.Fatalf("row %d is %v behind its stamp", i, late)
		}
	}
	if want := "dequantize, uniform in ticks of 100ms, seed 1: 1000 rows, 10 ticks"; e.String() != want {
		t.Errorf("%q, want %q", e, want)
	}
}

// glued makes a log of parts of 1,000 s each, whose clocks all begin at 0; jitter
// moves rows back and forth.
func glued(parts, rows int, jitter time.Duration) (recs []Record) {
	rng := rand.New(rand.NewPCG(1, 4))
	for range parts {
		for i := range rows {
			rec := plainRecord(len(recs))
			rec.Arrival = 1000*time.Second*time.Duration(i)/time.Duration(rows) + time.Duration(rng.Float64()*float64(jitter))
			recs = append(recs, rec)
		}
	}
	return recs
}

// Unwrapped parts stand behind one another, each moved by a whole number of
// periods, or to one mean gap behind the part before.
func TestUnwrap(t *testing.T) {
	for _, period := range []time.Duration{0, 250 * time.Second, 1200 * time.Second} {
		recs := glued(3, 200, 0)
		e := Unwrap(FromSlice(recs), period)
		got := collect(t, InOrder(e))
		if e.Counts[0].N != 2 || e.Counts[1].N != 400 {
			t.Fatalf("period %v: %v", period, e)
		}
		for i := range got {
			part, moved := i/200, got[i].Arrival-recs[i].Arrival
			want := time.Duration(part) * map[time.Duration]time.Duration{0: 1000 * time.Second, 250 * time.Second: 1000 * time.Second, 1200 * time.Second: 1200 * time.Second}[period]
			if (moved - want).Abs() > time.Microsecond {
				t.Fatalf("period %v: row %d moved by %v, want %v", period, i, moved, want)
			}
		}
	}
}

// Rows that are out of order, as in a log that is written at the ends of requests,
// are no new clock.
func TestUnwrapLeavesLateRowsAlone(t *testing.T) {
	one := plainRecords(500)
	one[300].Arrival = 0
	for _, recs := range [][]Record{glued(1, 3000, 400*time.Second), glued(1, 50, 0), nil, sessions(1, 300), one} {
		equal(t, collect(t, Unwrap(FromSlice(recs), 0)), recs)
	}
	// At the end of a log there are no 64 rows to agree: those that are there decide.
	recs := append(glued(1, 500, 0), glued(1, 500, 0)[:3]...)
	e := Unwrap(FromSlice(recs), 0)
	if collect(t, e); e.Counts[0].N != 1 {
		t.Errorf("a short last part: %v", e)
	}
}

// The weeks of RAGPulse, laid over each other as they are published, come apart.
func TestUnwrapRAGPulse(t *testing.T) {
	f, err := Open(filepath.Join("..", "testdata", "traces", "ragpulse.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const week = 7 * 24 * time.Hour
	recs := collect(t, f)
	published := slices.Clone(recs)
	for i := range published[3800:] {
		published[3800+i].Arrival -= week
	}
	e := Unwrap(FromSlice(published), week)
	equal(t, collect(t, e), recs)
	if want := "unwrap, period 168h0m0s: 1 times the clock began anew, 3306 rows moved"; e.String() != want {
		t.Errorf("%q", e)
	}
}

func TestEndStamped(t *testing.T) {
	recs := sessions(5, 300)
	recs[10].Outcome.End = Opt[time.Duration]{}
	e := EndStamped(FromSlice(recs))
	for i, r := range collect(t, e) {
		if r.Arrival != recs[i].Arrival-recs[i].Outcome.End.V {
			t.Errorf("row %d: %v, end %v: %v", i, recs[i].Arrival, recs[i].Outcome.End, r.Arrival)
		}
	}
	if e.Counts[0].N != 299 || e.Counts[1].N != 1 {
		t.Error(e)
	}
}

// Dedupe gives the rows once, whatever was repeated and however often, and nothing
// else is lost.
func TestDedupe(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	recs := sessions(8, 2000)
	var log []Record
	exact := int64(0)
	for i, r := range recs {
		log = append(log, r)
		for range rng.IntN(3) {
			copied := log[len(log)-1-rng.IntN(min(i+1, 50))]
			copied.Seq, copied.SourceRow = uint64(5000+len(log)), Some(uint64(len(log)))
			log = append(log, copied)
			exact++
		}
	}
	e := Dedupe(FromSlice(log))
	got := collect(t, e)
	equal(t, got, recs)
	if e.Counts[1].N != exact || e.Counts[2].N != 0 {
		t.Errorf("%d repeats: %v", exact, e)
	}
}

// An answer that is logged in parts, each with the usage of the whole, is one; a
// retry, an answer of another length and a failure are rows of their own.
func TestDedupeByUsage(t *testing.T) {
	row := func(ms int, id string, output int32) Record {
		r := plainRecord(ms)
		r.ID, r.PromptTokens, r.OutputTokens = Some(id), Some(int32(100)), Some(output)
		return r
	}
	recs := []Record{row(0, "a", 10), row(1, "a", 10), row(2, "b", 10), row(3, "a", 11), row(4, "c", 0), row(5, "c", 0), row(6, "b", 10), row(7, "b", 10)}
	recs[6].Outcome.Attempt = Some(int32(2))
	recs[7].Outcome.RetryOf = Some(uint64(2))
	e := Dedupe(FromSlice(recs))
	var kept []uint64
	for _, r := range collect(t, e) {
		kept = append(kept, r.Seq)
	}
	if !slices.Equal(kept, []uint64{0, 2, 3, 4, 5, 6, 7}) || e.Counts[2].N != 1 {
		t.Errorf("rows %v: %v", kept, e)
	}
}

// What is forgotten leaves no trace: memory is bounded.
func TestRepeatsForget(t *testing.T) {
	var p Repeats
	for i := range 3 * repeatRows {
		rec := plainRecord(i)
		rec.ID = Some(time.Duration(i).String())
		if p.Next(&rec) != NoRepeat {
			t.Fatalf("row %d repeats", i)
		}
	}
	if len(p.ring) != repeatRows || len(p.likely) != repeatRows || len(p.usage) != repeatRows {
		t.Errorf("%d rows, %d likenesses, %d ids", len(p.ring), len(p.likely), len(p.usage))
	}
	if first := plainRecord(0); p.Next(&first) != NoRepeat {
		t.Error("a row was not forgotten")
	}
}

func BenchmarkDedupe(b *testing.B) {
	const rows = 100_000
	for b.Loop() {
		n := 0
		e := Dedupe(ReaderFunc(func(rec *Record) error {
			if n == rows {
				return errors.New("end")
			}
			*rec = plainRecord(n)
			n++
			return nil
		}))
		if _, err := Copy(WriterFunc(func(*Record) error { return nil }), e); err == nil {
			b.Fatal("no end")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
