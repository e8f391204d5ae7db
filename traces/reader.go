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

// A BatchReader is a Reader that may have its next rows by columns, so that they need
// not become Records. ReadBatch returns a Batch with rows, which is valid until the
// next call of either method, or nil where the next row is to be had by Read.
type BatchReader interface {
	Reader
	ReadBatch() (*Batch, error)
}

// A BatchWriter is a Writer that takes rows by columns too. It must not change or keep b.
type BatchWriter interface {
	Writer
	WriteBatch(b *Batch) error
}

// A Lender is a Reader that may lend Records of its own, which costs no copy. Lend
// returns one that is valid until the next call of either method, or nil where the next
// row is to be had by Read.
type Lender interface {
	Reader
	Lend() (*Record, error)
}

// A borrower reads rows, lent where they can be.
type borrower struct {
	Reader
	lender Lender // nil: it is none
	own    Record
}

func borrow(r Reader) *borrower {
	lender, _ := r.(Lender)
	return &borrower{Reader: r, lender: lender}
}

func (b *borrower) next() (*Record, error) {
	if b.lender != nil {
		if rec, err := b.lender.Lend(); rec != nil || err != nil {
			return rec, err
		}
	}
	return &b.own, b.Read(&b.own)
}

// Copy writes every Record of src to dst, by batches where both can, and returns how
// many it wrote.
func Copy(dst Writer, src Reader) (n int64, err error) {
	from, canRead := src.(BatchReader)
	to, canWrite := dst.(BatchWriter)
	rows := borrow(src)
	for {
		var b *Batch
		var rec *Record
		if canRead && canWrite {
			b, err = from.ReadBatch()
		}
		if b == nil && err == nil {
			rec, err = rows.next()
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		read := int64(1)
		switch {
		case err != nil:
		case b != nil:
			read, err = int64(b.Rows()), to.WriteBatch(b)
		default:
			err = dst.Write(rec)
		}
		if err != nil {
			return n, err
		}
		n += read
	}
}

// All ranges over the Records of r. After an error it yields that error with a
// nil Record and stops. The Record is reused from one step to the next.
func All(r Reader) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		rows := borrow(r)
		for {
			rec, err := rows.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(rec, nil) {
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
