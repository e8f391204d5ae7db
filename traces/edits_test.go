package traces

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	recs := plainRecords(100)
	got, err := Collect(Window(FromSlice(recs), 20*time.Millisecond, 50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 30 || got[0].Seq != 20 || got[0].Arrival != 0 || got[29].Arrival != 29*time.Millisecond {
		t.Errorf("%d rows from %v to %v", len(got), got[0], got[len(got)-1])
	}
	if got, _ := Collect(Window(FromSlice(recs), 90*time.Millisecond, 0)); len(got) != 10 {
		t.Errorf("an open window kept %d rows", len(got))
	}
}

// Speed changes when requests come and how long users think, to the nearest
// nanosecond, and nothing else.
func TestSpeed(t *testing.T) {
	recs := randomRecords(5, 100)
	got, err := Collect(Speed(FromSlice(recs), 4))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		want := recs[i]
		if d := 4*got[i].Arrival - want.Arrival; d.Abs() > 2 {
			t.Errorf("row %d: %v at 4 times the speed is %v", i, want.Arrival, got[i].Arrival)
		}
		if got[i].Think.Known != want.Think.Known {
			t.Errorf("row %d: think %v became %v", i, want.Think, got[i].Think)
		}
		want.Arrival, want.Think = got[i].Arrival, got[i].Think
		equal(t, got[i:i+1], []Record{want})
	}
}

// Shards are a partition of the rows, and no session is in two of them.
func TestShard(t *testing.T) {
	recs := plainRecords(1000)
	for i := range recs {
		if i%3 > 0 {
			recs[i].Session = Some(fmt.Sprint("s", i%40))
		}
	}
	const n = 4
	where, total := make(map[string]int), 0
	for i := range n {
		r, err := Shard(FromSlice(recs), i, n)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Collect(r)
		if err != nil {
			t.Fatal(err)
		}
		if total += len(got); len(got) == 0 {
			t.Errorf("shard %d is empty", i)
		}
		for _, rec := range got {
			if at, ok := where[rec.Session.V]; rec.Session.Known && ok && at != i {
				t.Errorf("session %s is in shards %d and %d", rec.Session.V, at, i)
			}
			where[rec.Session.V] = i
		}
	}
	if total != len(recs) {
		t.Errorf("%d of %d rows", total, len(recs))
	}
	for _, bad := range [][2]int{{-1, 2}, {2, 2}, {0, 0}} {
		if _, err := Shard(FromSlice(nil), bad[0], bad[1]); err == nil {
			t.Errorf("shard %v was accepted", bad)
		}
	}
}

func TestInOrder(t *testing.T) {
	recs := plainRecords(3)
	recs[0], recs[1] = recs[1], recs[0]
	if _, err := Collect(InOrder(FromSlice(recs))); !errors.Is(err, ErrUnsorted) {
		t.Errorf("err = %v", err)
	}
}

// Every edit passes its source's errors on and loses no row to them.
func TestEditsPassErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	source := func() Reader {
		n := 0
		return ReaderFunc(func(rec *Record) error {
			if n++; n > 3 {
				return broken
			}
			*rec = Record{Request: Request{Seq: uint64(n), Arrival: time.Duration(n)}}
			return nil
		})
	}
	shard, err := Shard(source(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	where, err := Where(source(), "status=unknown")
	if err != nil {
		t.Fatal(err)
	}
	thin, err := Thin(source(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	multiply, err := Multiply(source(), 1, MultiplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	relabel, err := Relabel(source(), "", "x=y")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]Reader{
		"Where": where, "Thin": thin, "Multiply": multiply, "Relabel": relabel,
		"WindowSessions": WindowSessions(source(), 0, 0), "Preroll": Preroll(source(), 0, 0), "DropBodies": DropBodies(source()),
		"EndStamped": EndStamped(source()), "Unwrap": Unwrap(source(), 0), "Dedupe": Dedupe(source()), "Dequantize": Dequantize(source(), 1, 0),
		"Filter": Filter(source(), func(*Record) bool { return true }),
		"Window": Window(source(), 0, 0), "Speed": Speed(source(), 1), "Shard": shard,
		"InOrder": InOrder(source()), "Merge": Merge(source()), "Sort": Sort(source(), ""),
	} {
		got, err := Collect(r)
		if !errors.Is(err, broken) || len(got) != 3 && name != "Sort" && name != "Merge" {
			t.Errorf("%s: %d rows, %v", name, len(got), err)
		}
	}
}
