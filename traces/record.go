// Package traces defines the trace, the one thing that every part of wavetank
// reads or writes: a table of requests and, where they are known, their
// outcomes, sorted by arrival; and the edits of it, each a Reader around a Reader.
package traces

import "time"

// Opt is a value that may be unknown. Unknown is not zero: the zero Opt is
// unknown, and a known zero was measured.
type Opt[T any] struct {
	V     T
	Known bool
}

// Some returns a known v.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, Known: true} }

// Or returns the value, or d where it is unknown.
func (o Opt[T]) Or(d T) T {
	if o.Known {
		return o.V
	}
	return d
}

// A Record is one request and, where somebody looked, what came of it. A Record
// may be kept by copying it: no Reader changes what a Record points to.
type Record struct {
	Request
	Outcome Outcome
}

// A Request is what a client asked for and when. Token counts are of the model's
// own tokenizer.
type Request struct {
	Seq       uint64        // the row's identity in the trace; a run keeps the Seq of the trace that it played
	Arrival   time.Duration // since the start of the trace, at the vantage point
	ID        Opt[string]   // the source's own request id
	SourceRow Opt[uint64]   // line or row in the source

	App     Opt[string] // application class: chat, rag, coding-agent, ...
	Tenant  Opt[string]
	User    Opt[string]
	Session Opt[string]        // conversation or agent run
	Turn    Opt[int32]         // position in the session, from 0
	After   []uint64           // Seqs that must have ended before this one leaves; nil is unknown
	Think   Opt[time.Duration] // from the end of the last of After (or of the previous turn) to this one leaving

	Model           Opt[string]
	Endpoint        Opt[string] // chat, completions, responses, messages, embeddings
	PromptTokens    Opt[int32]  // all that the model attends to, cached tokens included
	OutputTokens    Opt[int32]  // all that was generated, reasoning included: what a replay must reproduce
	ReasoningTokens Opt[int32]  // the part of OutputTokens that was reasoning
	MaxTokens       Opt[int32]  // the limit that the client set
	Stream          Opt[bool]
	Params          Opt[string] // the remaining sampling parameters, one JSON object

	Blocks     []BlockRun  // identities of the prompt's leading blocks; nil is unknown
	Media      []Media     // nil is unknown
	Components []Component // nil is unknown

	Cancel       Opt[time.Duration] // since sent: when the client hung up
	CancelTokens Opt[int32]         // after how many tokens the client hung up
	Timeout      Opt[time.Duration] // the client's own limit
	Body         []byte             // the original request body, only if kept on purpose; nil is unknown
	Phase        Opt[string]        // unknown is the main part; prime, preroll, warmup
}

// A BlockRun is the block ids Start, Start+1, ... Start+Len-1. An id stands for
// the whole prefix up to its block.
type BlockRun struct {
	Start uint64
	Len   uint32
}

// Media counts the parts of one kind (image, audio, video) in a prompt.
type Media struct {
	Kind   string
	Count  Opt[int32]
	Tokens Opt[int32]
}

// A Component is a part of a prompt: system, tools, passages, history, user.
type Component struct {
	Kind   string
	Tokens int32
}

// An Outcome is what a client saw of one request. Times are since Sent, except
// that Due and Sent are since the run's start.
type Outcome struct {
	Status       Status
	Error        Opt[string] // class: http_429, connect, stream_error, ...
	HTTPStatus   Opt[int32]
	FinishReason Opt[string] // stop, length, tool_calls, content_filter, ...

	Due         Opt[time.Duration] // in a run: when it should have left
	Sent        Opt[time.Duration] // in a run: when its first byte left
	FirstToken  Opt[time.Duration] // first event with content, reasoning or a tool call (TTFT)
	FirstOutput Opt[time.Duration] // first such event that is not reasoning
	LastToken   Opt[time.Duration] // last token-bearing event
	End         Opt[time.Duration] // end of the response

	Queue   Opt[time.Duration] // as the server told
	Prefill Opt[time.Duration] // as the server told
	Decode  Opt[time.Duration] // as the server told

	PromptTokensSeen Opt[int32] // usage as reported
	CachedTokens     Opt[int32] // usage as reported
	OutputTokensSeen Opt[int32] // counted as TokenBasis says
	TokenBasis       Opt[string]
	Events           Opt[int32]         // token-bearing events
	MaxGap           Opt[time.Duration] // longest pause between two of them
	Gaps             []time.Duration    // every pause between two of them; nil is unknown

	Attempt      Opt[int32]
	RetryOf      Opt[uint64]
	Worker       Opt[string] // shard or server replica
	GatewayCache Opt[bool]   // answered by a gateway's cache: it never reached the engine
}

// Status says how a request ended. Every row has exactly one.
type Status string

// The statuses. Empty is read and written as Unknown.
const (
	Unknown   Status = "unknown"   // nobody looked
	OK        Status = "ok"        // a whole answer came
	Error     Status = "error"     // the server or the way to it failed; Outcome.Error says how
	Timeout   Status = "timeout"   // the client's limit passed
	Cancelled Status = "cancelled" // the client hung up
	Rejected  Status = "rejected"  // the server refused for load (429, 503 with Retry-After)
	Truncated Status = "truncated" // a 200 whose stream ended without a finish
	Empty     Status = "empty"     // a finished answer without a token
	Dropped   Status = "dropped"   // the generator could not send it
	Skipped   Status = "skipped"   // never sent: what it waits for failed, or the run was stopped
)

// Statuses lists every Status in the order of reports.
var Statuses = []Status{OK, Error, Timeout, Cancelled, Rejected, Truncated, Empty, Dropped, Skipped, Unknown}

// The bases on which output tokens are counted (Outcome.TokenBasis).
const (
	BasisUsage       = "usage"        // the usage that ends the answer
	BasisUsageStream = "usage_stream" // usage in every event
	BasisTokenizer   = "tokenizer"
	BasisEvents      = "events" // events counted as tokens
)
