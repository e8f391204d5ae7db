package openai

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// split feeds the pieces and returns the data of the events.
func split(pieces ...string) ([]string, error) {
	var e events
	var got []string
	emit := func(data []byte) error {
		got = append(got, string(data))
		return nil
	}
	for _, p := range pieces {
		if err := e.feed([]byte(p), emit); err != nil {
			return got, err
		}
	}
	return got, e.end(emit)
}

var streams = []struct {
	stream string
	want   []string
}{
	{"data: a\n\ndata: b\n\n", []string{"a", "b"}},
	{"data:a\r\n\r\ndata:  b\r\n\r\n", []string{"a", " b"}},
	{"data: a\r\rdata: b\r\r", []string{"a", "b"}},
	{"\xef\xbb\xbfdata: é€😀\n\n: comment\n\nid: 1\ndata: b\n", []string{"é€😀", "b"}},
	{"data: a\ndata\ndata: b\nevent: x\nretry: 5\n\n\n\n", []string{"a\n\nb"}},
	{"data: a", []string{"a"}},
	{"data: a\n\r\n", []string{"a"}},
	{"data\n\n", []string{""}},
	{"data: a:b\n\n", []string{"a:b"}},
	{"database: a\n\n", nil},
	{" data: a\n\n", nil},
	{":\n\n:ping\r\n\r", nil},
	{"", nil},
}

// ai-dynamo/aiperf#368, sgl-project/genai-bench#163, triton-inference-server/perf_analyzer#395,
// spiceai/spiceai#12588: events that a network merged or cut were lost or damaged.
func TestEventsAreTheSameHoweverTheStreamIsSplit(t *testing.T) {
	for _, c := range streams {
		check := func(pieces ...string) {
			t.Helper()
			if got, err := split(pieces...); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%q: got %q, %v, want %q", pieces, got, err, c.want)
			}
		}
		check(c.stream)
		check(strings.Split(c.stream, "")...)
		var single []string
		for i := range len(c.stream) {
			single = append(single, c.stream[i:i+1])
			check(c.stream[:i], c.stream[i:])
			for j := i; j < len(c.stream); j++ {
				check(c.stream[:i], c.stream[i:j], "", c.stream[j:])
			}
		}
		check(single...)
	}
}

func TestEventsAreBounded(t *testing.T) {
	piece := strings.Repeat("a", 1<<20)
	for _, between := range []string{"", "\ndata: "} {
		pieces := []string{"data: "}
		for range 20 {
			pieces = append(pieces, piece, between)
		}
		if _, err := split(pieces...); err != errEventTooLong {
			t.Errorf("20 MiB in one event: %v", err)
		}
	}
	if got, err := split("data: ", strings.Repeat("a", 15<<20), "\n\n"); err != nil || len(got) != 1 {
		t.Errorf("15 MiB in one event: %d events, %v", len(got), err)
	}
}

func FuzzEventsAreTheSameHoweverTheStreamIsSplit(f *testing.F) {
	for _, c := range streams {
		f.Add([]byte(c.stream), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		want, err := split(string(stream))
		if err != nil {
			t.Skip()
		}
		var pieces []string
		for p := range slices.Chunk(stream, int(size)+1) {
			pieces = append(pieces, string(p))
		}
		if got, err := split(pieces...); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, whole %q", pieces, got, err, want)
		}
	})
}

// BenchmarkEvent is all that an event costs after its bytes have arrived.
func BenchmarkEvent(b *testing.B) {
	stream := []byte(strings.Repeat(`data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1700000000,"model":"some/model-name","choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`+"\n\n", 15))
	a := &answer{}
	b.ReportAllocs()
	for b.Loop() {
		if err := a.sse.feed(stream, a.event); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(bytes.Count(stream, []byte("data: "))), "ns/event")
}
