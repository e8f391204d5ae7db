package replay

import "wavetank/traces"

// reasons are why a row is skipped, first match first.
var reasons = []struct {
	class string
	holds func(*traces.Request, *traces.Outcome) bool
}{
	{"gateway_cache", func(_ *traces.Request, was *traces.Outcome) bool { return was.GatewayCache.Or(false) }},
	{"", func(req *traces.Request, _ *traces.Outcome) bool { return req.Body != nil }},
	{"output_unknown", func(req *traces.Request, _ *traces.Outcome) bool { return !req.OutputTokens.Known }},
	{"no_output_wanted", func(req *traces.Request, _ *traces.Outcome) bool { return req.OutputTokens.V <= 0 }},
	{"prompt_unknown", func(req *traces.Request, _ *traces.Outcome) bool { return !req.PromptTokens.Known }},
	{"no_prompt", func(req *traces.Request, _ *traces.Outcome) bool { return req.PromptTokens.V <= 0 }},
}

// reasonToSkip returns the class of the first reason to skip a row, or "".
func reasonToSkip(rec *traces.Record) string {
	for _, r := range reasons {
		if r.holds(&rec.Request, &rec.Outcome) {
			return r.class
		}
	}
	return ""
}
