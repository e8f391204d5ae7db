// Package lint says what is in a trace and what is wrong with it.
package lint

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"wavetank/traces"
	"wavetank/traces/reuse"
)

// Inspect reads r once, to its end, and returns what is in it, with every
// Finding of Checks in Facts.Findings. The rows need not be sorted; but LRU hit
// rates are of sorted ones alone. It keeps 8 bytes a row, besides one counter for
// each different token count, app, model and session, and what a reuse.Stack keeps
// of block ids. meta is asked at the first row with blocks, for their scope, and at
// the end, when a log that is read as a trace has accounted for its rows. Errors
// are those of r, with the number of rows read before.
func Inspect(r traces.Reader, meta func() traces.Meta) (*Facts, error) {
	s := newScan(meta)
	for rec, err := range traces.All(r) {
		if err != nil {
			return nil, fmt.Errorf("inspect after %d rows: %w", s.facts.Rows, err)
		}
		s.add(rec)
	}
	s.describe(meta())
	s.finish()
	for _, c := range Checks {
		s.facts.Findings = append(s.facts.Findings, c.find(s)...)
	}
	return s.facts, nil
}

// A scan is a trace under inspection: the facts, and what only the checks need.
type scan struct {
	facts    *Facts
	meta     func() traces.Meta
	arrivals [][]time.Duration // in file order, in chunks: append's copies would double the memory
	gaps     []time.Duration   // between distinct arrivals, in order, after finish
	prompt   counts
	output   counts
	apps     tally
	models   tally
	statuses map[traces.Status]int64
	sessions map[uint64]session // by hash of the name
	seed     maphash.Seed
	falls    int64         // rows that stand before their predecessor
	last     time.Duration // the arrival of the row before
	fall     time.Duration // the deepest fall from one row to the next
	fallRow  int64         // the row after it, from 0
	grid     int

	stack     *reuse.Stack // nil before the first row with blocks
	stackErr  error        // why there is no curve
	sources   sourceRows
	ends      []cut // where the traffic begins or ends with hardly any
	repeats   traces.Repeats
	repeated  repeated
	sentinels [len(sentinelColumns)]sentinel
}

func newScan(meta func() traces.Meta) *scan {
	return &scan{
		facts:  &Facts{Findings: []Finding{}, IDC: []Dispersion{}},
		meta:   meta,
		prompt: newCounts(), output: newCounts(),
		apps: tally{}, models: tally{}, statuses: map[traces.Status]int64{},
		sessions: map[uint64]session{}, seed: maphash.MakeSeed(),
	}
}

func (s *scan) describe(m traces.Meta) {
	f := s.facts
	f.Kind, f.T0, f.Partial, f.Sources, f.Tokenizer, f.Vantage = m.Kind, m.T0, m.Partial, m.Sources, m.Tokenizer, m.Vantage
	f.BlockTokens, f.BlockScope, f.Edits, f.Notes = m.BlockTokens, m.BlockScope, m.Edits, m.Notes
}

func (s *scan) add(rec *traces.Record) {
	s.addArrival(rec.Arrival)
	s.prompt.add(rec.PromptTokens)
	s.output.add(rec.OutputTokens)
	s.apps.add(rec.App)
	s.models.add(rec.Model)
	s.statuses[statusOf(rec)]++
	s.addBlocks(rec)
	s.addRepeat(rec)
	s.addSentinels(rec)
	if rec.SourceRow.Known {
		s.sources.add(rec.SourceRow.V, rec.Arrival)
	}
	f := s.facts
	f.Rows++
	if rec.Stream.Known {
		f.Streams.Known++
	}
	if rec.Stream.V {
		f.Streams.Streamed++
	}
	if rec.Body != nil {
		f.Bodies++
	}
	s.addTurn(rec)
}

