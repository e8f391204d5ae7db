package formats

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

const (
	sglangReceived = `{"timestamp":"2026-03-02T09:00:%s","event":"request.received","rid":%q,"obj":{"stream":true}}` + "\n"
	sglangFinished = `{"timestamp":"2026-03-02T09:00:%s","event":"request.finished","rid":%q,"obj":{"stream":true},"out":{"meta_info":{"e2e_latency":%s,"finish_reason":{"type":"stop"}}}}` + "\n"
)

// A request arrived when it was received. Where that line is missing, as many
// seconds before its end as it took; and where its end is missing, nothing is known
// of what came of it.
func TestSGLangJoin(t *testing.T) {
	received, finished := fmt.Sprintf(sglangReceived, "01.5", "a"), fmt.Sprintf(sglangFinished, "04", "a", "2.5")
	for _, tt := range []struct {
		log                   string
		status                traces.Status
		emitted, merged, read int64
	}{
		{received + finished, traces.OK, 1, 1, 2},
		{finished, traces.OK, 1, 0, 1},
		{received, traces.Unknown, 1, 0, 1},
	} {
		recs, meta, err := read(tt.log, Options{Format: "sglang"})
		if err != nil || len(recs) != 1 {
			t.Fatalf("%d rows, %v", len(recs), err)
		}
		if want := time.Date(2026, 3, 2, 9, 0, 1, 5e8, time.UTC); !meta.T0.Equal(want) || recs[0].Outcome.Status != tt.status {
			t.Errorf("arrived at %v, want %v; status %s, want %s", meta.T0, want, recs[0].Outcome.Status, tt.status)
		}
		if src := meta.Sources[0]; src.Emitted != tt.emitted || src.Merged != tt.merged || src.Read != tt.read {
			t.Errorf("%d rows emitted, %d merged, %d read; want %+v", src.Emitted, src.Merged, src.Read, tt)
		}
	}
}

// A name that is used again is another request.
func TestSGLangSameName(t *testing.T) {
	log := fmt.Sprintf(sglangReceived, "01", "a") + fmt.Sprintf(sglangReceived, "02", "a") +
		fmt.Sprintf(sglangFinished, "03", "a", "1") + fmt.Sprintf(sglangFinished, "05", "a", "1")
	recs, _, err := read(log, Options{Format: "sglang"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range recs {
		got = append(got, fmt.Sprintf("%v %v", r.Arrival, r.Outcome.Status))
	}
	if want := "[0s unknown 1s ok 3s ok]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// The server's clock has no zone: the reader of the log knows it, and is told where
// the log itself contradicts.
func TestSGLangZone(t *testing.T) {
	tokyo := time.FixedZone("UTC+9", 9*3600)
	ended := time.Date(2026, 3, 2, 9, 0, 4, 0, tokyo)
	log := strings.Replace(fmt.Sprintf(sglangFinished, "04", "a", "2.5"), `"e2e`, fmt.Sprintf(`"request_finished_ts":%d.25,"e2e`, ended.Unix()), 1)
	for zone, warnings := range map[*time.Location]int{tokyo: 0, time.UTC: 1} {
		_, meta, err := read(log, Options{TimeZone: zone})
		if err != nil {
			t.Fatal(err)
		}
		want := time.Date(2026, 3, 2, 9, 0, 1, 5e8, zone)
		if !meta.T0.Equal(want) || meta.TimeZone != zone.String() || len(meta.Sources[0].Warnings) != warnings {
			t.Errorf("%v of zone %s, warnings %q; want %v and %d", meta.T0, meta.TimeZone, meta.Sources[0].Warnings, want, warnings)
		}
	}
}

// However many requests never end, no more of them are held than the limit; what is
// given up is not lost.
func TestSGLangPendingIsBounded(t *testing.T) {
	l := newSGLang(&input{warnings: map[string]int64{}})
	out := &outlet{&Source{rejected: map[string]int64{}}}
	const extra = 10
	for i := range maxPending + extra {
		row := &sglangRow{RID: []byte(fmt.Sprintf("%q", fmt.Sprint("r", i)))}
		if err := l.received(row, int64(i), out); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.pending) != maxPending || l.order.Len() != maxPending || len(out.s.queue) != extra {
		t.Errorf("%d and %d pending, %d given up; want %d and %d", len(l.pending), l.order.Len(), len(out.s.queue), maxPending, extra)
	}
	l.events = 1
	if err := l.finish(out); err != nil {
		t.Fatal(err)
	}
	if first := out.s.queue[0]; first.ID.V != "r0" || len(out.s.queue) != maxPending+extra {
		t.Errorf("%d rows, the first %v", len(out.s.queue), first.ID)
	}
}

// A log of the server without its requests is an error that says what to do.
func TestSGLangWithoutRequests(t *testing.T) {
	_, _, err := read("INFO: up\n{\"event\":\"started\"}\n", Options{Format: "sglang"})
	if err == nil || !strings.Contains(err.Error(), "--log-requests-format json") {
		t.Errorf("%v", err)
	}
}
