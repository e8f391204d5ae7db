package traces

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// A part is a file of rows that all have the same columns. A trace that gains a
// column after its first batch goes on in a second part.
type part struct {
	f   *os.File
	enc *encoder
}

func partial(path string, i int) string {
	if i == 0 {
		return path + ".partial"
	}
	return fmt.Sprintf("%s.partial%d", path, i)
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

// Read implements Reader.
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

// Close implements io.Closer.
func (r *partsReader) Close() error {
	var err error
	for _, f := range r.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
