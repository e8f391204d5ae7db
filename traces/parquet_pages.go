package traces

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Limits on what a page may ask for.
const (
	maxPageBytes  = 512 << 20 // decompressed
	maxPageHeader = 1 << 20
	maxPageValues = 1 << 24
)

// A leafReader reads the values of one column of a row group, page by page.
type leafReader struct {
	node  *pqNode
	file  *pqReader
	codec int64
	at    int64 // of the next page
	end   int64
	left  int64 // values of pages not yet read, as the footer says
	dict  []pqValue
	held  int64 // bytes of memory in pages

	page       int64 // values of this page not yet read
	reps, defs *hybrid
	values     func() pqValue
	rep, def   int // levels of the value that stands next
	peeked     bool
}

// peek returns the levels of the next value; at the end of the column rep is 0,
// and more is false.
func (l *leafReader) peek() (rep, def int, more bool) {
	if l.peeked {
		return l.rep, l.def, true
	}
	for l.page == 0 {
		if l.left == 0 {
			return 0, 0, false
		}
		l.nextPage()
	}
	l.page--
	l.rep, l.def, l.peeked = 0, l.node.def, true
	if l.reps != nil {
		l.rep = int(l.reps.next())
	}
	if l.defs != nil {
		l.def = int(l.defs.next())
	}
	if l.rep > l.node.rep || l.def > l.node.def {
		pqFail("column %q: a level above those of the schema", l.node.name)
	}
	return l.rep, l.def, true
}

// take returns the value that peek announced; it is there where the definition
// level is the node's own.
func (l *leafReader) take() (v pqValue, ok bool) {
	_, def, more := l.peek()
	if !more {
		pqFail("column %q has fewer rows than its row group", l.node.name)
	}
	l.peeked = false
	if def < l.node.def {
		return v, false
	}
	return l.values(), true
}

// pqFail ends the reading of a file from inside; guardParquet turns it into an error.
func pqFail(format string, args ...any) {
	panic(fmt.Errorf("%w: "+format, append([]any{errDamagedParquet}, args...)...))
}

// pqMust does so for an error that is not damage.
func pqMust(err error) {
	if err != nil {
		panic(err)
	}
}

// nextPage reads a page of the column: its dictionary, or values.
func (l *leafReader) nextPage() {
	head := l.readHeader()
	size, stored := head.int(2), head.int(3)
	if stored < 0 || stored > l.end-l.at || size < 0 || size > maxPageBytes {
		pqFail("column %q: a page of %d bytes, %d decompressed, in a chunk of %d", l.node.name, stored, size, l.end-l.at)
	}
	body := make([]byte, stored)
	_, err := l.file.r.ReadAt(body, l.at)
	pqMust(err)
	if crc, ok := head[4].(int64); ok && uint32(crc) != crc32.ChecksumIEEE(body) {
		pqFail("column %q: a page does not have its checksum", l.node.name)
	}
	l.at += stored
	switch head.int(1) {
	case pqDictPage:
		l.readDict(head.nested(7), l.unpack(body, size))
	case pqDataPage:
		l.readData(head.nested(5), l.unpack(body, size))
	case pqDataPage2:
		l.readData2(head.nested(8), body, size)
	}
}

// readHeader parses the page's header, of which nobody says the length.
func (l *leafReader) readHeader() thriftStruct {
	for window := int64(256); ; window *= 8 {
		b := make([]byte, min(window, l.end-l.at))
		_, err := l.file.r.ReadAt(b, l.at)
		pqMust(err)
		head, n, err := parseThrift(b)
		if err == nil {
			l.at += int64(n)
			return head
		}
		if window > maxPageHeader || window > l.end-l.at {
			pqFail("column %q: the header of a page: %v", l.node.name, err)
		}
	}
}

func (l *leafReader) readDict(head thriftStruct, b []byte) {
	n := head.int(1)
	if n < 0 || n > maxPageValues || n > int64(len(b))*8 {
		pqFail("column %q: a dictionary of %d values in %d bytes", l.node.name, n, len(b))
	}
	l.file.hold(n * 32)
	next := l.node.plain(b)
	l.dict = make([]pqValue, n)
	for i := range l.dict {
		l.dict[i] = next()
	}
}

