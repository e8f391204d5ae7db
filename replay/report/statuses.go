package report

import "wavetank/traces"

// statusAbout defines every status. Failed ones are misses of the server or of
// the generator; a row that the trace cancels, or that was never sent for
// another's sake, is neither answered nor failed.
var statusAbout = map[traces.Status]struct {
	about  string
	failed bool
}{
	traces.OK:        {"a whole answer came", false},
	traces.Error:     {"the server or the way to it failed; the error class says how", true},
	traces.Timeout:   {"the client's limit passed first", true},
	traces.Cancelled: {"the client hung up, as the trace wanted or because the run was stopped", false},
	traces.Rejected:  {"the server refused for load (429, or 503 with Retry-After)", true},
	traces.Truncated: {"a 200 whose stream ended without a finish", true},
	traces.Empty:     {"a finished answer without a token", true},
	traces.Dropped:   {"the generator could not send it", true},
	traces.Skipped:   {"not sent: what it waits for failed, or there was nothing to ask for", false},
	traces.Unknown:   {"nobody looked", false},
}

// The reasons for which a row is outside a population.
const (
	statusPrefix  = "status "
	gatewayReason = "gateway cache"
)

// statusReasons name the statuses as reasons of exclusion, made once and not a row.
var statusReasons = func() map[traces.Status]string {
	m := map[traces.Status]string{}
	for _, st := range traces.Statuses {
		m[st] = statusPrefix + string(st)
	}
	return m
}()

// noStatuses has every status, so that none is missing from a report because
// it did not occur.
func noStatuses() map[traces.Status]int64 {
	m := make(map[traces.Status]int64, len(traces.Statuses))
	for _, st := range traces.Statuses {
		m[st] = 0
	}
	return m
}

// statusOf takes a status that is none of traces.Statuses for unknown, so that
// the statuses always add up to the rows.
func statusOf(r *traces.Record) traces.Status {
	if _, ok := statusAbout[r.Outcome.Status]; ok {
		return r.Outcome.Status
	}
	return traces.Unknown
}
