package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"wavetank/traces"
)

// maxExportIDs bounds the ids of one row, which a trace holds as runs of up to 2^32.
const maxExportIDs = 1 << 24

// spellIDs writes out runs of block ids as a JSON list.
func spellIDs(b []byte, runs []traces.BlockRun) ([]byte, error) {
	n := 0
	b = append(b, '[')
	for _, run := range runs {
		if n += int(run.Len); n > maxExportIDs {
			return nil, fmt.Errorf("its blocks are over the limit of %d ids", maxExportIDs)
		}
		for i := range uint64(run.Len) {
			b = append(strconv.AppendUint(b, run.Start+i, 10), ',')
		}
	}
	return append(bytes.TrimSuffix(b, []byte(",")), ']'), nil
}

// appendDecimal writes a time as a decimal number of units, to the nanosecond.
func appendDecimal(b []byte, d, unit time.Duration) []byte {
	u := uint64(d)
	if d < 0 {
		b, u = append(b, '-'), -u
	}
	b = strconv.AppendUint(b, u/uint64(unit), 10)
	rest := u % uint64(unit)
	if rest == 0 {
		return b
	}
	digits := strconv.FormatUint(uint64(unit)+rest, 10)[1:] // with the zeros in front
	return append(append(b, '.'), strings.TrimRight(digits, "0")...)
}

// appendText writes a JSON string.
func appendText(b []byte, s string) []byte {
	js, _ := json.Marshal(s) // of a string it cannot fail
	return append(b, js...)
}

// key begins a member of the JSON object in x.line.
func (x *Exporter) key(name string) {
	if len(x.line) > 0 && x.line[len(x.line)-1] != '{' {
		x.line = append(x.line, ',')
	}
	x.line = append(append(append(x.line, '"'), name...), `":`...)
}

func (x *Exporter) number(name string, v int64) {
	x.key(name)
	x.line = strconv.AppendInt(x.line, v, 10)
}

func (x *Exporter) decimal(name string, d, unit time.Duration) {
	x.key(name)
	x.line = appendDecimal(x.line, d, unit)
}

func (x *Exporter) text(name, v string) {
	x.key(name)
	x.line = appendText(x.line, v)
}

// Members of what may be unknown: then there is none.

func (x *Exporter) maybeNumber(name string, v traces.Opt[int32]) {
	if v.Known {
		x.number(name, int64(v.V))
	}
}

func (x *Exporter) maybeDecimal(name string, v traces.Opt[time.Duration], unit time.Duration) {
	if v.Known {
		x.decimal(name, v.V, unit)
	}
}

func (x *Exporter) maybeText(name string, v traces.Opt[string]) {
	if v.Known {
		x.text(name, v.V)
	}
}

func (x *Exporter) maybeIDs(name string, runs []traces.BlockRun) (err error) {
	if runs == nil {
		return nil
	}
	x.key(name)
	x.line, err = spellIDs(x.line, runs)
	return err
}

// comma ends a CSV cell, if there is one.
func (x *Exporter) comma() {
	if len(x.line) > 0 {
		x.line = append(x.line, ',')
	}
}

// harmless is a text as a cell that no spreadsheet runs as a formula, nor takes a
// control character from.
func (x *Exporter) harmless(column, s string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if len(plain) != len(s) {
		x.lose(column, "without its control characters")
	}
	if plain != "" && strings.ContainsRune("=+-@\t\r", rune(plain[0])) {
		x.lose(column, "with a ' before what a spreadsheet would run")
		return "'" + plain
	}
	return plain
}

// appendCell quotes what has to be (RFC 4180).
func appendCell(b []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\r\n") {
		return append(b, s...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"')
}
