package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"wavetank/traces"
)

// A Source reads one log as a trace: it is a traces.Reader.
//
// Rows come in the order of the log. Arrival counts from the first row that was
// emitted, so that in a log that is not sorted it can be negative: Earliest says
// by how much, and whoever sorts moves Arrival and T0 by that.
type Source struct {
	name   string
	stored *digest // the log as it is stored
	plain  *digest // the log decompressed

	plainClose func() error // of the decompressor
	close      func() error // of the file
	opts       *Options
	format     *Format
	in         *input
	own        *worker // parses in the order of the log

	cutter   *cutter
	pipeline *pipeline // once there is more than one block
	block    *block    // that is being handed out
	next     int       // row of it
	before   int64     // lines before it

	document document // in place of a parser
	queue    []traces.Record

	read, emitted int64
	merged        int64
	rejected      map[string]int64
	firstReject   *SyntaxError
	base          int64 // stamp of the first row
	earliest      time.Duration
	grid          int64 // coarsest decimal grid that all stamps share, in ns
	err           error // that ended the reading; io.EOF: all is well
}

func (s *Source) open(r *bufio.Reader) error {
	head, err := r.Peek(headBytes)
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		head = head[len(byteOrderMark):]
		if _, err := r.Discard(len(byteOrderMark)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	s.format, err = choose(head, s.opts)
	if s.format = s.format.shaped(head); s.format == nil || !s.format.whole {
		if no := refuse(head); no != nil {
			err = no
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.rejected = make(map[string]int64)
	s.grid = coarsest
	s.cutter = &cutter{r: r, size: s.opts.blockBytes, max: s.opts.MaxLine}
	s.in = &input{
		name:     s.name,
		lines:    lines{r: r, blocks: s.cutter, max: s.opts.MaxLine},
		clock:    clock{zone: s.opts.TimeZone},
		warnings: make(map[string]int64),
	}
	if s.format.document != nil {
		s.in.lines.whole = s.format.whole
		s.document, err = s.format.document(s.in, s.opts)
		s.cutter.max = s.in.lines.max // which a format of long lines raises
		return err
	}
	parse, err := s.format.open(s.in, s.opts)
	if err != nil {
		return err
	}
	// What was read along with the header is the first block.
	s.own = newWorker(s.in, parse, s.opts.App)
	s.block, s.before = newBlock(), s.in.lines.n
	s.block.text, s.in.lines.blocks = s.in.lines.rest, nil
	s.own.fill(s.block)
	return nil
}

// Read yields the next row that the format takes. Others are counted and given to
// Options.OnReject. After the last row it returns io.EOF, or an error if every
// row was rejected or the accounting does not balance.
func (s *Source) Read(rec *traces.Record) error {
	if s.document.parse == nil {
		lent, err := s.Lend()
		if err == nil {
			*rec = *lent
		}
		return err
	}
	for s.err == nil {
		if s.pop(rec) {
			return nil
		}
		s.err = s.readDocument()
	}
	return s.err
}

// Lend is Read without a copy: the Record is valid until the next call. It returns nil
// where a row must be had by Read.
func (s *Source) Lend() (*traces.Record, error) {
	if s.document.parse != nil {
		return nil, nil
	}
	for s.err == nil {
		if s.next == len(s.block.rows) {
			s.err = s.nextBlock(false)
		} else if rec := s.take(); rec != nil {
			return rec, nil
		}
	}
	return nil, s.err
}

// take places and returns the next row of the block, or rejects it.
func (s *Source) take() *traces.Record {
	p := &s.block.rows[s.next]
	s.next++
	s.read++
	s.in.lines.start, s.in.lines.cut = s.before+p.line, p.cut
	if p.err != nil {
		s.err = s.reject(p.text, p.err)
		return nil
	}
	s.place(&p.rec)
	return &p.rec
}

// nextBlock gets more rows, by columns or not. The first block shows whether it takes
// all cores.
func (s *Source) nextBlock(columns bool) (err error) {
	if s.pipeline == nil && s.opts.workers > 1 && s.cutter.err == nil && s.in.fork != nil && s.in.fork(s.in) != nil {
		if columns {
			s.cutter.size *= batchBlocks
		}
		s.pipeline = newPipeline(s, s.opts.workers, columns)
	}
	s.next, s.before = 0, s.in.lines.n
	if s.pipeline != nil {
		s.block, err = s.pipeline.next(s.own, s.block, columns)
	} else if s.block.text, err = s.cutter.next(s.block.text); err == nil {
		s.block.wanted = columns
		s.own.fill(s.block)
	}
	if err == nil {
		return nil
	}
	s.block = new(block)
	return s.ended(err)
}

// ended is what follows on the last row.
func (s *Source) ended(err error) error {
	if err == io.EOF {
		return s.end()
	}
	return fmt.Errorf("%s:%d: %w", s.name, s.in.lines.n+1, err)
}

// readDocument has the next document parsed into the queue.
func (s *Source) readDocument() error {
	doc, err := s.in.lines.next()
	if err == nil || isRowError(err) {
		return s.parseDocument(doc, err)
	}
	if err == io.EOF {
		if err := s.flush(); err != nil || len(s.queue) > 0 {
			return err
		}
	}
	return s.ended(err)
}

// place gives an accepted record its place in the trace.
func (s *Source) place(rec *traces.Record) {
	stamp := int64(rec.Arrival)
	if s.emitted == 0 {
		s.base = stamp
	}
	s.grid = gridOf(stamp, s.grid)
	rec.Arrival = time.Duration(stamp - s.base)
	s.earliest = min(s.earliest, rec.Arrival)
	rec.Seq = uint64(s.emitted)
	if !rec.SourceRow.Known {
		rec.SourceRow = traces.Some(uint64(s.in.lines.start))
	}
	if s.in.inOrder != nil {
		s.in.inOrder(rec)
	}
	if s.opts.App != "" {
		rec.App = traces.Some(s.opts.App)
	}
	s.emitted++
}

const rejectBytes = 4 << 10 // shown of a row that is rejected

// reject counts a row that is left out; an error that is not about the row is
// handed back.
func (s *Source) reject(row []byte, err error) error {
	bad, ok := err.(*rowError)
	if !ok {
		return err
	}
	reason := bad.reason
	if s.in.lines.cut && cutLooksLike[reason] {
		reason = HalfLine
	}
	s.rejected[reason]++
	if reason == NotARequest {
		return nil // no fault, and so nobody is told
	}
	syntax := &SyntaxError{File: s.name, Line: s.in.lines.start, Field: bad.field, Err: bad.err}
	if s.firstReject == nil {
		s.firstReject = syntax
	}
	if s.opts.OnReject != nil {
		s.opts.OnReject(Reject{Line: syntax.Line, Reason: reason, Text: string(row[:min(len(row), rejectBytes)]), Err: syntax})
	}
	return nil
}

// end checks what can only be checked once all has been read.
func (s *Source) end() error {
	// A decompressor may stop before the end of what is stored.
	if _, err := io.Copy(io.Discard, s.stored); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if s.emitted == 0 && s.firstReject != nil {
		first := *s.firstReject
		first.Err = fmt.Errorf("%w (all %d rows of the log were rejected; this is the first)", first.Err, s.read)
		return &first
	}
	if s.in.finish != nil {
		if err := s.in.finish(); err != nil {
			return err
		}
	}
	if account := s.account(); account.Read != account.Emitted+account.Merged+account.RejectedRows() {
		return fmt.Errorf("%s: the accounting does not balance: read %d, emitted %d, merged %d, rejected %d",
			s.name, account.Read, account.Emitted, account.Merged, account.RejectedRows())
	}
	return io.EOF
}

// Earliest returns the least Arrival so far: 0, or less than 0 if a row is older
// than the first.
func (s *Source) Earliest() time.Duration { return s.earliest }

// Origin returns the stamp of Arrival 0 on the log's own clock: since the Unix
// epoch where Meta has a T0, and else since whatever the log counts from. The
// shards of one log count on from shard to shard, so that the difference of their
// origins is by how much the one is later. It is known once a row was read.
func (s *Source) Origin() time.Duration { return time.Duration(s.base) }

// Stored returns how many bytes of the log, as it is stored, have been read so
// far. It may be called while another goroutine reads.
func (s *Source) Stored() int64 { return s.stored.n.Load() }

// Close frees what Open and OpenFile opened. It does not close the reader that
// was given to Open, and does not wait for it.
func (s *Source) Close() error {
	if s.err == nil {
		s.err = fmt.Errorf("%s: %w", s.name, fs.ErrClosed)
	}
	var err error
	if s.in != nil && s.in.close != nil {
		err = s.in.close()
	}
	if s.pipeline == nil {
		return errors.Join(err, s.plainClose(), s.close())
	}
	s.pipeline.close()
	return errors.Join(err, s.close())
}

// joinClose closes what an error leaves behind, and reports it if that fails too.
func joinClose(err error, close func() error) error { return errors.Join(err, close()) }
