package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// sourceBuckets part the lines of a source.
const sourceBuckets = 128

// A lineSpan is when the lines of a part of the source arrived.
type lineSpan struct {
	rows        int64
	first, last uint64
	early, late time.Duration
}

func (l *lineSpan) add(o lineSpan) {
	switch {
	case o.rows == 0:
		return
	case l.rows == 0:
		*l = o
		return
	}
	l.rows += o.rows
	l.first, l.last = min(l.first, o.first), max(l.last, o.last)
	l.early, l.late = min(l.early, o.early), max(l.late, o.late)
}

// sourceRows keep when each part of the source arrived, in constant memory: sorting
// has mixed the lines, but a clock that began anew still shows in them.
type sourceRows struct {
	width uint64 // lines a bucket
	in    [sourceBuckets]lineSpan
}

func (s *sourceRows) add(line uint64, at time.Duration) {
	s.width = max(s.width, 1)
	for line/s.width >= sourceBuckets {
		for i := range sourceBuckets / 2 {
			joined := s.in[2*i]
			joined.add(s.in[2*i+1])
			s.in[i] = joined
		}
		clear(s.in[sourceBuckets/2:])
		s.width *= 2
	}
	s.in[line/s.width].add(lineSpan{1, line, line, at, at})
}

// wrap returns a part of the source and a later one that arrived more than limit
// before it. The part between may have lines of both clocks.
func (s *sourceRows) wrap(limit time.Duration) (before, after lineSpan, ok bool) {
	var parts []lineSpan
	for _, l := range s.in {
		if l.rows >= minParts {
			parts = append(parts, l)
		}
	}
	for i := range parts {
		for _, later := range parts[i+1 : min(i+3, len(parts))] {
			if parts[i].early-later.late > limit {
				return parts[i], later, true
			}
		}
	}
	return before, after, false
}

// minParts rows of a part agree on when it was; fewer may be late ones.
const minParts = 8

func findSampling(s *scan) []Finding {
	var out []Finding
	for _, src := range s.facts.Sources {
		if r := src.SamplingRate; r > 0 && r < 1 {
			out = append(out, Finding{"sampling",
				fmt.Sprintf("%s holds %.4g %% of the requests, as it says", printable(src.Name), 100*r),
				"rates are that much too low, sessions have holes, and less of a prompt is found in the cache than was",
				fmt.Sprintf("fit it and synthesize at %.4g times the rate; sessions and prefix reuse cannot be had back", 1/r)})
		}
	}
	return out
}

// published are names of trace files whose true bytes package formats knows: it
// says whose work a source is (Source.Attribution) by them alone.
var published = []string{
	"AzureLLMInferenceTrace_code.csv", "AzureLLMInferenceTrace_conv.csv", "conversation_trace.jsonl", "synthetic_trace.jsonl",
}

func findImpostor(s *scan) []Finding {
	var out []Finding
	for _, src := range s.facts.Sources {
		name := path.Base(src.Name)
		for _, suffix := range []string{".gz", ".zst"} {
			name = strings.TrimSuffix(name, suffix)
		}
		if src.SHA256 == "" || src.Attribution != "" || !slices.Contains(published, name) {
			continue
		}
		out = append(out, Finding{"impostor",
			fmt.Sprintf("%s is not the published file of that name (sha256 of what was read: %s)", printable(src.Name), clean(src.SHA256)),
			"invented and cut-down rows go about under the names of public traces: no published figure holds for this one",
			"fetch the file from its publisher, or give this one another name"})
	}
	return out
}
