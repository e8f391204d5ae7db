package formats

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

func read(log string, o Options) ([]traces.Record, traces.Meta, error) {
	s, err := Open(strings.NewReader(log), "x", o)
	if err != nil {
		return nil, traces.Meta{}, err
	}
	recs, err := traces.Collect(s)
	return recs, s.Meta(), err
}

// one reads a log of a single row.
func one(t testing.TB, log string, o Options) traces.Record {
	t.Helper()
	recs, meta, err := read(log, o)
	if err != nil || len(recs) != 1 {
		t.Fatalf("%d rows, %v, %+v", len(recs), err, meta.Sources)
	}
	return recs[0]
}

// A number's unit is told by its magnitude, its field's name, the map or an
// option, in rising order of rank; and what was chosen is told.
func TestTimeUnits(t *testing.T) {
	t0 := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		stamp, field string
		o            Options
		unit         string
		t0           *time.Time
	}{
		{"1740819600", "arrival", Options{}, "s", &t0},
		{"1740819600.000", "arrival", Options{}, "s", &t0},
		{"1740819600000", "arrival", Options{}, "ms", &t0},
		{"1740819600000000", "arrival", Options{}, "us", &t0},
		{"1740819600000000000", "arrival", Options{}, "ns", &t0},
		{"2025-03-01T09:00:00Z", "arrival", Options{}, "", &t0},
		{"2025-03-01 14:30:00.000000+05:30", "arrival", Options{}, "", &t0},
		{"7", "arrival_ms", Options{}, "ms", nil},
		{"7", "arrival_ns", Options{}, "ns", nil},
		{"7", "arrival", Options{TimeUnit: "us"}, "us", nil},
		{"7", "at_ms", Options{TimeUnit: "s", Map: []string{"arrival=at_ms"}}, "s", nil},
		{"7", "at_ms", Options{TimeUnit: "s", Map: []string{"arrival=at_ms:us"}}, "us", nil},
		{"7", "at:us", Options{TimeUnit: "s", Map: []string{"arrival=at:us:ns"}}, "ns", nil},
	} {
		for _, log := range []string{
			tt.field + "\n" + tt.stamp + "\n",
			fmt.Sprintf("{%q: %q}\n", tt.field, tt.stamp),
		} {
			recs, meta, err := read(log, tt.o)
			if err != nil || len(recs) != 1 || recs[0].Arrival != 0 {
				t.Errorf("%q: %v, %v", log, recs, err)
				continue
			}
			if got := meta.Sources[0].TimeUnit; got != tt.unit {
				t.Errorf("%q: unit %q, want %q", log, got, tt.unit)
			}
			if (meta.T0 == nil) != (tt.t0 == nil) || tt.t0 != nil && !meta.T0.Equal(*tt.t0) {
				t.Errorf("%q: T0 %v, want %v", log, meta.T0, tt.t0)
			}
		}
	}
}

// Nanoseconds pass unharmed, which a float64 would not let them.
func TestNanoseconds(t *testing.T) {
	recs, meta, err := read("arrival\n1740819600000000001\n1740819600000000002\n", Options{})
	if err != nil || recs[1].Arrival != 1 || meta.Sources[0].Resolution != 1 || meta.T0.Nanosecond() != 1 {
		t.Errorf("%v, %+v, %v", recs, meta, err)
	}
}

// A row older than the first one comes out before zero, and Earliest tells.
func TestUnsorted(t *testing.T) {
	s, err := Open(strings.NewReader("arrival_s\n10\n12\n7.5\n11\n"), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []time.Duration
	for r, err := range traces.All(s) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Arrival)
	}
	want := []time.Duration{0, 2 * time.Second, -2500 * time.Millisecond, time.Second}
	if !reflect.DeepEqual(got, want) || s.Earliest() != want[2] {
		t.Errorf("arrivals %v, earliest %v; want %v", got, s.Earliest(), want)
	}
}

