package traces

import (
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
