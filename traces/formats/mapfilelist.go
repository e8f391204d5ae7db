package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"wavetank/traces"
)

// list opens a log that is one document.
func (m *logMap) list(in *input) (document, error) {
	r, err := m.rows(in)
	if err != nil {
		return document{}, err
	}
	return document{parse: r.whole}, nil
}

// overLines tells whether the log is a JSON list, or objects of many lines each.
func overLines(head []byte) bool {
	return firstByte(head) == '[' || string(bytes.TrimSpace(firstLine(head))) == "{"
}

func firstByte(b []byte) byte {
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) == 0 {
		return 0
	}
	return b[0]
}

// whole takes the rows of a list, or objects one after the other. A log that ends
// early has a last row that is cut; what is no JSON ends the reading.
func (r *mapRows) whole(doc []byte, out *outlet) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	in := r.row.in
	list := firstByte(doc) == '['
	if list {
		if _, err := d.Token(); err != nil {
			return in.errorAt("", err)
		}
	}
	end := int64(0)
	for n := uint64(1); d.More(); n++ {
		var row json.RawMessage
		if err := d.Decode(&row); errors.Is(err, io.ErrUnexpectedEOF) {
			return out.reject(doc[end:], rejectf(HalfLine, "the log ends within a row"))
		} else if err != nil {
			return in.errorAt("", fmt.Errorf("after row %d: %w", n-1, err))
		}
		start := d.InputOffset() - int64(len(row))
		in.lines.start += int64(bytes.Count(doc[end:start], []byte("\n")))
		if err := r.item(row, n, out); err != nil {
			return err
		}
		in.lines.start += int64(bytes.Count(doc[start:d.InputOffset()], []byte("\n")))
		end = d.InputOffset()
	}
	return r.tail(d, list)
}

// tail checks what follows the last row.
func (r *mapRows) tail(d *json.Decoder, list bool) error {
	in := r.row.in
	if list {
		if _, err := d.Token(); err != nil {
			in.warn("the list is not closed: the log may be cut short")
			return nil
		}
	}
	if _, err := d.Token(); err != io.EOF {
		return in.errorAt("", errors.New("more after the last row: join several lists into one, for instance with jq -s add"))
	}
	return nil
}

// item takes the nth row of a list.
func (r *mapRows) item(row []byte, n uint64, out *outlet) error {
	rec := traces.Record{Request: traces.Request{SourceRow: traces.Some(n)}}
	err := r.parse(row, &rec)
	var bad *rowError
	switch {
	case err == nil:
		out.emit(rec)
	case !errors.As(err, &bad):
		return err
	case bad.reason == NotARequest:
		out.skip(1)
	default:
		return out.reject(row, bad)
	}
	return nil
}
