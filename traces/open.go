package traces

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
)

var errNotArrow = errors.New("not an Arrow file")

// ErrNotTrace is wrapped by Open's error where the input is not a trace file at
// all: a log to be converted, a directory, nothing.
var ErrNotTrace = errors.New("not a trace")

// A File reads a trace file, in Arrow or in Parquet, in the order of its rows.
type File struct {
	name     string
	f        *os.File
	dec      *decoder
	meta     Meta
	footer   bool
	batches  int // as the footer says
	warnings []string
	done     func() error
}

// Open opens the trace at path; "-" is standard input. A file that lacks its
// footer, because the program that wrote it was killed, is read up to its last
// whole batch, and Warnings says so.
func Open(path string) (*File, error) {
	if path == "-" {
		return OpenReader(os.Stdin, "standard input")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() && !st.IsDir() { // a pipe
		defer f.Close()
		return OpenReader(f, path)
	}
	file, err := open(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return file, nil
}

// OpenReader reads the trace that r streams. It is copied to a temporary file
// first, because a trace says at its end how it was made.
func OpenReader(r io.Reader, name string) (*File, error) {
	f, err := os.CreateTemp("", "wavetank-*.arrow")
	if err != nil {
		return nil, err
	}
	remove := func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	if _, err := io.Copy(f, r); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", name, err), remove())
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, remove())
	}
	file, err := open(f, name)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	file.done = remove
	return file, nil
}

func open(f *os.File, name string) (*File, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, fmt.Errorf("%s: is a directory, %w", name, ErrNotTrace)
	}
	dec, err := newDecoder(f)
	if errors.Is(err, errNotArrow) && isParquet(f) {
		return openParquetFile(f, name, st.Size())
	}
	if errors.Is(err, errNotArrow) {
		return nil, notArrow(f, name, st.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	file := &File{name: name, f: f, dec: dec, done: f.Close}
	if err := file.readFooter(st.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return file, nil
}

// notArrow says what the file is instead, where its first bytes tell.
func notArrow(f *os.File, name string, size int64) error {
	head := make([]byte, 8)
	n, _ := f.ReadAt(head, 0)
	what := "it does not begin like an Arrow file"
	switch head = head[:n]; {
	case size == 0:
		what = "it is empty"
	case bytes.HasPrefix([]byte("ARROW1\x00\x00"), head):
		what = "it ends inside its first bytes"
	}
	return fmt.Errorf("%s: %w: %s", name, ErrNotTrace, what)
}

// readFooter takes the metadata from the footer, which was written when all was
// known. Without one it is that of the head of the file.
func (f *File) readFooter(size int64) (err error) {
	if f.meta, err = f.dec.meta(); err != nil {
		return err
	}
	tail := make([]byte, 10)
	if _, err := f.f.ReadAt(tail, max(0, size-10)); err != nil || string(tail[4:]) != string(arrowMagic[:6]) {
		f.warnings = append(f.warnings, "the file was not finished: it is read up to its last whole batch")
		f.meta.Partial = true
		return nil
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n < 8 || n > maxMetadata || n > size-18 {
		return fmt.Errorf("%w: a footer of %d bytes", errDamaged, n)
	}
	buf := make([]byte, n)
	if _, err := f.f.ReadAt(buf, size-10-n); err != nil {
		return fmt.Errorf("read footer: %w", err)
	}
	f.footer = true
	return guarded("footer", func() error { return f.parseFooter(fbRoot(buf)) })
}

func (f *File) parseFooter(footer fbTable) error {
	blocks, _ := footer.vector(3, 24)
	f.batches = len(blocks) / 24
	schema, ok := footer.table(1)
	if !ok {
		return fmt.Errorf("%w: no schema in the footer", errDamaged)
	}
	var keys, values []string
	for _, kv := range schema.tables(2) {
		keys, values = append(keys, kv.text(0)), append(values, kv.text(1))
	}
	m, err := parseMeta(arrow.NewMetadata(keys, values))
	f.meta = m
	return err
}

// Read fills rec with the next row.
func (f *File) Read(rec *Record) error {
	err := f.dec.Read(rec)
	if errors.Is(err, io.EOF) && f.footer && f.dec.msgs.batches != f.batches {
		err = fmt.Errorf("%w: %d of %d batches are readable", errDamaged, f.dec.msgs.batches, f.batches)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

// Meta returns what the file says of itself.
func (f *File) Meta() Meta { return f.meta }

// Name returns the path, or "standard input".
func (f *File) Name() string { return f.name }

// Warnings says what a user must know about the file.
func (f *File) Warnings() []string { return f.warnings }

// Close closes the file.
func (f *File) Close() error { return f.done() }
