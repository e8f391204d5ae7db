package traces

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrExists is wrapped by Create's error where the file, or what a killed run
// left of it, is there already.
var ErrExists = fs.ErrExist

// CreateOptions is how a trace file is written. The zero value never overwrites.
type CreateOptions struct {
	Overwrite bool // replace an existing file when Close succeeds
}

// journalEvery bounds what a killed run loses.
const journalEvery = time.Second

// A FileWriter writes a trace file. Nothing stands at its path until Close has
// made it whole: rows go to PATH.partial, which Open reads too. Rows may come in
// any order; Close sorts them by arrival and Seq where need be. A run (Meta.Kind)
// is a journal: its rows reach PATH.partial at least every second.
type FileWriter struct {
	path string
	out  io.Writer // instead of path

	mu      sync.Mutex
	meta    Meta
	journal bool
	parts   []*part
	batch   Batch
	seen    columnSet // that any row had
	order   order     // of all rows
	timer   *time.Timer
	err     error
	closed  bool
}

// A part is a file of rows that all have the same columns. A trace that gains a
// column after its first batch goes on in a second part.
type part struct {
	f   *os.File
	enc *encoder
}

// Create begins a trace at path; "-" is standard output.
func Create(path string, m Meta, o CreateOptions) (*FileWriter, error) {
	if path == "-" {
		return CreateWriter(os.Stdout, m)
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() { // a pipe or a device
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return CreateWriter(f, m)
	}
	if !o.Overwrite {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("create %s: %w", path, ErrExists)
		}
		if _, err := os.Lstat(partial(path, 0)); err == nil {
			return nil, fmt.Errorf("create %s: an unfinished run is at %s: %w", path, partial(path, 0), ErrExists)
		}
	}
	if st, err := os.Stat(filepath.Dir(path)); err != nil || !st.IsDir() {
		return nil, fmt.Errorf("create %s: there is no directory %s", path, filepath.Dir(path))
	}
	return newFileWriter(path, nil, m), nil
}

// CreateWriter begins a trace that Close copies to out.
func CreateWriter(out io.Writer, m Meta) (*FileWriter, error) {
	dir, err := os.MkdirTemp("", "wavetank-*")
	if err != nil {
		return nil, err
	}
	return newFileWriter(filepath.Join(dir, "trace.arrow"), out, m), nil
}

func newFileWriter(path string, out io.Writer, m Meta) *FileWriter {
	return &FileWriter{path: path, out: out, meta: m, journal: m.Kind == KindRun, seen: requiredSet}
}

func partial(path string, i int) string {
	if i == 0 {
		return path + ".partial"
	}
	return fmt.Sprintf("%s.partial%d", path, i)
}

// Write adds a row.
func (w *FileWriter) Write(rec *Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.order.add(placeOf(rec))
	w.batch.add(rec)
	return w.added(1)
}

// WriteBatch adds the rows of a batch, which must not be empty.
func (w *FileWriter) WriteBatch(b *Batch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.order.join(b.order)
	for from := 0; w.err == nil && from < b.rows; {
		n := w.batch.room(b, from)
		w.batch.append(b, from, from+n)
		from += n
		w.added(n)
	}
	return w.err
}

// added sees to it that the batch, to which n rows were added, is written in time.
func (w *FileWriter) added(n int) error {
	switch {
	case w.batch.full():
		w.err = w.flush()
	case w.journal && w.batch.rows == n:
		w.flushLater()
	}
	return w.err
}

// before is the order of a trace file.
func before(a, b *Record) bool { return placeOf(a).before(placeOf(b)) }

func (w *FileWriter) flushLater() {
	if w.timer != nil {
		w.timer.Reset(journalEvery)
		return
	}
	w.timer = time.AfterFunc(journalEvery, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.err == nil && !w.closed {
			w.err = w.flush()
		}
	})
}

// flush writes the gathered rows to the current part, or to a new one if they
// have a column that it lacks.
func (w *FileWriter) flush() error {
	if w.batch.rows == 0 {
		return nil
	}
	want := w.batch.has
	w.seen |= want
	if w.journal {
		want = allColumns // one part, whatever comes
	}
	if n := len(w.parts); n == 0 || w.parts[n-1].enc.set&want != want {
		want |= w.seen
		if err := w.newPart(want); err != nil {
			return err
		}
	}
	return w.current().enc.write(&w.batch)
}

func (w *FileWriter) current() *part { return w.parts[len(w.parts)-1] }

