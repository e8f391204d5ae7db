package formats

import "wavetank/traces"

// account puts the counts of a span in order: the prompt counts what was read
// from and written to a cache, and the output counts the reasoning. All of the
// conventions say so today, but what stands in a span is what a provider
// reported, and some report the parts beside the whole. The total, where there is
// one, tells; so does a part that is larger than its whole.
func (g *genAI) account(rec *traces.Record, attrs attributes) error {
	total, err := countOf(attrs, totalAttrs)
	if err != nil {
		return err
	}
	wrote, err := countOf(attrs, wroteAttrs)
	if err != nil {
		return err
	}
	prompt, output := &rec.PromptTokens, &rec.OutputTokens
	cache, reasoning := rec.Outcome.CachedTokens.V+wrote.V, rec.ReasoningTokens.V
	if total.Known && prompt.Known && output.Known {
		g.spread(total.V-prompt.V-output.V, prompt, output, cache, reasoning)
	}
	if prompt.Known && cache > prompt.V {
		g.in.warn("cached tokens that are more than the prompt, and were added to it: did this log leave them out of smaller prompts, too?")
		prompt.V += cache
	}
	if output.Known && reasoning > output.V {
		g.in.warn("reasoning tokens that are more than the output, and were added to it: did this log leave them out of longer outputs, too?")
		output.V += reasoning
	}
	for _, n := range []traces.Opt[int32]{*prompt, *output} {
		if n.V > maxTokens {
			return rejectf(TooLarge, "%d is over the limit of %d tokens", n.V, maxTokens)
		}
	}
	rec.Outcome.PromptTokensSeen, rec.Outcome.OutputTokensSeen = *prompt, *output
	if output.Known {
		rec.Outcome.TokenBasis = traces.Some(traces.BasisUsage)
	}
	return nil
}

// spread adds to prompt and output what they lack to be the total.
func (g *genAI) spread(missing int32, prompt, output *traces.Opt[int32], cache, reasoning int32) {
	switch {
	case missing == 0:
	case missing == cache+reasoning:
		prompt.V += cache
		output.V += reasoning
	case missing == cache:
		prompt.V += cache
	case missing == reasoning:
		output.V += reasoning
	default:
		g.in.warn("total tokens are not the sum of prompt and output")
	}
}

// countOf returns the first of the named counts that is known.
func countOf(attrs attributes, names []string) (traces.Opt[int32], error) {
	text, name := attrs.text(names...)
	if name == "" || text == "-1" {
		return traces.Opt[int32]{}, nil
	}
	n, err := parseTokens([]byte(text))
	return traces.Opt[int32]{V: n, Known: err == nil}, inField(name, err)
}
