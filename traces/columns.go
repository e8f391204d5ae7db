package traces

import (
	"iter"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A column ties one field of a Record to one column of the file. The table
// columns is the only place that knows both.
type column struct {
	name  string
	typ   arrow.DataType
	value func(*Record) any
	add   func(*vector, *Record)               // called only for rows that know it
	bind  func(arrow.Array) func(*Record, int) // the setter for the array's rows that are not null
}

// columns is the schema of a trace, version 1, in the order of the file.
var columns = []column{
	required("seq", arrow.PrimitiveTypes.Uint64,
		func(r *Record) any { return r.Seq },
		func(v *vector, r *Record) { v.add64(r.Seq) },
		func(a arrow.Array) func(*Record, int) {
			v := a.(*array.Uint64)
			return func(r *Record, i int) { r.Seq = v.Value(i) }
		}),
	required("arrival_ns", arrow.PrimitiveTypes.Int64,
		func(r *Record) any { return r.Arrival },
		func(v *vector, r *Record) { v.add64(uint64(r.Arrival)) },
		func(a arrow.Array) func(*Record, int) {
			v := a.(*array.Int64)
			return func(r *Record, i int) { r.Arrival = time.Duration(v.Value(i)) }
		}),
	text("id", func(r *Record) *Opt[string] { return &r.ID }),
	scalar("source_row", uint64s, func(r *Record) *Opt[uint64] { return &r.SourceRow }),

	text("app", func(r *Record) *Opt[string] { return &r.App }),
	text("tenant", func(r *Record) *Opt[string] { return &r.Tenant }),
	text("user", func(r *Record) *Opt[string] { return &r.User }),
	text("session", func(r *Record) *Opt[string] { return &r.Session }),
	scalar("turn", int32s, func(r *Record) *Opt[int32] { return &r.Turn }),
	list("after", uint64s, func(r *Record) *[]uint64 { return &r.After }),
	scalar("think_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Think }),

	text("model", func(r *Record) *Opt[string] { return &r.Model }),
	text("endpoint", func(r *Record) *Opt[string] { return &r.Endpoint }),
	scalar("prompt_tokens", int32s, func(r *Record) *Opt[int32] { return &r.PromptTokens }),
	scalar("output_tokens", int32s, func(r *Record) *Opt[int32] { return &r.OutputTokens }),
	scalar("reasoning_tokens", int32s, func(r *Record) *Opt[int32] { return &r.ReasoningTokens }),
	scalar("max_tokens", int32s, func(r *Record) *Opt[int32] { return &r.MaxTokens }),
	scalar("stream", bools, func(r *Record) *Opt[bool] { return &r.Stream }),
	text("params", func(r *Record) *Opt[string] { return &r.Params }),

	list("blocks", blockRuns, func(r *Record) *[]BlockRun { return &r.Blocks }),
	list("media", media, func(r *Record) *[]Media { return &r.Media }),
	list("components", components, func(r *Record) *[]Component { return &r.Components }),

	scalar("cancel_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Cancel }),
	scalar("cancel_tokens", int32s, func(r *Record) *Opt[int32] { return &r.CancelTokens }),
	scalar("timeout_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Timeout }),
	bytesColumn("body", func(r *Record) *[]byte { return &r.Body }),
	text("phase", func(r *Record) *Opt[string] { return &r.Phase }),

	statusColumn,
	text("error", func(r *Record) *Opt[string] { return &r.Outcome.Error }),
	scalar("http_status", int32s, func(r *Record) *Opt[int32] { return &r.Outcome.HTTPStatus }),
	text("finish_reason", func(r *Record) *Opt[string] { return &r.Outcome.FinishReason }),

	scalar("due_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.Due }),
	scalar("sent_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.Sent }),
	scalar("first_token_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.FirstToken }),
	scalar("first_output_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.FirstOutput }),
	scalar("last_token_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.LastToken }),
	scalar("end_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.End }),
	scalar("queue_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.Queue }),
	scalar("prefill_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.Prefill }),
	scalar("decode_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.Decode }),

	scalar("prompt_tokens_seen", int32s, func(r *Record) *Opt[int32] { return &r.Outcome.PromptTokensSeen }),
	scalar("cached_tokens", int32s, func(r *Record) *Opt[int32] { return &r.Outcome.CachedTokens }),
	scalar("output_tokens_seen", int32s, func(r *Record) *Opt[int32] { return &r.Outcome.OutputTokensSeen }),
	text("token_basis", func(r *Record) *Opt[string] { return &r.Outcome.TokenBasis }),
	scalar("events", int32s, func(r *Record) *Opt[int32] { return &r.Outcome.Events }),
	scalar("max_gap_ns", durations, func(r *Record) *Opt[time.Duration] { return &r.Outcome.MaxGap }),
	list("gaps_ns", durations, func(r *Record) *[]time.Duration { return &r.Outcome.Gaps }),

	scalar("attempt", int32s, func(r *Record) *Opt[int32] { return &r.Outcome.Attempt }),
	scalar("retry_of", uint64s, func(r *Record) *Opt[uint64] { return &r.Outcome.RetryOf }),
	text("worker", func(r *Record) *Opt[string] { return &r.Outcome.Worker }),
	scalar("gateway_cache", bools, func(r *Record) *Opt[bool] { return &r.Outcome.GatewayCache }),
}

// Columns returns the names of the columns of a trace file, in its order.
func Columns() []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// Values yields the name and the value of each column that rec knows, in the order
// of Columns. The types are those of a Record's fields, out of their Opt: string,
// bool, int32, uint64, time.Duration, []byte, Status, and slices.
func Values(rec *Record) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i := range knownTo(rec).each() {
			if c := &columns[i]; !yield(c.name, c.value(rec)) {
				return
			}
		}
	}
}

var columnIndex = func() map[string]int {
	m := make(map[string]int, len(columns))
	for i, c := range columns {
		m[c.name] = i
	}
	return m
}()
