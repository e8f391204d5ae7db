package traces

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"
)

// randomRecord fills each field with a null, a zero, an extreme or something
// else, so that every column meets every case.
func randomRecord(rng *rand.Rand, seq uint64) Record {
	var rec Record
	fill(rng, reflect.ValueOf(&rec).Elem())
	rec.Seq = seq
	rec.Arrival = time.Duration(seq) * time.Millisecond
	rec.Outcome.Status = Statuses[rng.IntN(len(Statuses))]
	return rec
}

func fill(rng *rand.Rand, v reflect.Value) {
	switch {
	case v.Type().Name() != "" && strings.HasPrefix(v.Type().Name(), "Opt["):
		if rng.IntN(3) > 0 {
			v.FieldByName("Known").SetBool(true)
			fill(rng, v.FieldByName("V"))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i))
		}
	case v.Kind() == reflect.Slice:
		if n := rng.IntN(4); n > 0 { // nil, empty, one, two
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				fill(rng, v.Index(i))
			}
		}
	case v.Kind() == reflect.String:
		v.SetString([]string{"", "a", "chat", "naïve ✓\n", strings.Repeat("x", 300)}[rng.IntN(5)])
	case v.Kind() == reflect.Bool:
		v.SetBool(rng.IntN(2) == 1)
	case v.CanInt():
		v.SetInt([]int64{0, 1, -1, math.MaxInt32, math.MinInt32, rng.Int64N(1 << 30)}[rng.IntN(6)])
		if v.Kind() == reflect.Int64 && rng.IntN(4) == 0 {
			v.SetInt([]int64{math.MaxInt64, math.MinInt64}[rng.IntN(2)])
		}
	case v.CanUint():
		v.SetUint([]uint64{0, 1, 255, rng.Uint64N(1 << 32), 1<<32 - 1}[rng.IntN(5)])
		if v.Kind() == reflect.Uint64 && rng.IntN(3) == 0 {
			v.SetUint(math.MaxUint64 - rng.Uint64N(9))
		}
		if v.Kind() == reflect.Uint8 {
			v.SetUint(rng.Uint64N(256))
		}
	default:
		panic("no case for " + v.Type().String())
	}
}

func randomRecords(seed uint64, n int) []Record {
	rng := rand.New(rand.NewPCG(seed, 1))
	recs := make([]Record, n)
	for i := range recs {
		recs[i] = randomRecord(rng, uint64(i))
	}
	return recs
}

// plainRecord is a row such as a converted log has.
func plainRecord(i int) Record {
	return Record{Request: Request{
		Seq: uint64(i), Arrival: time.Duration(i) * time.Millisecond,
		App: Some("chat"), PromptTokens: Some(int32(i%4000 + 1)), OutputTokens: Some(int32(i%300 + 1)),
	}, Outcome: Outcome{Status: Unknown}}
}

func plainRecords(n int) []Record {
	recs := make([]Record, n)
	for i := range recs {
		recs[i] = plainRecord(i)
	}
	return recs
}
