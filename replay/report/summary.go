package report

import (
	"wavetank/traces"
)

// A Summary is what came back, ready to be rendered. Times are milliseconds,
// windows seconds; an undefined number is null in JSON, never 0.
type Summary struct {
	Name    string           `json:"name"`
	Kind    traces.Kind      `json:"kind"`
	Target  *traces.Target   `json:"target"`
	Models  map[string]int64 `json:"models"`  // rows by the model that they ask for
	Partial bool             `json:"partial"` // the run says that it is unfinished
	Notes   []string         `json:"notes,omitempty"`
	Verdict Verdict          `json:"verdict"`
	Counts  Counts           `json:"counts"`
	Metrics map[string]Stat  `json:"metrics"`
	Tokens  Tokens           `json:"tokens"`
	Rates   Rates            `json:"rates"`
	Apps    []App            `json:"apps"` // most rows first; empty where there are no two
}

// Counts are numbers of rows.
type Counts struct {
	Offered       int64                   `json:"offered"`  // all rows but those of a phase: the sum of Statuses
	Statuses      map[traces.Status]int64 `json:"statuses"` // every status, those that did not occur too
	Failed        int64                   `json:"failed"`   // error, timeout, rejected, truncated, empty, dropped
	Errors        map[string]int64        `json:"errors"`   // by class, of the rows that have one
	HTTP          map[string]int64        `json:"http"`     // by HTTP status, of the rows that have one
	Finish        map[string]int64        `json:"finish"`   // by finish reason, of the rows that have one
	Phases        map[string]int64        `json:"phases"`   // rows of a phase, which stay out of all figures
	Retries       int64                   `json:"retries"`  // rows that repeat another, counted as offered too
	GatewayCached int64                   `json:"gateway_cached"`
}

// Tokens say how token counts were come by and whether they agree. Their
// distributions are Metrics.
type Tokens struct {
	CachedRows       int64            `json:"cached_rows"`        // ok rows that told cached and prompt tokens
	CachedShare      Num              `json:"cached_share"`       // cached over prompt tokens of these rows; undefined where none told
	WantedRows       int64            `json:"wanted_rows"`        // ok rows that asked for and got a known number of output tokens
	WantedGot        int64            `json:"wanted_got"`         // those that got exactly what they asked for
	Basis            map[string]int64 `json:"basis"`              // ok rows by how output tokens were counted
	MultiTokenEvents int64            `json:"multi_token_events"` // ok rows with fewer events than tokens: there tpot, which takes the first event for one token, is too small
}

// Rates are per second of a window that is stated with them.
type Rates struct {
	Offer    Offer    `json:"offer"`
	Answer   Answer   `json:"answer"`
	InFlight InFlight `json:"in_flight"`
}

// Offer is what was asked, from the first request due to the last one (in a
// production trace: arrived). Rates are sums over that window, so one request
// more than gaps is counted; undefined where all came at once.
type Offer struct {
	Window       Num `json:"window_s"`
	Requests     Num `json:"requests_per_s"`
	PromptTokens Num `json:"prompt_tokens_per_s"`
	OutputTokens Num `json:"output_tokens_per_s"`
}

// Answer is what came back whole, from the first request sent to the last end,
// so the drain is in it; tokens are those seen in ok rows.
type Answer struct {
	Window       Num `json:"window_s"`
	Requests     Num `json:"requests_per_s"`
	PromptTokens Num `json:"prompt_tokens_per_s"`
	OutputTokens Num `json:"output_tokens_per_s"`
}

// InFlight counts the requests between sent and end, whatever their status,
// over the answer's window.
type InFlight struct {
	Rows int64 `json:"rows"` // rows with both times; others are not in the figures
	Mean Num   `json:"mean"`
	Max  int64 `json:"max"`
}

// An App is the part of the rows that one application has.
type App struct {
	Name     string                  `json:"name"` // "" is of rows without one
	Offered  int64                   `json:"offered"`
	Statuses map[traces.Status]int64 `json:"statuses"`
	Metrics  map[string]Stat         `json:"metrics"`
}
