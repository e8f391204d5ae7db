package report

import (
	"time"

	"wavetank/traces"
)

// A Metric is one number of a row.
type Metric struct {
	Name  string
	Unit  string // ms or tokens
	About string // the exact definition, with its formula and what makes it undefined
	Rows  Rows   // the rows that it is taken over

	// Of returns the metric of a row; false where it is undefined. It never
	// looks at the status: Rows does that.
	Of func(*traces.Record) (float64, bool)

	// Why says why Of is undefined for a row, in a word or two.
	Why func(*traces.Record) string
}

// Rows says which rows a metric is taken over.
type Rows string

// The populations of metrics.
const (
	OKRows   Rows = "ok"   // rows with status ok that no gateway's cache answered
	SentRows Rows = "sent" // rows that left: any status but dropped, skipped and unknown
	AllRows  Rows = "all"  // every row
)

// exclude returns why a row of a status is outside; "" if it is inside.
func (p Rows) exclude(st traces.Status, o *traces.Outcome) string {
	switch {
	case p == OKRows && st != traces.OK, p == SentRows && !left(st):
		return statusReasons[st]
	case p == OKRows && o.GatewayCache.V:
		return gatewayReason
	}
	return ""
}

// left tells whether a row of a status reached the network.
func left(st traces.Status) bool {
	return st != traces.Dropped && st != traces.Skipped && st != traces.Unknown
}

// Metrics are all metrics, in the order of reports. Times are of the client's
// clock unless the definition says otherwise.
var Metrics = []Metric{
	{
		Name: "ttft_due", Unit: "ms", Rows: OKRows,
		About: "time to first token from due = sent - due + first_token: what a user who came on schedule waited, so a late send cannot hide (no coordinated omission). First token: the first event with content, reasoning or a tool call. Undefined without due, sent or a first token",
		Of:    fromDue(firstToken), Why: whyFromDue("no first token", firstToken),
	},
	{
		Name: "ttft_sent", Unit: "ms", Rows: OKRows,
		About: "time to first token from sent = first_token. Undefined without a first token",
		Of:    field(firstToken), Why: always("no first token"),
	},
	{
		Name: "ttfo", Unit: "ms", Rows: OKRows,
		About: "time to first output from sent = first_output: the first event that is not reasoning. Undefined where only reasoning came",
		Of:    field(func(r *traces.Record) duration { return r.Outcome.FirstOutput }), Why: always("no output but reasoning"),
	},
	{
		Name: "tpot", Unit: "ms", Rows: OKRows,
		About: "time per output token after the first = (last_token - first_token) / (N - 1), N the output tokens seen, the first event taken for one token (events of several tokens make it too small: see multi_token_events). An answer that ended by itself (finish stop) with one token more than events ended with a token that is not sent: it is not in N. TTFT is not in it. Undefined below two tokens, and where all tokens came in one event",
		Of:    tpot, Why: whyTPOT,
	},
	{
		Name: "max_gap", Unit: "ms", Rows: OKRows,
		About: "longest pause between two token-bearing events of an answer. Undefined below two such events",
		Of:    field(func(r *traces.Record) duration { return r.Outcome.MaxGap }), Why: always("fewer than two events"),
	},
	{
		Name: "e2e_due", Unit: "ms", Rows: OKRows,
		About: "end to end from due = sent - due + last_token, or end where no token's time is known: usage and end marks after the last token are not waited for. Undefined without due, sent or an end",
		Of:    fromDue(answered), Why: whyFromDue("no end", answered),
	},
	{
		Name: "e2e_sent", Unit: "ms", Rows: OKRows,
		About: "end to end from sent = last_token, or end where no token's time is known. Undefined without an end",
		Of:    field(answered), Why: always("no end"),
	},
	{
		Name: "lag", Unit: "ms", Rows: SentRows,
		About: "how late the generator sent = sent - due, signed, against the run's absolute schedule. Undefined where nothing was replayed or no byte left",
		Of:    field(lag), Why: always("no due or sent"),
	},
	{
		Name: "queue", Unit: "ms", Rows: OKRows,
		About: "time in the server's queue, as the server told. Undefined where it did not",
		Of:    field(func(r *traces.Record) duration { return r.Outcome.Queue }), Why: always("not told"),
	},
	{
		Name: "prefill", Unit: "ms", Rows: OKRows,
		About: "time of prefill, as the server told. Undefined where it did not",
		Of:    field(func(r *traces.Record) duration { return r.Outcome.Prefill }), Why: always("not told"),
	},
	{
		Name: "decode", Unit: "ms", Rows: OKRows,
		About: "time of decode, as the server told. Undefined where it did not",
		Of:    field(func(r *traces.Record) duration { return r.Outcome.Decode }), Why: always("not told"),
	},
	{
		Name: "prompt_tokens_asked", Unit: "tokens", Rows: AllRows,
		About: "prompt tokens that the trace asks for, cached ones included. Undefined where unknown",
		Of:    count(func(r *traces.Record) tokens { return r.PromptTokens }), Why: always("unknown"),
	},
	{
		Name: "prompt_tokens_seen", Unit: "tokens", Rows: OKRows,
		About: "prompt tokens as the server's usage reported, cached ones included; in a production trace, where nothing was replayed, those of the log. Undefined where neither is known",
		Of:    count(promptSeen), Why: always("not reported"),
	},
	{
		Name: "cached_tokens", Unit: "tokens", Rows: OKRows,
		About: "the part of the prompt that came from the prefix cache, as usage reported. Undefined where it did not, which is not 0",
		Of:    count(func(r *traces.Record) tokens { return r.Outcome.CachedTokens }), Why: always("not reported"),
	},
	{
		Name: "output_tokens_asked", Unit: "tokens", Rows: AllRows,
		About: "output tokens that the trace asks for, reasoning included. Undefined where unknown",
		Of:    count(func(r *traces.Record) tokens { return r.OutputTokens }), Why: always("unknown"),
	},
	{
		Name: "output_tokens_seen", Unit: "tokens", Rows: OKRows,
		About: "output tokens that came, reasoning included, counted as token_basis says; in a production trace, where nothing was replayed, those of the log. Undefined where neither is known",
		Of:    count(outputSeen), Why: always("not counted"),
	},
}

