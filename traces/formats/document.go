package formats

import (
	"errors"

	"wavetank/traces"
)

// A document takes a log apart of which a line, or the file, is no one request.
// Every row of the log, whatever the format takes for one, ends in exactly one of
// the outlet's methods.
type document struct {
	// parse takes the next document: a line, or the whole file. A *rowError rejects
	// all of it as one row, any other error ends the file.
	parse func(doc []byte, out *outlet) error

	// finish, which may be nil, emits what was held back until all was seen.
	finish func(out *outlet) error
}

// An outlet takes the rows of documents.
type outlet struct{ s *Source }

// emit gives a row that became a Record. As with a parser, Arrival is the row's
// own stamp.
func (o *outlet) emit(rec traces.Record) {
	o.s.read++
	if !rec.SourceRow.Known {
		rec.SourceRow = traces.Some(uint64(o.s.in.lines.start))
	}
	o.s.queue = append(o.s.queue, rec)
}

// seq returns the Seq that the next Record emitted will get, for edges to it.
func (o *outlet) seq() uint64 { return uint64(o.s.emitted) + uint64(len(o.s.queue)) }

// merge counts rows that went into the Record of another.
func (o *outlet) merge(rows int64) {
	o.s.read += rows
	o.s.merged += rows
}

// skip counts rows that are of something else than a request.
func (o *outlet) skip(rows int64) {
	o.s.read += rows
	o.s.rejected[NotARequest] += rows
}

// reject leaves out a row, whose text is shown to Options.OnReject.
func (o *outlet) reject(text []byte, err error) error {
	o.s.read++
	return o.s.reject(text, err)
}

// pop hands over the next Record of the documents read so far.
func (s *Source) pop(rec *traces.Record) bool {
	if len(s.queue) == 0 {
		return false
	}
	*rec = s.queue[0]
	s.queue[0] = traces.Record{}
	if s.queue = s.queue[1:]; len(s.queue) == 0 {
		s.queue = nil
	}
	if rec.Outcome.Status == "" {
		rec.Outcome.Status = traces.Unknown
	}
	s.place(rec)
	return true
}

func (s *Source) parseDocument(doc []byte, err error) error {
	if err == nil {
		err = s.document.parse(doc, &outlet{s})
	}
	var bad *rowError
	if errors.As(err, &bad) {
		return (&outlet{s}).reject(doc, bad)
	}
	return err
}

// flush has the documents emit what they held back, once.
func (s *Source) flush() error {
	finish := s.document.finish
	s.document.finish = nil
	if finish == nil {
		return nil
	}
	return finish(&outlet{s})
}

// Name returns the name that was given to Open.
func (s *Source) Name() string { return s.name }
