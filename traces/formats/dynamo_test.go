package formats

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

const dynamoEvent = `{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":%d,"agent_context":{%s},"request":{"request_id":"r","request_received_ms":%d,"output_tokens":1,"replay":{"trace_block_size":64,"input_length":%d,"input_sequence_hashes":[%s]}}}` + "\n"

// Equal hashes are equal ids and different ones different, in all of their 64 bits;
// ids are consecutive, so that the new blocks of a prompt are one run.
func TestDynamoBlocks(t *testing.T) {
	var log strings.Builder
	for _, hashes := range []string{
		"9007199254740992,9007199254740993,18446744073709551615,0", // floats hold the first two as one
		"9007199254740992,9007199254740993,7,8",
		"8,9007199254740993",
		"",
	} {
		n := 0
		if hashes != "" {
			n = strings.Count(hashes, ",") + 1
		}
		fmt.Fprintf(&log, dynamoEvent, 1777312801000, "", 1777312800000, 64*n, hashes)
	}
	recs, meta, err := read(log.String(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	base := recs[0].Blocks[0].Start
	for i, want := range [][]traces.BlockRun{{{Start: base, Len: 4}}, {{Start: base, Len: 2}, {Start: base + 4, Len: 2}}, {{Start: base + 5, Len: 1}, {Start: base + 1, Len: 1}}, {}} {
		if !reflect.DeepEqual(recs[i].Blocks, want) {
			t.Errorf("row %d: %v, want %v", i, recs[i].Blocks, want)
		}
	}
	if meta.BlockTokens != 64 || meta.BlockScope != "global" || len(meta.Sources[0].Warnings) != 0 {
		t.Errorf("%+v", meta)
	}
}

// The shards of a trace share no ids, though all of their prompts begin alike: that
// two files share a prefix is not seen, but none is made up.
func TestDynamoShards(t *testing.T) {
	taken := map[uint64]bool{}
	for shard := range 200 {
		r := one(t, fmt.Sprintf(dynamoEvent, 1777312801000+shard, "", 1777312800000+shard, 128, "11,12"), Options{})
		for i := range uint64(r.Blocks[0].Len) {
			id := r.Blocks[0].Start + i
			if taken[id] || id >= 1<<53 {
				t.Fatalf("shard %d: id %d is of another shard, or more than a float holds", shard, id)
			}
			taken[id] = true
		}
	}
}

// The envelope of some sinks changes nothing but the ids.
func TestDynamoEnvelope(t *testing.T) {
	b, err := os.ReadFile(fixture("dynamo", "trace.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var wrapped strings.Builder
	for line := range strings.Lines(string(b)) {
		fmt.Fprintf(&wrapped, `{"timestamp": 5, "event": %s}`+"\n", strings.TrimSuffix(line, "\n"))
	}
	want, wantMeta := collect(t, fixture("dynamo", "trace.jsonl"), Options{})
	got, gotMeta, err := read(wrapped.String(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	fromZero(want)
	fromZero(got)
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotMeta.Sources[0].Rejected, wantMeta.Sources[0].Rejected) {
		t.Errorf("%v, want %v", gotMeta.Sources[0], wantMeta.Sources[0])
	}
}

// fromZero moves the ids of a file to 0.
func fromZero(recs []traces.Record) {
	base := recs[0].Blocks[0].Start
	for _, r := range recs {
		for i := range r.Blocks {
			r.Blocks[i].Start -= base
		}
	}
}

// A session's requests follow on each other; the first of one that another spawned
// waits for what that one had ended.
func TestDynamoSessions(t *testing.T) {
	const parent, child = `"session_id":"p"`, `"session_id":"c","parent_session_id":"p"`
	const t0 = 1777312800000
	var log strings.Builder
	for _, e := range []struct {
		agent      string
		start, end int
	}{{parent, 0, 1000}, {child, 1500, 2500}, {child, 2600, 2700}, {parent, 3000, 4000}} {
		fmt.Fprintf(&log, dynamoEvent, t0+e.end, e.agent, t0+e.start, 64, "1")
	}
	recs, _, err := read(log.String(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		turn  int32
		after []uint64
		think time.Duration
	}{{0, nil, -1}, {0, []uint64{0}, 500 * time.Millisecond}, {1, nil, 100 * time.Millisecond}, {1, nil, 2 * time.Second}} {
		r := recs[i]
		if r.Turn.V != want.turn || !reflect.DeepEqual(r.After, want.after) || r.Think.Or(-1) != want.think {
			t.Errorf("row %d: turn %v, after %v, think %v; want %+v", i, r.Turn, r.After, r.Think, want)
		}
	}
}
