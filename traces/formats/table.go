package formats

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// A table is a CSV file by the names in its header: releases of one data set
// insert and reorder columns, and a reader by position then reads garbage.
type table struct {
	header []string
	lines  *lines   // that the rows are of
	fields [][]byte // of the last row
	text   []byte   // unquoted fields
}

// readTable takes the header from in.
func readTable(in *input) (*table, error) {
	in.lines.quotes = true
	line, err := in.lines.next()
	if err == io.EOF {
		return nil, in.errorAt("", errNoHeader)
	}
	if err != nil {
		return nil, in.errorAt("", err)
	}
	t := &table{lines: &in.lines}
	if t.header, err = splitHeader(t, line); err != nil {
		return nil, in.errorAt("", err)
	}
	return t, nil
}

func splitHeader(t *table, line []byte) (header []string, err error) {
	if err := t.cut(line); err != nil {
		return nil, err
	}
	for _, f := range t.fields {
		header = append(header, strings.TrimSpace(string(f)))
	}
	return header, nil
}

// columns returns where the named columns stand; each must be there, and once.
func (t *table) columns(in *input, names ...string) ([]int, error) {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = t.find(name)
		if at[i] < 0 {
			return nil, in.errorAt(name, fmt.Errorf("the header lacks this column; it has %s", quoteList(t.header)))
		}
		for j := at[i] + 1; j < len(t.header); j++ {
			if t.header[j] == name {
				return nil, in.errorAt(name, fmt.Errorf("the header has this column twice"))
			}
		}
	}
	return at, nil
}

// find returns where the named column stands, or -1.
func (t *table) find(name string) int {
	for i, h := range t.header {
		if h == name {
			return i
		}
	}
	return -1
}

// fork returns a table of the same header for another goroutine.
func (t *table) fork(in *input) *table { return &table{header: t.header, lines: &in.lines} }

// split cuts a row into one field a column. The fields are valid until the next
// call or the next row.
func (t *table) split(row []byte) ([][]byte, error) {
	if err := t.cut(row); err != nil {
		return nil, err
	}
	switch n := len(t.fields); {
	case n < len(t.header):
		return nil, rejectf(MissingField, "%d fields where the header has %d", n, len(t.header))
	case n > len(t.header):
		return nil, rejectf(BadCSV, "%d fields where the header has %d", n, len(t.header))
	}
	return t.fields, nil
}

// cut takes a row apart into its fields.
func (t *table) cut(row []byte) error {
	if !t.lines.plain && bytes.IndexByte(row, '"') >= 0 {
		return t.cutQuoted(row)
	}
	fields := t.fields[:0]
	for {
		comma := bytes.IndexByte(row, ',')
		if comma < 0 {
			break
		}
		fields = append(fields, row[:comma])
		row = row[comma+1:]
	}
	t.fields = append(fields, row)
	return nil
}

// cutQuoted is cut for rows with quotes in them. All unquoted text fits into a
// copy of the row, so that fields never move.
func (t *table) cutQuoted(row []byte) error {
	t.fields = t.fields[:0]
	if cap(t.text) < len(row) {
		t.text = make([]byte, 0, 2*len(row))
	}
	t.text = t.text[:0]
	for {
		field, rest, err := t.cutField(row)
		if err != nil {
			return err
		}
		t.fields = append(t.fields, field)
		if len(rest) == 0 {
			return nil
		}
		row = rest[1:]
	}
}

// cutField returns the first field of row, and the rest from its comma on.
func (t *table) cutField(row []byte) (field, rest []byte, err error) {
	if len(row) == 0 || row[0] != '"' {
		i := bytes.IndexByte(row, ',')
		if i < 0 {
			return row, nil, nil
		}
		return row[:i], row[i:], nil
	}
	start := len(t.text)
	for rest = row[1:]; ; {
		i := bytes.IndexByte(rest, '"')
		if i < 0 {
			return nil, nil, rejectf(BadCSV, "a quote is never closed")
		}
		t.text = append(t.text, rest[:i]...)
		rest = rest[i+1:]
		if len(rest) == 0 || rest[0] != '"' {
			break
		}
		t.text = append(t.text, '"')
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0] != ',' {
		return nil, nil, rejectf(BadCSV, "text after a closing quote: %q", clip(rest))
	}
	return t.text[start:], rest, nil
}

// quoteList prints names for an error, and not endlessly.
func quoteList(names []string) string {
	const limit = 40
	var b strings.Builder
	for i, n := range names {
		if i == limit {
			fmt.Fprintf(&b, ", and %d more", len(names)-limit)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", clip(n))
	}
	return b.String()
}
