package openai

import (
	"bytes"
	"errors"
)

// maxEvent bounds one event, so that a server cannot fill the memory with it.
const maxEvent = 16 << 20

var errEventTooLong = errors.New("a server-sent event is longer than 16 MiB")

// events finds the data of server-sent events in a stream that comes in pieces of
// any size, as the WHATWG HTML standard says (section 9.2, "Server-sent events").
// It departs from it in one thing: data that the stream ends with is an event
// even without the blank line, because servers leave that out. The zero value is
// at the beginning of a stream.
type events struct {
	line    []byte // the beginning of a line whose end has not come
	data    []byte // of the event so far, each line of it ended by a line feed
	begun   bool   // the first line is over, and with it the place of a byte order mark
	afterCR bool   // a line feed here belongs to the line end before it
}

// feed takes the next piece and calls emit for each event that it completes. The
// data are emit's only until it returns. An error of emit ends the piece.
func (e *events) feed(piece []byte, emit func(data []byte) error) error {
	for len(piece) > 0 {
		if e.afterCR {
			e.afterCR = false
			if piece[0] == '\n' {
				piece = piece[1:]
				continue
			}
		}
		line, rest, ended := cutLine(piece)
		if len(e.line)+len(e.data)+len(line) > maxEvent {
			return errEventTooLong
		}
		if !ended {
			e.line = append(e.line, line...)
			return nil
		}
		e.afterCR = piece[len(line)] == '\r'
		if len(e.line) > 0 {
			e.line = append(e.line, line...)
			line = e.line
			e.line = e.line[:0]
		}
		piece = rest
		if err := e.endLine(line, emit); err != nil {
			return err
		}
	}
	return nil
}

// end takes the end of the stream.
func (e *events) end(emit func(data []byte) error) error {
	if len(e.line) > 0 {
		if err := e.endLine(e.line, emit); err != nil {
			return err
		}
	}
	return e.endLine(nil, emit)
}

// cutLine returns what comes before the first line feed or carriage return, and
// what comes after it.
func cutLine(b []byte) (line, rest []byte, ended bool) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		end = len(b)
	}
	if cr := bytes.IndexByte(b[:end], '\r'); cr >= 0 {
		end = cr
	}
	if end == len(b) {
		return b, nil, false
	}
	return b[:end], b[end+1:], true
}

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	dataField     = []byte("data")
)

// endLine takes a whole line. Fields other than data, and comments, are nothing
// to us.
func (e *events) endLine(line []byte, emit func(data []byte) error) error {
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if len(line) == 0 {
		if len(e.data) == 0 {
			return nil
		}
		data := e.data[:len(e.data)-1]
		e.data = e.data[:0]
		return emit(data)
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	if !bytes.Equal(field, dataField) {
		return nil
	}
	e.data = append(append(e.data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
	return nil
}
