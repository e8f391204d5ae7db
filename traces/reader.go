package traces

import (
	"errors"
	"io"
	"iter"
)

// A Reader yields the Records of a trace in order. Read fills rec and returns
// io.EOF after the last one. The Record is the caller's to reuse: Read
// overwrites all of it.
type Reader interface {
	Read(rec *Record) error
}

// A Writer takes Records one by one. It must not change or keep rec.
type Writer interface {
	Write(rec *Record) error
}

// ReaderFunc is a function as a Reader.
type ReaderFunc func(*Record) error

// Read calls f.
func (f ReaderFunc) Read(rec *Record) error { return f(rec) }

// WriterFunc is a function as a Writer.
type WriterFunc func(*Record) error

// Write calls f.
func (f WriterFunc) Write(rec *Record) error { return f(rec) }

// Copy writes every Record of src to dst and returns how many it wrote.
func Copy(dst Writer, src Reader) (n int64, err error) {
	var rec Record
	for {
		switch err := src.Read(&rec); {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
		if err := dst.Write(&rec); err != nil {
			return n, err
		}
		n++
	}
}

// All ranges over the Records of r. After an error it yields that error with a
// nil Record and stops. The Record is reused from one step to the next.
func All(r Reader) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		var rec Record
		for {
			err := r.Read(&rec)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&rec, nil) {
				return
			}
		}
	}
}

// FromSlice reads recs.
func FromSlice(recs []Record) Reader {
	return ReaderFunc(func(rec *Record) error {
		if len(recs) == 0 {
			return io.EOF
		}
		*rec, recs = recs[0], recs[1:]
		return nil
	})
}

// Collect reads r to its end. It is for traces that fit in memory.
func Collect(r Reader) ([]Record, error) {
	var recs []Record
	_, err := Copy(WriterFunc(func(rec *Record) error {
		recs = append(recs, *rec)
		return nil
	}), r)
	return recs, err
}
