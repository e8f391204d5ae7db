package formats

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"wavetank/traces"
)

// vidurExport writes the traces of the simulators Vidur and Etalon.
var vidurExport = Export{
	Name:    "vidur",
	About:   "Vidur rows: arrived_at in s, num_prefill_tokens, num_decode_tokens (CSV)",
	Columns: []string{"arrival_ns", "prompt_tokens", "output_tokens"},
	Needs:   lengths,
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		return func(rec *traces.Record) error {
			x.line = appendDecimal(x.line[:0], rec.Arrival, time.Second)
			return x.tokens(rec)
		}, x.header("arrived_at", "num_prefill_tokens", "num_decode_tokens")
	},
}

func (x *Exporter) header(names ...string) error {
	x.line = append(x.line[:0], strings.Join(names, ",")...)
	return x.emit()
}

// tokens ends a row with the two lengths.
func (x *Exporter) tokens(rec *traces.Record) error {
	x.comma()
	x.line = strconv.AppendInt(x.line, int64(rec.PromptTokens.V), 10)
	x.comma()
	x.line = strconv.AppendInt(x.line, int64(rec.OutputTokens.V), 10)
	return x.emit()
}

// azureExport writes the grammar of Azure's LLM traces of 2023, whose stamps have
// seven decimals and no zone.
var azureExport = Export{
	Name:    "azure",
	About:   "Azure rows of 2023: TIMESTAMP in UTC to 100 ns, ContextTokens, GeneratedTokens (CSV)",
	Columns: []string{"arrival_ns", "prompt_tokens", "output_tokens"},
	Needs:   lengths,
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		start := x.clock()
		return func(rec *traces.Record) error {
			const tick = 100 * time.Nanosecond
			at := start.Add(rec.Arrival)
			x.rounded("arrival_ns", time.Duration(at.Nanosecond()), tick)
			x.line = at.Round(tick).AppendFormat(x.line[:0], "2006-01-02 15:04:05.0000000")
			return x.tokens(rec)
		}, x.header("TIMESTAMP", "ContextTokens", "GeneratedTokens")
	},
}

// burstgptExport writes version 3 of BurstGPT. An answer without a token is a
// failure there, and nothing else is; an unknown prompt is one of 0 tokens.
var burstgptExport = Export{
	Name:    "burstgpt",
	About:   "BurstGPT rows of version 3: Timestamp in s, sessions, elapsed time, model, tokens, log type (CSV)",
	Columns: []string{"arrival_ns", "app", "session", "turn", "model", "prompt_tokens", "output_tokens", "status", "error", "end_ns"},
	Needs:   []string{"output_tokens"},
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		b := &burstRows{x: x, turns: make(map[string]int32)}
		return b.row, x.header("Timestamp", "Session ID", "Elapsed time", "Model", "Request tokens", "Response tokens", "Total tokens", "Log Type")
	},
}

type burstRows struct {
	x     *Exporter
	turns map[string]int32
}

func (b *burstRows) row(rec *traces.Record) error {
	x := b.x
	x.line = appendDecimal(x.line[:0], rec.Arrival, time.Second)
	x.comma()
	x.line = appendCell(x.line, x.harmless("session", rec.Session.V))
	x.checkTurn(rec, b.turns[rec.Session.V])
	b.turns[rec.Session.V]++
	x.comma()
	if rec.Outcome.End.Known {
		x.line = appendDecimal(x.line, rec.Outcome.End.V, time.Second)
	}
	x.comma()
	x.line = appendCell(x.line, x.harmless("model", rec.Model.V))
	for _, n := range []int64{int64(rec.PromptTokens.V), int64(rec.OutputTokens.V), int64(rec.PromptTokens.V) + int64(rec.OutputTokens.V)} {
		x.comma()
		x.line = strconv.AppendInt(x.line, n, 10)
	}
	x.comma()
	x.line = append(x.line, b.logType(rec)...)
	b.checkEnd(rec)
	return x.emit()
}

func (b *burstRows) logType(rec *traces.Record) string {
	for name, app := range logTypes {
		if rec.App.V == app {
			return name
		}
	}
	if rec.App.Known {
		b.x.lose("app", "no log type for it")
	}
	return ""
}

// checkEnd counts what does not come back: 0 where it was measured, and endings
// that the number of tokens does not tell.
func (b *burstRows) checkEnd(rec *traces.Record) {
	failed, told := rec.OutputTokens.V == 0, rec.Outcome.Status
	if isUnknownStatus(rec) {
		b.x.lose("status", "unknown, and read as ok or, without output, as a failure")
	} else if failed != (told == traces.Error) || !failed && told != traces.OK {
		b.x.lose("status", "read as ok or, without output, as a failure")
	}
	if e := rec.Outcome.Error; e.Known && (!failed || e.V != ErrorFailed) {
		b.x.lose("error", "no place for it")
	}
	if rec.PromptTokens == traces.Some[int32](0) {
		b.x.lose("prompt_tokens", "0 is read as unknown")
	}
	if rec.Outcome.End == traces.Some[time.Duration](0) {
		b.x.lose("end_ns", "0 is read as unknown")
	}
}

// csvExport writes the columns that a csv log can have, by their names.
var csvExport = Export{
	Name:    "csv",
	About:   "every column of a trace that is no list, by its name (CSV); csv reads it back",
	Columns: plainColumns(),
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		names, arrive := x.plain()
		return func(rec *traces.Record) error {
			x.line = arrive(x.line[:0], rec)
			i := 1
			for name, v := range traces.Values(rec) {
				at := slices.Index(names[i:], name)
				if at < 0 {
					continue
				}
				x.line = append(x.line, strings.Repeat(",", at+1)...)
				i += at + 1
				x.cell(name, v)
			}
			x.line = append(x.line, strings.Repeat(",", len(names)-i)...)
			return x.emit()
		}, x.header(names...)
	},
}

// plainColumns returns the columns that a cell can hold, by their names in a trace.
func plainColumns() (names []string) {
	for _, name := range traces.Columns() {
		if c := columnNamed(name); c != nil && c.Kind != Body {
			names = append(names, name)
		}
	}
	return names
}

// plain returns the header of a csv, and what writes its first cell: the arrival,
// as a wall clock if the trace has one.
func (x *Exporter) plain() (names []string, arrive func([]byte, *traces.Record) []byte) {
	rest := slices.DeleteFunc(plainColumns(), func(name string) bool { return name == "arrival_ns" })
	if t0 := x.meta.T0; t0 != nil {
		return append([]string{"arrival"}, rest...), func(b []byte, rec *traces.Record) []byte {
			return t0.UTC().Add(rec.Arrival).AppendFormat(b, time.RFC3339Nano)
		}
	}
	return append([]string{"arrival_ns"}, rest...), func(b []byte, rec *traces.Record) []byte {
		return appendDecimal(b, rec.Arrival, 1)
	}
}

func (x *Exporter) cell(name string, v any) {
	switch v := v.(type) {
	case string:
		x.line = appendCell(x.line, x.harmless(name, v))
	case traces.Status:
		x.line = append(x.line, v...)
	default:
		x.line = appendPlain(x.line, v)
	}
}
