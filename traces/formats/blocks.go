package formats

import (
	"bytes"
	"io"
	"slices"
)

// A cutter takes a stream apart into blocks of whole rows.
type cutter struct {
	r      io.Reader
	size   int // bytes a block, or more where a row is longer
	max    int // bytes a row
	quotes bool

	rest []byte // the beginning of a row whose end has not come
	skip bool   // the line that rest ends in is too long: pass over what comes of it
	err  error  // that ended r
}

// next fills buf with the next block. Only the last one may end with the stream
// and not with a line end. After an error of the stream, what there is of a row is
// dropped.
func (c *cutter) next(buf []byte) ([]byte, error) {
	buf = append(buf[:0], c.rest...)
	c.rest = c.rest[:0]
	for c.err == nil {
		buf = c.read(buf)
		end := c.lastRow(buf)
		if c.err == io.EOF {
			break
		}
		if c.err != nil {
			buf = buf[:end]
			break
		}
		if end > 0 {
			c.rest = append(c.rest, buf[end:]...)
			return buf[:end], nil
		}
		buf = c.shorten(buf)
	}
	if len(buf) > 0 {
		return buf, nil
	}
	return nil, c.err
}

// read appends as much again as there is, so that a row of many blocks is not
// walked over time and again.
func (c *cutter) read(buf []byte) []byte {
	n, from := max(c.size, len(buf)), len(buf)
	buf = slices.Grow(buf, n)[:from+n]
	got, err := io.ReadFull(c.r, buf[from:])
	if c.err = err; err == io.ErrUnexpectedEOF {
		c.err = io.EOF
	}
	buf = buf[:from+got]
	if !c.skip {
		return buf
	}
	end := bytes.IndexByte(buf[from:], '\n')
	if end < 0 {
		return buf[:from]
	}
	c.skip = false
	return append(buf[:from], buf[from+end:]...)
}

// shorten keeps of a line without an end no more than shows that it is too long.
func (c *cutter) shorten(buf []byte) []byte {
	start := bytes.LastIndexByte(buf, '\n') + 1
	if keep := start + c.max + tooMuch; len(buf) > keep {
		c.skip = true
		return buf[:keep]
	}
	return buf
}

// lastRow returns where the last whole row of buf ends, or 0.
func (c *cutter) lastRow(buf []byte) int {
	if !c.quotes || bytes.IndexByte(buf, '"') < 0 {
		return bytes.LastIndexByte(buf, '\n') + 1
	}
	l := lines{rest: buf, max: c.max, quotes: true}
	for end := 0; ; end = len(buf) - len(l.rest) {
		if _, err := l.next(); err == io.EOF || l.cut {
			return end
		}
	}
}