// statusOf takes a status that is none of traces.Statuses for unknown, so that
// the statuses always add up to the rows.
func statusOf(rec *traces.Record) traces.Status {
	if slices.Contains(traces.Statuses, rec.Outcome.Status) {
		return rec.Outcome.Status
	}
	return traces.Unknown
}

const chunk = 1 << 16

func (s *scan) addArrival(t time.Duration) {
	if d := s.last - t; d > 0 && s.facts.Rows > 0 {
		s.falls++
		if d > s.fall {
			s.fall, s.fallRow = d, s.facts.Rows
		}
	}
	s.last = t
	for t%grids[s.grid] != 0 {
		s.grid++
	}
	if s.facts.Rows%chunk == 0 {
		s.arrivals = append(s.arrivals, make([]time.Duration, 0, chunk))
	}
	end := &s.arrivals[len(s.arrivals)-1]
	*end = append(*end, t)
}

func (s *scan) addBlocks(rec *traces.Record) {
	if len(rec.Blocks) == 0 {
		return
	}
	b := &s.facts.Blocks
	b.Rows++
	b.Runs += int64(len(rec.Blocks))
	for _, run := range rec.Blocks {
		b.IDs += int64(run.Len)
	}
	if s.stack == nil {
		s.stack = &reuse.Stack{PerSession: s.meta().BlockScope == traces.ScopeSession}
	}
	if s.stackErr == nil {
		_, s.stackErr = s.stack.Touch(rec)
	}
}

// grids are the resolutions that a stamp may have, coarsest first; 1 ns divides all.
var grids = []time.Duration{
	time.Hour, time.Minute, time.Second, 100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond,
	100 * time.Microsecond, 10 * time.Microsecond, time.Microsecond, 100, 10, 1,
}

func (s *scan) finish() {
	f := s.facts
	f.Sorted = s.falls == 0
	at := slices.Concat(s.arrivals...)
	s.arrivals = nil
	slices.Sort(at)
	s.finishTimes(at)
	f.PromptTokens, f.OutputTokens = s.prompt.lengths(), s.output.lengths()
	f.Apps, f.Models = s.apps.list(), s.models.list()
	f.Sessions = sessionsOf(s.sessions)
	f.Reuse = s.reuse()
	f.Statuses = []Count{}
	for _, st := range traces.Statuses {
		if n := s.statuses[st]; n > 0 {
			f.Statuses = append(f.Statuses, Count{string(st), n})
		}
	}
}

// finishTimes turns the sorted arrivals into the gaps between distinct ones, in place.
func (s *scan) finishTimes(at []time.Duration) {
	f := s.facts
	if len(at) == 0 {
		return
	}
	first, last := at[0], at[len(at)-1]
	f.First, f.Span = first, last-first
	if len(at) > 1 {
		f.Resolution = grids[s.grid]
	}
	if f.Span > 0 {
		f.MeanRate = known(float64(len(at)) / f.Span.Seconds())
	}
	f.GapCV = gapCV(at)
	f.IDC = dispersions(at)
	s.ends = cutEnds(at)
	s.gaps = at[:0]
	for i := 1; i < len(at); i++ {
		if d := at[i] - first; d > 0 {
			s.gaps = append(s.gaps, d)
			first = at[i]
		}
	}
	f.DistinctArrivals = int64(len(s.gaps)) + 1
	if len(s.gaps) > 0 {
		f.GapMax = slices.Max(s.gaps)
	}
}

// gapCV is the population standard deviation of the gaps between sorted
// arrivals over their mean; nil below two gaps or where all arrive at once.
func gapCV(at []time.Duration) *float64 {
	n := float64(len(at) - 1)
	if n < 2 || at[0] == at[len(at)-1] {
		return nil
	}
	mean := float64(at[len(at)-1]-at[0]) / n
	var squares float64
	for i := 1; i < len(at); i++ {
		d := float64(at[i]-at[i-1]) - mean
		squares += d * d
	}
	return known(math.Sqrt(squares/n) / mean)
}
