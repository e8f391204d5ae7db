package formats

import (
	"errors"

	"wavetank/traces"
)

// An input is what a format reads and what it says of the log as a whole.
type input struct {
	name     string
	lines    lines
	clock    clock
	meta     traces.Meta   // BlockTokens and the like
	source   traces.Source // Stamps and the like
	absolute bool          // stamps count from the Unix epoch
	bodies   bool          // rows may have a request body that can be kept
	warnings map[string]int64
	finish   func() error // what is left to check after the last row; may be nil
	close    func() error // frees what the format opened; may be nil

	// fork returns another parser that knows what the format's own knows by now, or
	// nil as long as that one must see more first. It is set where rows can be parsed
	// without those before them; what then remains to be done in the order of the log
	// is inOrder's, which may be nil.
	fork    func(*input) parser
	inOrder func(*traces.Record)

	// cells is fork's parser where a row need not become a Record: of the columns that
	// layout names, of which one is arrival_ns. It may be nil.
	cells  func(row []byte, to []traces.Cell) error
	layout []string
}

// warn counts a row that was emitted although something about it is odd.
func (in *input) warn(kind string) { in.warnings[kind]++ }

func (in *input) errorAt(field string, err error) error {
	var row *rowError
	if errors.As(err, &row) {
		err = row.err
	}
	return &SyntaxError{File: in.name, Line: in.lines.start, Field: field, Err: err}
}
