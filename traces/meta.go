package traces

import "time"

// Meta is what a trace says of itself, beside its rows.
type Meta struct {
	Kind        Kind       `json:"kind"`
	T0          *time.Time `json:"t0,omitempty"`        // wall clock of Arrival 0; nil: times are relative
	TimeZone    string     `json:"time_zone,omitempty"` // how naive times of the source were read
	Vantage     string     `json:"latency_vantage,omitempty"`
	BlockTokens int32      `json:"block_tokens,omitempty"` // tokens a block of Record.Blocks; 0: unknown
	BlockScope  string     `json:"block_scope,omitempty"`  // global or session
	Tokenizer   string     `json:"tokenizer,omitempty"`
	Command     []string   `json:"command,omitempty"` // command line, secrets removed
	Tool        string     `json:"tool,omitempty"`    // name and version
	GoVersion   string     `json:"go_version,omitempty"`
	Seed        *uint64    `json:"seed,omitempty"`
	Target      *Target    `json:"target,omitempty"`
	Sources     []Source   `json:"sources,omitempty"`
	Edits       []string   `json:"edits,omitempty"` // every edit or cure that was applied, in order
	Notes       []string   `json:"notes,omitempty"` // what a reader of the figures must know
	Partial     bool       `json:"partial,omitempty"`
}

// Kind tells what was observed: a trace (production, or a synthesis) or a run
// (what a replay saw).
type Kind string

// The kinds of a trace file.
const (
	KindTrace Kind = "trace"
	KindRun   Kind = "run"
)

// Target says what a run was played against and how.
type Target struct {
	URL     string            `json:"url"` // without user info and query
	API     string            `json:"api,omitempty"`
	Model   string            `json:"model,omitempty"`
	Salt    string            `json:"salt,omitempty"` // of the prompts; equal salts give equal prompts
	Options map[string]string `json:"options,omitempty"`
}

// Source is one input of a trace, with its accounting:
// Read = Emitted + Merged + the sum of Rejected.
type Source struct {
	Name         string           `json:"name"`
	SHA256       string           `json:"sha256,omitempty"`
	Bytes        int64            `json:"bytes,omitempty"` // as stored, before decompression
	Licence      string           `json:"licence,omitempty"`
	Attribution  string           `json:"attribution,omitempty"`
	Format       string           `json:"format,omitempty"`
	Grammar      string           `json:"grammar,omitempty"`        // of its times
	TimeUnit     string           `json:"timestamp_unit,omitempty"` // s, ms, us, ns; empty where the grammar says it
	Resolution   time.Duration    `json:"resolution_ns,omitempty"`
	Stamps       string           `json:"timestamp_meaning,omitempty"` // start or end
	SamplingRate float64          `json:"sampling_rate,omitempty"`
	Read         int64            `json:"rows_read"`
	Emitted      int64            `json:"rows_emitted"`
	Merged       int64            `json:"rows_merged,omitempty"`
	Rejected     map[string]int64 `json:"rows_rejected,omitempty"` // by reason
	Warnings     []string         `json:"warnings,omitempty"`
}

// RejectedRows returns the number of rows rejected for any reason.
func (s *Source) RejectedRows() int64 {
	var n int64
	for _, c := range s.Rejected {
		n += c
	}
	return n
}
