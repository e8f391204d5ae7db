package traces

// knownTo returns the columns that r knows. The fields stand here once more, in
// the order of the table columns, because to ask fifty functions of the table took
// half the time of writing a row.
func knownTo(r *Record) (set columnSet) {
	for i, known := range [...]bool{
		true, // seq
		true, // arrival_ns
		r.ID.Known,
		r.SourceRow.Known,
		r.App.Known,
		r.Tenant.Known,
		r.User.Known,
		r.Session.Known,
		r.Turn.Known,
		r.After != nil,
		r.Think.Known,
		r.Model.Known,
		r.Endpoint.Known,
		r.PromptTokens.Known,
		r.OutputTokens.Known,
		r.ReasoningTokens.Known,
		r.MaxTokens.Known,
		r.Stream.Known,
		r.Params.Known,
		r.Blocks != nil,
		r.Media != nil,
		r.Components != nil,
		r.Cancel.Known,
		r.CancelTokens.Known,
		r.Timeout.Known,
		r.Body != nil,
		r.Phase.Known,
		true, // status
		r.Outcome.Error.Known,
		r.Outcome.HTTPStatus.Known,
		r.Outcome.FinishReason.Known,
		r.Outcome.Due.Known,
		r.Outcome.Sent.Known,
		r.Outcome.FirstToken.Known,
		r.Outcome.FirstOutput.Known,
		r.Outcome.LastToken.Known,
		r.Outcome.End.Known,
		r.Outcome.Queue.Known,
		r.Outcome.Prefill.Known,
		r.Outcome.Decode.Known,
		r.Outcome.PromptTokensSeen.Known,
		r.Outcome.CachedTokens.Known,
		r.Outcome.OutputTokensSeen.Known,
		r.Outcome.TokenBasis.Known,
		r.Outcome.Events.Known,
		r.Outcome.MaxGap.Known,
		r.Outcome.Gaps != nil,
		r.Outcome.Attempt.Known,
		r.Outcome.RetryOf.Known,
		r.Outcome.Worker.Known,
		r.Outcome.GatewayCache.Known,
	} {
		if known {
			set |= 1 << i
		}
	}
	return set
}
