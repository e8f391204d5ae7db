package formats

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// claudeTurns writes the turns of a session file, each after the one before it.
func claudeTurns(session string, turns ...int) string {
	var log strings.Builder
	parent := "null"
	at := func(turn, second int) string { return fmt.Sprintf("2026-03-02T09:%02d:%02dZ", turn, second) }
	write := func(kind, uuid, stamp, rest string) {
		fmt.Fprintf(&log, `{"type":%q,"uuid":%q,"parentUuid":%s,"isSidechain":false,"sessionId":%q,"timestamp":%q%s}`+"\n", kind, uuid, parent, session, stamp, rest)
		parent = `"` + uuid + `"`
	}
	for _, n := range turns {
		write("user", fmt.Sprint("u", n), at(n, 0), `,"message":{"role":"user"}`)
		if n == 2 {
			write("system", "e2", at(n, 1), `,"subtype":"api_error","retryAttempt":1,"retryInMs":500,"error":{"status":529}`)
		}
		write("assistant", fmt.Sprint("a", n), at(n, 5), fmt.Sprintf(`,"message":{"id":"m%d","stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":2}}`, n, n))
	}
	return log.String()
}

// A session that goes on in other files, in whatever order they are read, has each
// of its requests once, behind the one that it followed.
func TestResumed(t *testing.T) {
	files := []string{claudeTurns("a", 1, 2), claudeTurns("b", 1, 2, 3), claudeTurns("c", 1, 4), claudeTurns("d", 1, 2, 3, 5)}
	before := map[string]string{"m2": "m1", "m3": "m2", "m4": "m1", "m5": "m3"}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		var readers []traces.Reader
		var sources []*Source
		for _, i := range order {
			s, err := Open(strings.NewReader(files[i]), fmt.Sprint(i), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			readers, sources = append(readers, s), append(sources, s)
		}
		all := traces.Concat(readers, func(int) (time.Duration, error) { return 0, nil })
		e := Resumed(all, func(rec *traces.Record) int { return int(rec.Seq % uint64(len(files))) })
		recs, err := traces.Collect(e)
		if err != nil {
			t.Fatal(err)
		}
		emitted := int64(0)
		for _, s := range sources {
			emitted += s.Meta().Sources[0].Emitted
		}
		if len(recs) != 6 || emitted != int64(len(recs))+e.Counts[0].N {
			t.Errorf("order %v: %d requests of %d, %v", order, len(recs), emitted, e)
		}
		name := make(map[uint64]string)
		for _, r := range recs {
			name[r.Seq] = r.ID.Or("failed")
		}
		for _, r := range recs {
			id := r.ID.V
			switch {
			case id == "m2" && name[r.Outcome.RetryOf.V] != "failed":
				t.Errorf("order %v: m2 is another try of %s", order, name[r.Outcome.RetryOf.V])
			case before[id] != "" && id != "m2" && (len(r.After) != 1 || name[r.After[0]] != before[id] || !r.Think.Known):
				t.Errorf("order %v: %s waits for %v of %v, and %v longer", order, id, r.After, name, r.Think)
			}
		}
	}
}

// Rows of other logs, and of the same file, stay whatever their ids are.
func TestResumedOthers(t *testing.T) {
	recs := make([]traces.Record, 4)
	for i := range recs {
		recs[i].Seq, recs[i].ID = uint64(i), traces.Some("same")
	}
	files := []int{-1, 0, 0, -1}
	got, err := traces.Collect(Resumed(traces.FromSlice(recs), func(rec *traces.Record) int { return files[rec.Seq] }))
	if err != nil || len(got) != len(recs) {
		t.Errorf("%d rows of %d, %v", len(got), len(recs), err)
	}
}
