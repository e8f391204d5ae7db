package traces

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Parquet is read and written here, and not by Arrow's own package: that one
// cannot be told how much to allocate, panics on damaged files in goroutines of
// its own, and brings a network stack along. What is needed is small: flat and
// nested columns, the encodings and compressions that other tools write.

const parquetMagic = "PAR1"

// maxHeld bounds the memory of a reader: the pages of all columns, and the rows
// that are assembled from them.
const maxHeld = 512 << 20

// A pqReader reads the rows of a Parquet file.
type pqReader struct {
	r io.ReaderAt
	*pqFile
	zstd  *zstd.Decoder
	pages int64 // bytes of memory in pages
	rows  int64 // and in the rows of a batch
	limit int64 // of both
	group int
	left  int64         // rows of the group not yet read
	chunk []*leafReader // of the group, by leaf; nil for a column that nobody wants
}

// openParquet reads the footer of a file of size bytes.
func openParquet(r io.ReaderAt, size int64) (*pqReader, error) {
	tail := make([]byte, 8)
	if size < 12 {
		return nil, fmt.Errorf("%w: it ends inside its first bytes", errDamagedParquet)
	}
	if _, err := r.ReadAt(tail, size-8); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != parquetMagic || n > size-12 || n > maxParquetFooter {
		return nil, fmt.Errorf("%w: no footer, or one of %d bytes (the limit is %d)", errDamagedParquet, n, maxParquetFooter)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil {
		return nil, err
	}
	f, err := parseFooterParquet(footer)
	if err != nil {
		return nil, err
	}
	return &pqReader{r: r, pqFile: f, limit: maxHeld}, f.checkChunks(size)
}

// checkChunks holds what the row groups say of their columns against the schema
// and the file.
func (f *pqFile) checkChunks(size int64) error {
	for g, group := range f.groups {
		for i, chunk := range group.structs(1) {
			meta := chunk.nested(3)
			from, n := chunkRange(meta)
			if from < 4 || n < 0 || n > size-from || meta.int(5) < 0 || meta.int(1) != f.leaves[i].typ {
				return fmt.Errorf("%w: row group %d, column %q: outside the file, or of another type", errDamagedParquet, g, f.leaves[i].name)
			}
		}
	}
	return nil
}

// chunkRange returns where a column of a row group lies. Its dictionary, if it
// has one, comes first.
func chunkRange(meta thriftStruct) (from, n int64) {
	from = meta.int(9)
	if dict := meta.int(11); dict > 0 && dict < from {
		from = dict
	}
	return from, meta.int(7)
}

// hold accounts for the memory of pages, grow for that of rows.
func (r *pqReader) hold(n int64) { r.pages += n; r.grow(0) }

func (r *pqReader) grow(n int64) {
	if r.rows += n; r.pages+r.rows > r.limit {
		pqFail("its pages and rows take more than %d bytes of memory", r.limit)
	}
}

// nextGroup goes to the next row group that has rows.
func (r *pqReader) nextGroup(want []*pqNode) error {
	for r.left == 0 {
		if r.group == len(r.groups) {
			return io.EOF
		}
		r.openGroup(r.groups[r.group], want)
		r.group++
	}
	return nil
}

func (r *pqReader) openGroup(group thriftStruct, want []*pqNode) {
	r.left, r.pages = group.int(3), 0
	r.chunk = make([]*leafReader, len(r.leaves))
	chunks := group.structs(1)
	for _, n := range want {
		for i := n.leaf; i < n.leaf+n.leaves; i++ {
			meta := chunks[i].nested(3)
			from, size := chunkRange(meta)
			r.chunk[i] = &leafReader{
				node: r.leaves[i], file: r, codec: meta.int(4), at: from, end: from + size, left: meta.int(5),
			}
		}
	}
}

// guardParquet runs f on an untrusted file and turns a panic into an error.
func guardParquet(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
			if _, bug := p.(interface{ RuntimeError() }); bug {
				err = fmt.Errorf("%w: %v", errDamagedParquet, p)
			}
		default:
			err = fmt.Errorf("%w: %v", errDamagedParquet, p)
		}
	}()
	return f()
}

// startRow makes sure that a row begins where one should.
func (r *pqReader) startRow(n *pqNode) {
	if rep, _, more := r.chunk[n.leaf].peek(); rep != 0 || !more {
		pqFail("column %q does not have the rows of its row group", n.name)
	}
}

// skip passes over one value of every leaf of n, all of which are null.
func (r *pqReader) skip(n *pqNode) {
	for i := n.leaf; i < n.leaf+n.leaves; i++ {
		if _, ok := r.chunk[i].take(); ok {
			pqFail("column %q: its parts do not agree on what is null", n.name)
		}
	}
}

// elements walks over the next list of n.
func (r *pqReader) elements(n *pqNode, list, null func(), each func(*pqNode)) {
	repeated, element := n.element()
	first := r.chunk[n.leaf]
	_, def, _ := first.peek()
	if def < repeated.def {
		if def < n.def && n != repeated {
			null()
		} else {
			list()
		}
		r.skip(n)
		return
	}
	list()
	for again := true; again; {
		each(element)
		rep, _, _ := first.peek()
		again = rep >= repeated.rep
	}
}
