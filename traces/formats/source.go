package formats

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"path/filepath"
	"slices"
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
	close  func() error
	opts   *Options
	format *Format
	in     *input
	parse  parser

	document document // in place of parse
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

// An input is what a format reads and what it says of the log as a whole.
type input struct {
	name     string
	lines    lines
	clock    clock
	meta     traces.Meta   // BlockTokens and the like
	source   traces.Source // Stamps and the like
	absolute bool          // stamps count from the Unix epoch
	warnings map[string]int64
	finish   func() error // what is left to check after the last row; may be nil
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
	if err := refuse(head); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if s.format, err = choose(head, s.opts); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.rejected = make(map[string]int64)
	s.grid = int64(time.Second)
	s.in = &input{
		name:     s.name,
		lines:    lines{r: r, max: s.opts.MaxLine},
		clock:    clock{zone: s.opts.TimeZone},
		warnings: make(map[string]int64),
	}
	if s.format.document != nil {
		s.in.lines.whole = s.format.whole
		s.document, err = s.format.document(s.in, s.opts)
		return err
	}
	s.parse, err = s.format.open(s.in, s.opts)
	return err
}

// Read yields the next row that the format takes. Others are counted and given to
// Options.OnReject. After the last row it returns io.EOF, or an error if every
// row was rejected or the accounting does not balance.
func (s *Source) Read(rec *traces.Record) error {
	for s.err == nil {
		if s.pop(rec) {
			return nil
		}
		row, err := s.in.lines.next()
		if err == io.EOF {
			if s.err = s.flush(); s.err == nil && len(s.queue) == 0 {
				s.err = s.end()
			}
			continue
		}
		if s.document.parse != nil && (err == nil || isRowError(err)) {
			s.err = s.parseDocument(row, err)
			continue
		}
		if err == nil {
			*rec = traces.Record{}
			rec.Outcome.Status = traces.Unknown
			err = s.parse(row, rec)
		} else if !isRowError(err) {
			s.err = fmt.Errorf("%s:%d: %w", s.name, s.in.lines.n+1, err)
			break
		}
		s.read++
		if err == nil {
			s.place(rec)
			return nil
		}
		s.err = s.reject(row, err)
	}
	return s.err
}

// place gives an accepted record its place in the trace.
func (s *Source) place(rec *traces.Record) {
	stamp := int64(rec.Arrival)
	if s.emitted == 0 {
		s.base = stamp
	}
	for stamp%s.grid != 0 {
		s.grid /= 10
	}
	rec.Arrival = time.Duration(stamp - s.base)
	s.earliest = min(s.earliest, rec.Arrival)
	rec.Seq = uint64(s.emitted)
	if !rec.SourceRow.Known {
		rec.SourceRow = traces.Some(uint64(s.in.lines.start))
	}
	if s.opts.App != "" {
		rec.App = traces.Some(s.opts.App)
	}
	s.emitted++
}

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
	syntax := &SyntaxError{File: s.name, Line: s.in.lines.start, Field: bad.field, Err: bad.err}
	if s.firstReject == nil {
		s.firstReject = syntax
	}
	if s.opts.OnReject != nil {
		const limit = 4 << 10
		s.opts.OnReject(Reject{Line: syntax.Line, Reason: reason, Text: string(row[:min(len(row), limit)]), Err: syntax})
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

// Close frees what Open and OpenFile opened. It does not close the reader that
// was given to Open.
func (s *Source) Close() error { return s.close() }

// Meta returns what is known of the log as a trace, with one entry in Sources. It
// is whole once Read has returned io.EOF; SHA256 and licence are unknown before
// that. T0 is the wall clock of the first row emitted, or nil if the log's times
// are relative. The source's name is without its folders, which are nobody else's
// business. The resolution is the coarsest of 1 s, 100 ms, 10 ms, ... 1 ns on
// which every stamp falls, whatever number of digits is printed.
func (s *Source) Meta() traces.Meta {
	m := s.in.meta
	m.Kind = traces.KindTrace
	if s.in.absolute && s.emitted > 0 {
		t0 := time.Unix(0, s.base).UTC()
		m.T0 = &t0
	}
	if s.in.clock.sawNaive() {
		m.TimeZone = s.opts.TimeZone.String()
	}
	m.Sources = []traces.Source{s.account()}
	return m
}

func (s *Source) account() traces.Source {
	src := s.in.source
	src.Name, src.Format = filepath.Base(s.name), s.format.Name
	if g := s.in.clock.grammar(); g != "" {
		src.Grammar = g
	}
	src.Read, src.Emitted, src.Merged, src.Rejected = s.read, s.emitted, s.merged, maps.Clone(s.rejected)
	src.Bytes = s.stored.n
	if s.emitted > 0 {
		src.Resolution = time.Duration(s.grid)
	}
	if errors.Is(s.err, io.EOF) {
		src.SHA256 = s.stored.sum()
		w := known[s.plain.sum()]
		src.Licence, src.Attribution = w.licence, w.attribution
	}
	for _, kind := range slices.Sorted(maps.Keys(s.in.warnings)) {
		src.Warnings = append(src.Warnings, fmt.Sprintf("%d rows: %s", s.in.warnings[kind], kind))
	}
	if s.read == 0 && s.err != nil {
		src.Warnings = append(src.Warnings, "the log has no rows")
	}
	return src
}

// A digest counts and hashes what is read through it.
type digest struct {
	r    io.Reader
	hash hash.Hash
	n    int64
}

func newDigest(r io.Reader) *digest { return &digest{r: r, hash: sha256.New()} }

func (d *digest) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.hash.Write(p[:n])
	d.n += int64(n)
	return n, err
}

func (d *digest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// joinClose closes what an error leaves behind, and reports it if that fails too.
func joinClose(err error, close func() error) error { return errors.Join(err, close()) }