func (l *leafReader) countPage(n int64) {
	if n < 0 || n > maxPageValues || n > l.left {
		pqFail("column %q: a page of %d values, where %d are left", l.node.name, n, l.left)
	}
	l.left -= n
	l.page = n
}

func (l *leafReader) readData(head thriftStruct, b []byte) {
	l.countPage(head.int(1))
	levels := func(most int, encoding int64) *hybrid {
		if most == 0 {
			return nil
		}
		if encoding != pqRLE {
			pqMust(fmt.Errorf("column %q: levels in encoding %d of Parquet, which is not read", l.node.name, encoding))
		}
		size := binary.LittleEndian.Uint32(b)
		h := &hybrid{b: b[4 : 4+size], width: bits.Len(uint(most))}
		b = b[4+size:]
		return h
	}
	l.reps = levels(l.node.rep, head.int(4))
	l.defs = levels(l.node.def, head.int(3))
	l.readValues(head.int(2), b)
}

// readData2 reads the newer kind of page, whose levels are not compressed.
func (l *leafReader) readData2(head thriftStruct, b []byte, size int64) {
	l.countPage(head.int(1))
	reps, defs := head.int(6), head.int(5)
	if reps < 0 || defs < 0 || reps > int64(len(b)) || defs > int64(len(b))-reps || size < reps+defs {
		pqFail("column %q: levels of %d and %d bytes in a page of %d", l.node.name, reps, defs, len(b))
	}
	l.reps, l.defs = nil, nil
	if l.node.rep > 0 {
		l.reps = &hybrid{b: b[:reps], width: bits.Len(uint(l.node.rep))}
	}
	if l.node.def > 0 {
		l.defs = &hybrid{b: b[reps : reps+defs], width: bits.Len(uint(l.node.def))}
	}
	b = b[reps+defs:]
	if packed, said := head[7].(bool); !said || packed {
		b = l.unpack(b, size-reps-defs)
	}
	l.readValues(head.int(4), b)
}

func (l *leafReader) readValues(encoding int64, b []byte) {
	if len(b) == 0 { // all null
		l.values = func() pqValue { pqFail("column %q: a page without values", l.node.name); return pqValue{} }
		return
	}
	next, err := l.node.decoder(encoding, b, l.dict)
	pqMust(err)
	l.values = next
}

// unpack decompresses a page into exactly size bytes.
func (l *leafReader) unpack(b []byte, size int64) []byte {
	l.file.hold(size - l.held)
	l.held = size
	var out []byte
	var err error
	switch l.codec {
	case pqUncoded:
		out = b
	case pqZstd:
		if size > int64(len(b))<<15 { // a block of 128 KiB takes four bytes
			pqFail("column %q: %d bytes claim to hold %d", l.node.name, len(b), size)
		}
		out, err = l.file.unzstd(b, size)
	case pqSnappy:
		if n, lenErr := snappy.DecodedLen(b); lenErr != nil || int64(n) != size || size > 32*int64(len(b))+64 {
			pqFail("column %q: %d bytes of snappy for %d (%v)", l.node.name, n, size, lenErr)
		}
		out, err = snappy.Decode(nil, b)
	case pqGzip:
		out, err = gunzip(b, size)
	default:
		err = fmt.Errorf("column %q: compression %d of Parquet is not read; zstd, snappy and gzip are", l.node.name, l.codec)
		pqMust(err)
	}
	if err != nil || int64(len(out)) != size {
		pqFail("column %q: a page of %d bytes, not %d (%v)", l.node.name, len(out), size, err)
	}
	return out
}

func (r *pqReader) unzstd(b []byte, size int64) (out []byte, err error) {
	if r.zstd == nil {
		r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	return r.zstd.DecodeAll(b, make([]byte, 0, size))
}

func gunzip(b []byte, size int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = io.Copy(&out, io.LimitReader(r, size+1))
	return out.Bytes(), err
}
