package traces

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The limits of Decompress. A log of text rarely shrinks to a fiftieth; a file
// made to exhaust its reader shrinks a thousandfold and more.
const (
	maxWindow   = 64 << 20 // bytes of history that a zstd frame may ask for
	maxRatio    = 200      // decompressed bytes for each stored one
	ratioGrace  = 64 << 20 // decompressed bytes before the ratio counts
	readerBytes = 64 << 10
)

type codec struct {
	name  string
	magic string
	open  func(io.Reader) (io.ReadCloser, error)
}

var codecs = []codec{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.ReadCloser, error) {
		// One goroutine: on two cores the concurrent decoder costs twice the CPU and is slower.
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
}

// Decompress returns what r holds, decompressed where its first bytes say gzip
// (of any number of members) or zstd, and the name of what it found: "gzip",
// "zstd", or "" for a stream that is passed on as it is. File names are not
// looked at. Reading fails when a stream is cut or damaged, when it is a
// decompression bomb (after 64 MiB, more than 200 bytes for each stored one), or
// when a zstd frame asks for a window over 64 MiB. Close does not close r.
func Decompress(r io.Reader) (io.ReadCloser, string, error) {
	stored := &countingReader{r: r}
	br := bufio.NewReaderSize(stored, readerBytes)
	head, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return nil, "", err
	}
	for _, c := range codecs {
		if !bytes.HasPrefix(head, []byte(c.magic)) {
			continue
		}
		plain, err := c.open(br)
		if err != nil {
			return nil, c.name, fmt.Errorf("decompress %s: %w", c.name, err)
		}
		return &guardedReader{ReadCloser: plain, name: c.name, stored: stored}, c.name, nil
	}
	return io.NopCloser(br), "", nil
}

type countingReader struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// A guardedReader stops a decompressor that makes too much out of too little.
type guardedReader struct {
	io.ReadCloser
	name   string
	stored *countingReader
	n      int64
}

// Read implements io.Reader.
func (g *guardedReader) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	g.n += int64(n)
	if g.n > ratioGrace && g.n/maxRatio > g.stored.n {
		return 0, fmt.Errorf("decompress %s: %d bytes out of %d stored ones: the limit is %d for each; is this a decompression bomb?",
			g.name, g.n, g.stored.n, maxRatio)
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("decompress %s: %w", g.name, err)
	}
	return n, err
}
