package reuse

import (
	"container/list"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"wavetank/traces"
)

// An lru is one cache, block by block, as its definition says.
type lru struct {
	capacity int
	order    *list.List // most recent first
	at       map[int]*list.Element
}

func (l *lru) access(keys []int) (hits int64) {
	for _, k := range keys {
		if l.at[k] == nil {
			break
		}
		hits++
	}
	for i := len(keys) - 1; i >= 0; i-- {
		if e := l.at[keys[i]]; e != nil {
			l.order.MoveToFront(e)
			continue
		}
		l.at[keys[i]] = l.order.PushFront(keys[i])
	}
	for l.order.Len() > l.capacity {
		delete(l.at, l.order.Remove(l.order.Back()).(int))
	}
	return hits
}

// runsOf codes ids as runs that are cut at random places, empty ones among them.
func runsOf(rng *rand.Rand, ids []uint64) (runs []traces.BlockRun) {
	for i, id := range ids {
		if n := len(runs); i > 0 && id == ids[i-1]+1 && rng.IntN(4) > 0 && runs[n-1].Len > 0 {
			runs[n-1].Len++
			continue
		}
		if rng.IntN(20) == 0 {
			runs = append(runs, traces.BlockRun{Start: rng.Uint64()})
		}
		runs = append(runs, traces.BlockRun{Start: id, Len: 1})
	}
	return runs
}

// chained makes a trace in which every id stands for the whole prefix before it:
// a request takes a prefix of an earlier one and goes on with new ids.
func chained(rng *rand.Rand) (recs []traces.Record) {
	var paths [][]uint64
	next := rng.Uint64()
	if rng.IntN(4) == 0 {
		next = math.MaxUint64 - rng.Uint64N(20) // passes the last id
	}
	for range 5 + rng.IntN(40) {
		var path []uint64
		if len(paths) > 0 && rng.IntN(5) > 0 {
			p := paths[rng.IntN(len(paths))]
			path = append(path, p[:rng.IntN(len(p)+1)]...)
		}
		for range rng.IntN(12) {
			if rng.IntN(10) == 0 {
				next += rng.Uint64N(1 << 40)
			}
			next++
			path = append(path, next)
		}
		paths = append(paths, path)
		recs = append(recs, traces.Record{Request: traces.Request{Blocks: runsOf(rng, path)}})
	}
	return recs
}

// keysOf numbers the blocks of each row from 0 by first appearance; those of two
// sessions are not the same.
func keysOf(recs []traces.Record) [][]int {
	type block struct {
		session string
		id      uint64
	}
	keys, known := make([][]int, len(recs)), make(map[block]int)
	for i, rec := range recs {
		for _, run := range rec.Blocks {
			for k := range run.Len {
				b := block{rec.Session.V, run.Start + uint64(k)}
				if _, ok := known[b]; !ok {
					known[b] = len(known)
				}
				keys[i] = append(keys[i], known[b])
			}
		}
	}
	return keys
}

func hitsOf(keys [][]int, capacity int) (hits int64) {
	l := &lru{capacity, list.New(), make(map[int]*list.Element)}
	for _, path := range keys {
		hits += l.access(path)
	}
	return hits
}

func isExact(t *testing.T, recs []traces.Record, scope string) {
	t.Helper()
	c, err := Of(traces.FromSlice(recs), traces.Meta{BlockScope: scope})
	if err != nil {
		t.Fatal(err)
	}
	keys := keysOf(recs)
	all := slices.Concat(keys...)
	unique := 0
	for _, k := range all {
		unique = max(unique, k+1)
	}
	if c.Unique != int64(unique) || c.Blocks != int64(len(all)) {
		t.Fatalf("%d unique of %d blocks, want %d of %d", c.Unique, c.Blocks, unique, len(all))
	}
	for capacity := range unique + 3 {
		if got, want := c.Hits(int64(capacity)), hitsOf(keys, capacity); got != want {
			t.Fatalf("capacity %d: %d hits, a cache has %d", capacity, got, want)
		}
	}
	if len(all) > 0 && c.Infinite() != float64(len(all)-unique)/float64(len(all)) {
		t.Fatalf("infinite cache: %v", c.Infinite())
	}
}

// The curve is that of a linked-list LRU at every capacity.
func TestCurveIsThatOfACache(t *testing.T) {
	for seed := range uint64(40) {
		isExact(t, chained(rand.New(rand.NewPCG(seed, 1))), "global")
	}
}

