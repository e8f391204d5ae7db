package traces

import (
	"errors"
	"io"
)

// partsReader reads the parts of an unfinished file one after the other.
type partsReader struct {
	files []*File
	next  int
}

func openParts(path string, n int) (*partsReader, error) {
	r := &partsReader{}
	for i := range n {
		f, err := Open(partial(path, i))
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.files = append(r.files, f)
	}
	return r, nil
}

func (r *partsReader) Read(rec *Record) error {
	for r.next < len(r.files) {
		err := r.files[r.next].Read(rec)
		if !errors.Is(err, io.EOF) {
			return err
		}
		r.next++
	}
	return io.EOF
}

func (r *partsReader) Close() error {
	var err error
	for _, f := range r.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
