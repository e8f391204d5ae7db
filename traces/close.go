package traces

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

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
		w.removeAll()
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
	w.removeAll()
}

func (w *FileWriter) removeAll() {
	w.removeParts(0)
	if w.out != nil {
		os.RemoveAll(filepath.Dir(w.path))
	}
}