type (
	duration = traces.Opt[time.Duration]
	tokens   = traces.Opt[int32]
)

func field(of func(*traces.Record) duration) func(*traces.Record) (float64, bool) {
	return func(r *traces.Record) (float64, bool) {
		d := of(r)
		return millis(d.V), d.Known
	}
}

func count(of func(*traces.Record) tokens) func(*traces.Record) (float64, bool) {
	return func(r *traces.Record) (float64, bool) {
		n := of(r)
		return float64(n.V), n.Known
	}
}

func always(why string) func(*traces.Record) string {
	return func(*traces.Record) string { return why }
}

// fromDue moves a time since sent to one since due. The sum is made in whole
// nanoseconds, so that equal schedules give equal figures.
func fromDue(of func(*traces.Record) duration) func(*traces.Record) (float64, bool) {
	return func(r *traces.Record) (float64, bool) {
		l, d := lag(r), of(r)
		return millis(l.V + d.V), l.Known && d.Known
	}
}

func whyFromDue(why string, of func(*traces.Record) duration) func(*traces.Record) string {
	return func(r *traces.Record) string {
		if !of(r).Known {
			return why
		}
		return "no due or sent"
	}
}

func lag(r *traces.Record) duration {
	o := &r.Outcome
	if !o.Due.Known || !o.Sent.Known {
		return duration{}
	}
	return traces.Some(o.Sent.V - o.Due.V)
}

func firstToken(r *traces.Record) duration { return r.Outcome.FirstToken }

func answered(r *traces.Record) duration {
	if r.Outcome.LastToken.Known {
		return r.Outcome.LastToken
	}
	return r.Outcome.End
}

// replayed tells a row of a run from one of a log: only a replay has a schedule.
func replayed(r *traces.Record) bool { return r.Outcome.Due.Known }

func promptSeen(r *traces.Record) tokens {
	if r.Outcome.PromptTokensSeen.Known || replayed(r) {
		return r.Outcome.PromptTokensSeen
	}
	return r.PromptTokens
}

func outputSeen(r *traces.Record) tokens {
	if r.Outcome.OutputTokensSeen.Known || replayed(r) {
		return r.Outcome.OutputTokensSeen
	}
	return r.OutputTokens
}

func tpot(r *traces.Record) (float64, bool) {
	if whyTPOT(r) != "" {
		return 0, false
	}
	o := &r.Outcome
	return millis(o.LastToken.V-o.FirstToken.V) / float64(tokensSent(r)-1), true
}

// tokensSent is the output tokens less the one by which a model ends its answer:
// servers count it in usage, but no event brings it and so no time is known for it.
func tokensSent(r *traces.Record) int32 {
	n, o := outputSeen(r).V, &r.Outcome
	if o.FinishReason.V == "stop" && o.Events.Known && n == o.Events.V+1 {
		n--
	}
	return n
}

// whyTPOT is "" where TPOT is defined.
func whyTPOT(r *traces.Record) string {
	o, n := &r.Outcome, outputSeen(r)
	switch {
	case !n.Known:
		return "output tokens not counted"
	case !o.FirstToken.Known || !o.LastToken.Known:
		return "no first or last token"
	case tokensSent(r) < 2:
		return "fewer than two tokens"
	case o.Events.Known && o.Events.V < 2, !o.Events.Known && o.FirstToken == o.LastToken:
		return "all tokens in one event"
	}
	return ""
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
