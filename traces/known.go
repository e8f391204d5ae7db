package traces

// knownTo returns the columns that r knows. The fields stand here once more, in
// the order of the table columns, because to ask fifty functions of the table took
// half the time of writing a row; and each becomes its bit without a branch.
func knownTo(r *Record) columnSet {
	return bit(true) |
		bit(true)<<1 |
		bit(r.ID.Known)<<2 |
		bit(r.SourceRow.Known)<<3 |
		bit(r.App.Known)<<4 |
		bit(r.Tenant.Known)<<5 |
		bit(r.User.Known)<<6 |
		bit(r.Session.Known)<<7 |
		bit(r.Turn.Known)<<8 |
		bit(r.After != nil)<<9 |
		bit(r.Think.Known)<<10 |
		bit(r.Model.Known)<<11 |
		bit(r.Endpoint.Known)<<12 |
		bit(r.PromptTokens.Known)<<13 |
		bit(r.OutputTokens.Known)<<14 |
		bit(r.ReasoningTokens.Known)<<15 |
		bit(r.MaxTokens.Known)<<16 |
		bit(r.Stream.Known)<<17 |
		bit(r.Params.Known)<<18 |
		bit(r.Blocks != nil)<<19 |
		bit(r.Media != nil)<<20 |
		bit(r.Components != nil)<<21 |
		bit(r.Cancel.Known)<<22 |
		bit(r.CancelTokens.Known)<<23 |
		bit(r.Timeout.Known)<<24 |
		bit(r.Body != nil)<<25 |
		bit(r.Phase.Known)<<26 |
		bit(true)<<27 |
		bit(r.Outcome.Error.Known)<<28 |
		bit(r.Outcome.HTTPStatus.Known)<<29 |
		bit(r.Outcome.FinishReason.Known)<<30 |
		bit(r.Outcome.Due.Known)<<31 |
		bit(r.Outcome.Sent.Known)<<32 |
		bit(r.Outcome.FirstToken.Known)<<33 |
		bit(r.Outcome.FirstOutput.Known)<<34 |
		bit(r.Outcome.LastToken.Known)<<35 |
		bit(r.Outcome.End.Known)<<36 |
		bit(r.Outcome.Queue.Known)<<37 |
		bit(r.Outcome.Prefill.Known)<<38 |
		bit(r.Outcome.Decode.Known)<<39 |
		bit(r.Outcome.PromptTokensSeen.Known)<<40 |
		bit(r.Outcome.CachedTokens.Known)<<41 |
		bit(r.Outcome.OutputTokensSeen.Known)<<42 |
		bit(r.Outcome.TokenBasis.Known)<<43 |
		bit(r.Outcome.Events.Known)<<44 |
		bit(r.Outcome.MaxGap.Known)<<45 |
		bit(r.Outcome.Gaps != nil)<<46 |
		bit(r.Outcome.Attempt.Known)<<47 |
		bit(r.Outcome.RetryOf.Known)<<48 |
		bit(r.Outcome.Worker.Known)<<49 |
		bit(r.Outcome.GatewayCache.Known)<<50
}

func bit(known bool) (set columnSet) {
	if known {
		set = 1
	}
	return set
}
