// Package formats reads the logs and public traces of other tools as wavetank
// traces: one file a format, one table.
package formats

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"wavetank/traces"
)

// A Format is one grammar of logs.
type Format struct {
	Name, About string

	// Sniff tells whether a log that begins with head is of this format: nil if
	// so, otherwise why not. A byte order mark is not part of head.
	Sniff func(head []byte) error

	// open reads what stands before the rows and returns the parser of a row.
	open func(in *input, o *Options) (parser, error)

	// document, in place of open, is for logs of which a line holds any number of
	// requests, or a part of one; whole says that the file is one document, so that
	// it is not refused for being binary, or JSON over many lines. A format that has
	// both is opened if its log is lines, and a document otherwise.
	document func(in *input, o *Options) (document, error)
	whole    bool
}

// A parser turns one row into a Record that is zero but for Seq and SourceRow.
// It sets Arrival to the row's own stamp; whoever calls it counts from the first.
// A *rowError rejects the row, any other error ends the file.
type parser func(row []byte, rec *traces.Record) error

// Formats lists every format in the order in which Open tries them.
var Formats = slices.Concat([]Format{azure, burstgpt, mooncake, baseten}, public, gateways, spanFormats, servers, []Format{genericCSV, genericJSONL})

// Options say how to read a log. The zero value finds everything out by itself
// and reads times without a zone as UTC.
type Options struct {
	Format string // name of a Format; empty: by the log's first bytes

	// Map names the fields of a csv or jsonl log, each statement COLUMN=FIELD or, for
	// times, COLUMN=FIELD:UNIT with the unit s, ms, us or ns. COLUMN is one of
	// Columns; FIELD is a name in the CSV header or a dotted path into the JSON
	// object, whose keys may hold dots themselves. ParseMapFile tells what else a
	// statement can say. Empty: the fields that bear the columns' own names, those of
	// times with their unit, as in end_ms. Statements amend a format that is a map
	// itself, such as litellm.
	Map []string

	TimeUnit string         // of arrivals that are numbers, csv and jsonl only: s, ms, us, ns; empty: by their magnitude
	TimeZone *time.Location // of stamps that name none; nil: UTC
	App      string         // application class of every row; empty: as the log says
	MaxLine  int            // longest row in bytes; 0: 8 MiB
	OnReject func(Reject)   // told of every rejected row; nil: they are only counted

	// KeepBodies keeps original request bodies, which are users' text, where the log
	// has them whole; a format that has none is refused with ErrNoBodies.
	KeepBodies bool

	blockBytes int // parsed at a time; 0: 32 KiB
	workers    int // that parse; 0: GOMAXPROCS
}

const (
	defaultMaxLine = 8 << 20
	headBytes      = 64 << 10 // what Sniff gets to see
)

func (o *Options) setDefaults() error {
	if o.MaxLine < 0 {
		return fmt.Errorf("longest row of %d bytes: must not be negative", o.MaxLine)
	}
	if o.MaxLine == 0 {
		o.MaxLine = defaultMaxLine
	}
	if o.blockBytes == 0 {
		o.blockBytes = blockBytes
	}
	if o.workers == 0 {
		o.workers = runtime.GOMAXPROCS(0)
	}
	if o.TimeZone == nil {
		o.TimeZone = time.UTC
	}
	if o.TimeUnit != "" && unitNamed(o.TimeUnit) == 0 {
		return fmt.Errorf("time unit %q: must be s, ms, us or ns", o.TimeUnit)
	}
	return nil
}

// Open reads the log r, which may be compressed with gzip or zstd. Errors call it
// name. A log that no Format takes is an error that says why each of them did not.
func Open(r io.Reader, name string, o Options) (*Source, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	stored := newDigest(r)
	plain, codec, err := traces.Decompress(stored)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &Source{name: name, stored: stored, plain: stored, plainClose: plain.Close, close: func() error { return nil }, opts: &o}
	if codec != "" {
		s.plain = newDigest(plain)
		plain = io.NopCloser(s.plain)
	}
	err = s.open(bufio.NewReaderSize(plain, headBytes))
	if err == nil && o.KeepBodies && !s.in.bodies {
		err = fmt.Errorf("%s: format %s %w", name, s.format.Name, ErrNoBodies)
	}
	if err != nil {
		return nil, joinClose(err, s.Close)
	}
	return s, nil
}

// OpenFile is Open for a file, which Close then closes.
func OpenFile(path string, o Options) (*Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, joinClose(fmt.Errorf("%s: is a directory; name the logs in it", path), f.Close)
	}
	s, err := Open(f, path, o)
	if err != nil {
		return nil, joinClose(err, f.Close)
	}
	s.close = f.Close
	return s, nil
}

// choose finds the format of a log by its options, or else by its first bytes.
func choose(head []byte, o *Options) (*Format, error) {
	if f, err := o.byMap(head); f != nil || err != nil {
		return f, err
	}
	if o.Format != "" {
		return named(o.Format)
	}
	if len(o.Map) > 0 {
		// Whoever maps columns has looked into the log; all that is left to see is its shape.
		if looksLikeJSON(head) {
			return &genericJSONL, nil
		}
		return &genericCSV, nil
	}
	var no noes
	for i := range Formats {
		err := Formats[i].Sniff(head)
		if err == nil {
			return &Formats[i], nil
		}
		no.add(Formats[i].Name, err.Error())
	}
	return nil, fmt.Errorf("%w; name its format, or map its fields to columns:%s", ErrUnknown, no.text())
}

// noes are why formats did not take a log; those of one reason are told together.
type noes struct {
	reasons []string
	names   map[string][]string
}

func (r *noes) add(name, why string) {
	if r.names == nil {
		r.names = make(map[string][]string)
	}
	if r.names[why] == nil {
		r.reasons = append(r.reasons, why)
	}
	r.names[why] = append(r.names[why], name)
}

func (r *noes) text() string {
	var b strings.Builder
	for _, why := range r.reasons {
		fmt.Fprintf(&b, "\n  %s: %s", strings.Join(r.names[why], ", "), why)
	}
	return b.String()
}

func named(name string) (*Format, error) {
	var names []string
	for i := range Formats {
		if Formats[i].Name == name {
			return &Formats[i], nil
		}
		names = append(names, Formats[i].Name)
	}
	return nil, fmt.Errorf("unknown format %q; there are %s", name, strings.Join(names, ", "))
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// firstLine returns the first line of head that is not blank.
func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return bytes.TrimRight(line, "\r")
}

func looksLikeJSON(head []byte) bool { return bytes.HasPrefix(firstLine(head), []byte("{")) }