// Stamps without a zone are of the zone that was asked for, which is recorded;
// others are their own.
func TestTimeZone(t *testing.T) {
	east := time.FixedZone("UTC+8", 8*3600)
	for stamp, zone := range map[string]string{"2025-03-01 17:00:00": "UTC+8", "2025-03-01T09:00:00Z": ""} {
		_, meta, err := read("arrival\n"+stamp+"\n", Options{TimeZone: east})
		if err != nil || !meta.T0.Equal(time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)) || meta.TimeZone != zone {
			t.Errorf("%s: T0 %v in %q, %v", stamp, meta.T0, meta.TimeZone, err)
		}
	}
}

// Fields are mapped by header or by path, the longest key first.
func TestMap(t *testing.T) {
	r := one(t, `{"time": {"start": 1740819600.5}, "gen_ai.usage": {"input_tokens": 7}, "usage": {"out": {"n": "9"}}, "lat": {"ttft_s": 0.25}, "took": 1500, "ok": "success"}`,
		Options{Map: []string{"arrival=time.start", "prompt_tokens=gen_ai.usage.input_tokens", "output_tokens=usage.out.n",
			"ttft=lat.ttft_s", "end_ns=took:ms", "status=ok"}})
	if r.PromptTokens.V != 7 || r.OutputTokens.V != 9 || r.Outcome.FirstToken.V != 250*time.Millisecond ||
		r.Outcome.End.V != 1500*time.Millisecond || r.Outcome.Status != traces.OK {
		t.Errorf("%+v", r)
	}
	r = one(t, "when,in,\"mod,el\"\n2025-03-01T09:00:00Z,\"1,234,567\",\"a \"\"b\"\"\"\n",
		Options{Map: []string{"arrival=when", "prompt_tokens=in", "model=mod,el"}})
	if r.PromptTokens.V != 1234567 || r.Model.V != `a "b"` {
		t.Errorf("%+v", r)
	}
}

// A mapped field that no row has is a slip that is named, with what there is.
func TestMapMissing(t *testing.T) {
	for log, want := range map[string]string{
		"when,in\n1,2\n": `x:1: field "ttft_ms": the header lacks this column; it has "when", "in"`,
		`{"when": 1740819600, "usage": {"in": 2, "out": 3}}`: `x: field "ttft_ms": column first_token: no row has this field; the first row has "usage.in", "usage.out", "when"`,
		`{"wen": 1740819600}`:                                `x:1: no arrival; the row has "wen"`,
	} {
		_, _, err := read(log, Options{Map: []string{"arrival=when", "ttft=ttft_ms"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", log, err, want)
		}
	}
}

// Every column can be filled by its name in the trace file, from both formats.
func TestColumns(t *testing.T) {
	sample := map[Kind]string{Stamp: "1740819600", Duration: "5", Count: "5", Text: "ok", Bool: "true", Object: `{"a":1}`, Body: `{ "a":1}`}
	for _, c := range Columns {
		name := c.Name
		if c.Kind == Duration {
			name += "_ns"
		}
		if c.Kind == Stamp {
			continue
		}
		v, o := sample[c.Kind], Options{KeepBodies: c.Kind == Body}
		fromCSV := one(t, fmt.Sprintf("arrival,%s\n1740819600,\"%s\"\n", name, strings.ReplaceAll(v, `"`, `""`)), o)
		fromJSON := one(t, fmt.Sprintf(`{"arrival": 1740819600, %q: %q}`, name, v), o)
		if !reflect.DeepEqual(fromCSV.Request.App, fromJSON.Request.App) {
			t.Errorf("%s: %+v from csv, %+v from jsonl", c.Name, fromCSV, fromJSON)
		}
		bare := one(t, "arrival\n1740819600\n", Options{})
		fromCSV.SourceRow, fromJSON.SourceRow = bare.SourceRow, bare.SourceRow
		if reflect.DeepEqual(fromCSV, bare) || !reflect.DeepEqual(fromCSV, fromJSON) {
			t.Errorf("%s = %s: %s from csv, %s from jsonl", c.Name, v, known1(reflect.ValueOf(fromCSV)), known1(reflect.ValueOf(fromJSON)))
		}
	}
}