func (w *FileWriter) newPart(set columnSet) error {
	p, err := createPart(partial(w.path, len(w.parts)), set, w.meta)
	if err != nil {
		return err
	}
	w.parts = append(w.parts, p)
	return nil
}

func createPart(path string, set columnSet, m Meta) (*part, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	enc, err := newEncoder(f, set, m)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &part{f, enc}, nil
}

// abandon closes a part that will not be whole.
func (p *part) abandon() {
	p.enc.wait()
	p.f.Close()
}

// finish makes the part a whole file on the disk.
func (p *part) finish(m Meta) error {
	err := p.enc.close(m)
	if err == nil {
		err = p.f.Sync()
	}
	return errors.Join(err, p.f.Close())
}

// Rows returns the number of rows written so far.
func (w *FileWriter) Rows() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.order.rows
}

// SetMeta replaces the metadata, for what is known only once the rows are.
func (w *FileWriter) SetMeta(m Meta) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meta = m
}

// Close completes the file: sorted, flushed to the disk and under its own name.
// After an error the rows of a run stay in PATH.partial. A negative arrival (a source
// that was not in order) moves the trace's start to the earliest row.
func (w *FileWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.stop()
	if w.err == nil {
		w.err = w.complete()
	}
	if w.err != nil {
		w.release()
		return fmt.Errorf("write %s: %w", w.path, w.err)
	}
	return w.publish()
}

func (w *FileWriter) stop() {
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// release lets go of what could not be completed; only the rows of a run are
// worth keeping, since they cannot be had again.
func (w *FileWriter) release() {
	for _, p := range w.parts {
		p.abandon()
	}
	if !w.journal {
		w.removeParts(0)
	}
}

// complete leaves the whole trace in partial(path, 0).
func (w *FileWriter) complete() error {
	if err := w.flush(); err != nil {
		return err
	}
	if len(w.parts) == 0 {
		if err := w.newPart(requiredSet); err != nil {
			return err
		}
	}
	for _, p := range w.parts {
		if err := p.finish(w.meta); err != nil {
			return err
		}
	}
	if len(w.parts) == 1 && !w.order.unsorted && w.order.least >= 0 && !w.journal {
		return nil
	}
	return w.rewrite()
}

var requiredSet = setOf(requiredColumns...)

// rewrite sorts the parts into one file with the columns that rows have.
func (w *FileWriter) rewrite() error {
	whole := partial(w.path, len(w.parts))
	if err := w.rewriteTo(whole); err != nil {
		os.Remove(whole)
		return err
	}
	return os.Rename(whole, partial(w.path, 0))
}

func (w *FileWriter) rewriteTo(path string) error {
	src, err := openParts(w.path, len(w.parts))
	if err != nil {
		return err
	}
	defer src.Close()
	var rows Reader = src
	if w.order.unsorted {
		s := Sort(src, filepath.Dir(w.path))
		defer s.Close()
		rows = s
	}
	dst, err := createPart(path, w.seen, w.meta)
	if err != nil {
		return err
	}
	err = dst.enc.copy(w.shifted(rows), batchRows)
	return errors.Join(err, dst.finish(w.meta))
}

// shifted moves arrivals so that the earliest is not negative.
func (w *FileWriter) shifted(r Reader) Reader {
	if w.order.least >= 0 {
		return r
	}
	if w.meta.T0 != nil {
		t0 := w.meta.T0.Add(w.order.least)
		w.meta.T0 = &t0
	}
	return ReaderFunc(func(rec *Record) error {
		err := r.Read(rec)
		rec.Arrival -= w.order.least
		return err
	})
}

// publish puts the whole file where it belongs and removes what is left.
func (w *FileWriter) publish() error {
	if w.out == nil {
		if err := os.Rename(partial(w.path, 0), w.path); err != nil {
			return err
		}
		w.removeParts(1)
		return syncDir(filepath.Dir(w.path))
	}
	defer os.RemoveAll(filepath.Dir(w.path))
	f, err := os.Open(partial(w.path, 0))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w.out, f)
	return err
}

func (w *FileWriter) removeParts(from int) {
	for i := from; i < len(w.parts); i++ {
		os.Remove(partial(w.path, i))
	}
}

// Discard removes all that was written. After Close it does nothing, so that it
// can be deferred.
func (w *FileWriter) Discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.stop()
	for _, p := range w.parts {
		p.abandon()
	}
	w.removeParts(0)
	if w.out != nil {
		os.RemoveAll(filepath.Dir(w.path))
	}
}
