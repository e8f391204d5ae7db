package formats

import (
	"bufio"
	"bytes"
	"io"
)

// lines cuts blocks into rows: lines, or with quotes set, lines joined while a
// quoted CSV field is open. A slice it returns is valid until the next call.
type lines struct {
	r      *bufio.Reader
	blocks *cutter // of r, where more comes from; nil: rest is all
	rest   []byte
	plain  bool                   // no quote is in rest
	max    int                    // bytes a row
	quotes bool                   // a quoted field may span lines
	whole  bool                   // the stream is one row
	pull   func() ([]byte, error) // in place of all that: gives rows that are no text

	n     int64 // lines so far
	start int64 // the line at which the last row began
	cut   bool  // the last row ended with the stream and not with a newline
	block []byte
	long  []byte
	row   []byte
}

// next returns the next row that is not blank, without its line end. A row over
// the limit is skipped to the end of its line and reported as a rowError.
func (l *lines) next() ([]byte, error) {
	if l.pull != nil {
		return l.pull()
	}
	if l.whole {
		return l.all()
	}
	for {
		line, err := l.line()
		l.start = l.n
		if err != nil {
			return line, err
		}
		if l.quotes && !l.plain && bytes.IndexByte(line, '"') >= 0 && openQuote(line, false) {
			return l.join(line)
		}
		if len(line) > 0 && (line[0] > ' ' || len(bytes.TrimSpace(line)) > 0) {
			return line, nil
		}
	}
}

// maxDocument bounds a file that is one document, which is held in memory.
const maxDocument = 256 << 20

// all returns the stream as one row, and io.EOF after it.
func (l *lines) all() ([]byte, error) {
	if l.n > 0 {
		return nil, io.EOF
	}
	l.n, l.start = 1, 1
	doc, err := io.ReadAll(io.LimitReader(l.r, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(doc) > maxDocument {
		return doc[:maxDocument], rejectf(LongLine, "the file is longer than the limit of %d bytes for one document", maxDocument)
	}
	return doc, nil
}

// more gets the next block.
func (l *lines) more() (err error) {
	if l.blocks == nil {
		return io.EOF
	}
	l.blocks.quotes = l.quotes
	l.block, err = l.blocks.next(l.block)
	l.begin(l.block)
	return err
}

// begin makes text what comes next.
func (l *lines) begin(text []byte) {
	l.rest, l.plain = text, bytes.IndexByte(text, '"') < 0
}

// tooMuch is by how many bytes, line end and all, a line may be over the limit
// before it is too long whatever they are.
const tooMuch = 3

// line returns the next line as it stands, blank or not.
func (l *lines) line() ([]byte, error) {
	if len(l.rest) == 0 {
		if err := l.more(); err != nil {
			return nil, err
		}
	}
	line := l.rest
	end := bytes.IndexByte(line, '\n')
	if l.cut = end < 0; l.cut {
		l.rest = nil
	} else {
		line, l.rest = line[:end], line[end+1:]
	}
	l.n++
	raw := len(line)
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	if len(line) > l.max || raw >= l.max+tooMuch {
		return line[:min(l.max, len(line))], l.tooLong()
	}
	return line, nil
}

func (l *lines) tooLong() error {
	return rejectf(LongLine, "the row is longer than the limit of %d bytes (MaxLine)", l.max)
}

// join adds lines to first until its quoted field is closed or the stream ends.
func (l *lines) join(first []byte) ([]byte, error) {
	l.row = append(l.row[:0], first...)
	for {
		line, err := l.line()
		if err == io.EOF {
			l.cut = true
			return l.row, nil
		}
		if err != nil {
			return l.row, err
		}
		l.row = append(append(l.row, '\n'), line...)
		if len(l.row) > l.max {
			return l.row[:l.max], l.tooLong()
		}
		if !openQuote(line, true) {
			return l.row, nil
		}
	}
}

// openQuote tells whether line ends inside a quoted field, given whether it
// begins in one. Only a quote that begins a field opens it (RFC 4180), so that
// a stray one does not swallow the rest of the file.
func openQuote(line []byte, open bool) bool {
	for i := 0; i < len(line); {
		if !open {
			if line[i] == '"' {
				open = true
				i++
				continue
			}
			comma := bytes.IndexByte(line[i:], ',')
			if comma < 0 {
				return false
			}
			i += comma + 1
			continue
		}
		quote := bytes.IndexByte(line[i:], '"')
		if quote < 0 {
			return true
		}
		i += quote + 1
		if i < len(line) && line[i] == '"' {
			i++
			continue
		}
		open = false
	}
	return open
}
