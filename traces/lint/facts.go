package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wavetank/traces"
)

// Facts are what is in a trace. Times are nanoseconds, token counts tokens; a
// figure that the rows do not give is nil (null in JSON), never 0.
type Facts struct {
	Kind             traces.Kind     `json:"kind"`
	Rows             int64           `json:"rows"`
	Statuses         []Count         `json:"statuses"` // in the order of traces.Statuses, those that occur
	T0               *time.Time      `json:"t0,omitempty"`
	First            time.Duration   `json:"first_ns"`          // the earliest arrival
	Span             time.Duration   `json:"span_ns"`           // from the earliest arrival to the latest
	MeanRate         *float64        `json:"mean_rate_per_s"`   // rows over span
	DistinctArrivals int64           `json:"distinct_arrivals"` // different stamps
	Resolution       time.Duration   `json:"resolution_ns"`     // coarsest of 1 ns, 10 ns, ... 1 s, 1 min, 1 h that divides every arrival; 0 below two rows
	GapCV            *float64        `json:"gap_cv"`            // population standard deviation of the gaps between sorted arrivals, ties included, over their mean; 1 for a Poisson process
	GapMax           time.Duration   `json:"gap_max_ns"`        // the longest gap
	IDC              []Dispersion    `json:"idc"`
	Sorted           bool            `json:"sorted"` // rows stand by arrival
	PromptTokens     Lengths         `json:"prompt_tokens"`
	OutputTokens     Lengths         `json:"output_tokens"`
	Apps             []Count         `json:"apps"`   // most rows first; the name "" is of rows without one
	Models           []Count         `json:"models"` // as Apps
	Streams          Streams         `json:"streams"`
	Bodies           int64           `json:"bodies"` // rows with the original request body: users' text
	Sessions         Sessions        `json:"sessions"`
	Blocks           Blocks          `json:"blocks"`
	BlockTokens      int32           `json:"block_tokens,omitempty"` // tokens a block, as the trace says
	BlockScope       string          `json:"block_scope,omitempty"`  // global or session, as the trace says
	Reuse            Reuse           `json:"reuse"`
	Tokenizer        string          `json:"tokenizer,omitempty"`       // that counted the tokens, as the trace says
	Vantage          string          `json:"latency_vantage,omitempty"` // client, gateway or server, as the trace says
	Partial          bool            `json:"partial,omitempty"`         // the trace says that it is unfinished
	Sources          []traces.Source `json:"sources,omitempty"`
	Edits            []string        `json:"edits,omitempty"` // cures and edits, in order, as the trace says
	Notes            []string        `json:"notes,omitempty"` // what a reader of the figures must know, as the trace says
	Findings         []Finding       `json:"findings"`
}

// A Count is how many rows have a name.
type Count struct {
	Name string `json:"name"`
	Rows int64  `json:"rows"`
}

// Lengths describe one column of token counts. Quantiles are Hyndman and Fan's
// type 7 (numpy's and R's default), exact, not rounded. All but N and Unknown
// are nil where no row has a count.
type Lengths struct {
	N       int64    `json:"n"`       // rows with a known count, zeros included
	Unknown int64    `json:"unknown"` // rows without
	Zero    int64    `json:"zero"`    // rows with a known count of 0
	Min     *float64 `json:"min"`
	P50     *float64 `json:"p50"`
	P90     *float64 `json:"p90"`
	P99     *float64 `json:"p99"`
	Max     *float64 `json:"max"`
	Mean    *float64 `json:"mean"`
}

// Streams counts the rows that say whether they asked for a stream.
type Streams struct {
	Known    int64 `json:"known"`
	Streamed int64 `json:"streamed"`
}

// Sessions describe the rows that name a session. Names are told apart by a
// 64-bit hash, which takes two for one less than once in 3e5 traces of ten million sessions.
type Sessions struct {
	N        int64    `json:"n"`
	Rows     int64    `json:"rows"`      // rows that name one
	TurnsP50 *float64 `json:"turns_p50"` // rows a session, quantiles as of Lengths
	TurnsP90 *float64 `json:"turns_p90"`
	TurnsMax *float64 `json:"turns_max"`
}

// Blocks counts the block ids of the prompts.
type Blocks struct {
	Rows int64 `json:"rows"` // rows with any
	IDs  int64 `json:"ids"`  // all, repeated ones included
	Runs int64 `json:"runs"` // runs of consecutive ids, as stored
}

// Has tells whether the Check of that name found anything. An unknown name is an
// error that lists those of Checks.
func (f *Facts) Has(check string) (bool, error) {
	var names []string
	for _, c := range Checks {
		names = append(names, c.Name)
	}
	if !slices.Contains(names, check) {
		return false, fmt.Errorf("there is no check %q; there are %s", check, strings.Join(names, ", "))
	}
	return slices.ContainsFunc(f.Findings, func(x Finding) bool { return x.Check == check }), nil
}

func known(v float64) *float64 { return &v }
