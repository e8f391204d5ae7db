package lint

import (
	"fmt"
	"math"
	"strings"
	"time"

	"wavetank/traces"
)

// A sentinel is a number that a log wrote for "not known".
type sentinel struct{ rows, first int64 }

func tokens(v traces.Opt[int32]) (int64, bool) {
	return int64(v.V), v.Known && (v.V < 0 || v.V == math.MaxInt32)
}

func took(v traces.Opt[time.Duration]) (int64, bool) { return int64(v.V), v.Known && v.V <= 0 }

// sentinelColumns give a column's value and whether it is none. A count of 0 is one
// too often to be told here: no_prompt and no_output count those.
var sentinelColumns = [...]struct {
	name string
	of   func(*traces.Record) (v int64, bad bool)
}{
	{"prompt_tokens", func(r *traces.Record) (int64, bool) { return tokens(r.PromptTokens) }},
	{"output_tokens", func(r *traces.Record) (int64, bool) { return tokens(r.OutputTokens) }},
	{"reasoning_tokens", func(r *traces.Record) (int64, bool) { return tokens(r.ReasoningTokens) }},
	{"max_tokens", func(r *traces.Record) (int64, bool) { return tokens(r.MaxTokens) }},
	{"cached_tokens", func(r *traces.Record) (int64, bool) { return tokens(r.Outcome.CachedTokens) }},
	{"first_token_ns", func(r *traces.Record) (int64, bool) { return took(r.Outcome.FirstToken) }},
	{"end_ns", func(r *traces.Record) (int64, bool) { return took(r.Outcome.End) }},
}

func (s *scan) addSentinels(rec *traces.Record) {
	for i, c := range sentinelColumns {
		v, bad := c.of(rec)
		if !bad {
			continue
		}
		if s.sentinels[i].rows == 0 {
			s.sentinels[i].first = v
		}
		s.sentinels[i].rows++
	}
}

func findSentinels(s *scan) []Finding {
	var parts []string
	for i, x := range s.sentinels {
		if x.rows > 0 {
			parts = append(parts, fmt.Sprintf("%s of %d rows (the first %d)", sentinelColumns[i].name, x.rows, x.first))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []Finding{{"sentinels",
		"no measurements: " + strings.Join(parts, ", "),
		"a number that stands for \"not known\" was read as one: it moves means, quantiles and every fit",
		"convert the source again with these values empty or null, or leave such rows out with convert --where"}}
}