func FuzzCurve(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, a, b uint64) {
		isExact(t, chained(rand.New(rand.NewPCG(a, b))), "")
	})
}

// Ids that are a session's own hit nothing of another session's, and all sessions
// compete for the one cache. A row without a session shares nothing.
func TestScopes(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		recs := chained(rng)
		for i := range recs {
			recs[i].Session = traces.Some(strconv.Itoa(rng.IntN(3)))
			if recs[i].Session.V == "0" {
				recs[i].Session = traces.Opt[string]{V: "lone" + strconv.Itoa(i)}
			}
		}
		isExact(t, recs, "session")
	}
}

func record(runs ...traces.BlockRun) traces.Record {
	return traces.Record{Request: traces.Request{Blocks: runs}}
}

// Ids that stand behind two prefixes are told, wherever they turn up.
func TestUnchainedIDs(t *testing.T) {
	one := func(ids ...uint64) (r traces.Record) {
		for _, id := range ids {
			r.Blocks = append(r.Blocks, traces.BlockRun{Start: id, Len: 1})
		}
		return r
	}
	for name, recs := range map[string][]traces.Record{
		"at two depths":          {one(1, 2, 3), one(2)},
		"behind a new id":        {one(1, 2, 3), one(9, 2)},
		"behind another's":       {one(1, 2), one(3, 4), one(1, 4)},
		"twice in a new prompt":  {one(7, 7)},
		"twice in an old prompt": {one(1, 2), one(1, 1)},
		"a gap":                  {one(1, 2, 3), one(1, 3)},
		"inside a long run":      {record(traces.BlockRun{Start: 0, Len: 100}), record(traces.BlockRun{Start: 50, Len: 10})},
	} {
		if _, err := Of(traces.FromSlice(recs), traces.Meta{}); !errors.Is(err, ErrUnchained) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No ids, whatever they are, do more than end in an error.
func FuzzAnyIDs(f *testing.F) {
	f.Add([]byte{1, 2, 0, 3, 4, 1, 2, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Stack
		for len(data) >= 4 {
			var rec traces.Record
			for k := int(data[0] % 3); k >= 0 && len(data) >= 4; k-- {
				rec.Blocks = append(rec.Blocks, traces.BlockRun{Start: uint64(data[1]%16) - 8, Len: uint32(data[2]%8) << (data[3] % 30)})
				data = data[4:]
			}
			if _, err := s.Touch(&rec); err != nil {
				return
			}
		}
		c := s.Curve()
		for capacity := range int64(100) {
			if h := c.Hits(capacity); h < 0 || h > c.Blocks-c.Unique {
				t.Fatalf("%d hits of %d blocks, %d unique", h, c.Blocks, c.Unique)
			}
		}
	})
}

func conversation(t testing.TB) *traces.File {
	t.Helper()
	f, err := traces.Open(filepath.Join("..", "..", "testdata", "traces", "mooncake-conversation.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The hit rates of the conversation trace of Mooncake (Qin et al., FAST 2025).
func TestConversation(t *testing.T) {
	f := conversation(t)
	defer f.Close()
	recs, err := traces.Collect(f)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Of(traces.FromSlice(recs), f.Meta())
	if err != nil {
		t.Fatal(err)
	}
	if c.Blocks != 288500 || c.Unique != 182790 {
		t.Errorf("%d of %d blocks are unique", c.Unique, c.Blocks)
	}
	keys := keysOf(recs)
	for capacity, want := range map[int]float64{10_000: .211, 20_000: .287, 50_000: .355, 182_790: .366} {
		if got := c.Rate(int64(capacity)); math.Abs(got-want) > 1e-3 || c.Hits(int64(capacity)) != hitsOf(keys, capacity) {
			t.Errorf("%d blocks: hit rate %.4f, want %.3f", capacity, got, want)
		}
	}
	if c.Hits(182_789) > c.Hits(182_790) || c.Infinite() != c.Rate(182_790) {
		t.Error("a cache of all blocks is not the infinite one")
	}
}

func BenchmarkConversation(b *testing.B) {
	f := conversation(b)
	recs, err := traces.Collect(f)
	if err != nil {
		b.Fatal(err)
	}
	f.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Of(traces.FromSlice(recs), traces.Meta{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(recs)), "ns/request")
}
