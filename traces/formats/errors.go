package formats

import (
	"fmt"
	"strings"
)

// A SyntaxError says where a log breaks the grammar of its format.
type SyntaxError struct {
	File  string // as it was given to Open
	Line  int64  // from 1, the header counted; 0: the file as a whole
	Field string // column or key in the words of the file; may be empty
	Err   error
}

// Error prints file:line: field "F": what is wrong.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, ": field %q", e.Field)
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap returns e.Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// A Reject is a row that was left out, and why.
type Reject struct {
	Line   int64  // where the row begins, from 1
	Reason string // one of Reasons
	Text   string // the row, cut after 4 KiB
	Err    error  // a *SyntaxError with the particulars
}

// Why rows are rejected. The set is small so that counts by reason say something.
const (
	BadCSV       = "bad_csv"       // quotes, or more fields than the header has
	BadJSON      = "bad_json"      // not one JSON object
	BadProtobuf  = "bad_protobuf"  // not a message of the protocol
	BadNumber    = "bad_number"    // not a whole number
	BadTime      = "bad_time"      // not a stamp of the format's grammar, or not of this file's kind
	BadValue     = "bad_value"     // a word or type that the column does not know
	HalfLine     = "half_line"     // the last line, cut short
	LongLine     = "long_line"     // over Options.MaxLine
	MissingField = "missing_field" // a field that the format always has
	Negative     = "negative"
	NotARequest  = "not_a_request" // a row of the log that is of something else; it is counted, and no fault
	TooLarge     = "too_large"     // over 100 million tokens, or out of range
)

// Reasons lists every reason for which a row is rejected.
var Reasons = []string{BadCSV, BadJSON, BadProtobuf, BadNumber, BadTime, BadValue, HalfLine, LongLine, MissingField, Negative, NotARequest, TooLarge}

// cutLooksLike holds the reasons for which a line without an end is taken to be
// half written: a process that is killed leaves its last line anywhere.
var cutLooksLike = map[string]bool{BadCSV: true, BadJSON: true, BadNumber: true, BadTime: true, MissingField: true}

// A rowError rejects its row; any other error of a parser ends the file.
type rowError struct {
	reason string
	field  string
	err    error
}

// Error implements error.
func (e *rowError) Error() string { return e.reason + ": " + e.err.Error() }

func isRowError(err error) bool {
	_, ok := err.(*rowError)
	return ok
}

func rejectf(reason, format string, args ...any) *rowError {
	return &rowError{reason: reason, err: fmt.Errorf(format, args...)}
}

// inField names the field of a rowError.
func inField(field string, err error) error {
	if row, ok := err.(*rowError); ok {
		row.field = field
	}
	return err
}

// clip shortens what is quoted in a message.
func clip[T string | []byte](s T) string {
	const limit = 60
	if len(s) <= limit {
		return string(s)
	}
	return string(s[:limit]) + "..."
}
