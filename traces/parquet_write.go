package traces

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/klauspost/compress/zstd"
)

// A ParquetWriter writes a trace as a Parquet file: the same columns, in row
// groups of at most 65,536 rows, plain, with zstd and a checksum for each page,
// and with the metadata under the same keys as in the Arrow file. Columns that
// no row knows are left out.
type ParquetWriter struct {
	out    io.Writer
	at     int64
	meta   Meta
	batch  Batch
	size   int // rows of a group
	seen   columnSet
	groups []pqGroup
	last   Record // its Arrival and Seq are those of the latest row
	rows   int64
	zstd   *zstd.Encoder
	err    error
}

// A pqGroup is a row group that was written: of the leaves of each column that
// had a value in it, where they lie.
type pqGroup struct {
	rows   int
	chunks map[int][]pqChunk // by column
}

// A pqChunk is the values of a leaf in a row group.
type pqChunk struct {
	values         int
	at             int64
	stored, packed int64 // bytes of its pages, before and after compression
}

// NewParquetWriter begins a trace on out, which it does not close. Rows must come
// in the order of a trace. The file is whole once Close has returned.
func NewParquetWriter(out io.Writer, m Meta) (*ParquetWriter, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	w := &ParquetWriter{out: out, meta: m, zstd: enc, size: batchRows, seen: requiredSet}
	w.write([]byte(parquetMagic))
	return w, w.err
}

func (w *ParquetWriter) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	w.at += int64(n)
	w.err = err
}

// Write adds a row. A row that comes before the one ahead of it is an error that
// wraps ErrUnsorted.
func (w *ParquetWriter) Write(rec *Record) error {
	if w.err == nil && w.rows > 0 && before(rec, &w.last) {
		w.err = fmt.Errorf("row %d: %w", w.rows, ErrUnsorted)
	}
	if w.err != nil {
		return w.err
	}
	w.last.Arrival, w.last.Seq = rec.Arrival, rec.Seq
	w.rows++
	if w.batch.add(rec); w.batch.rows == w.size {
		w.flush()
	}
	return w.err
}

// flush writes the gathered rows as a row group.
func (w *ParquetWriter) flush() {
	g := pqGroup{rows: w.batch.rows, chunks: make(map[int][]pqChunk)}
	for c := range w.batch.has.each() {
		g.chunks[c] = w.writeColumn(w.batch.vectors[c].array())
	}
	w.seen |= w.batch.has
	w.batch.Reset()
	w.groups = append(w.groups, g)
}

// writeColumn writes the leaves of a column, one after the other.
func (w *ParquetWriter) writeColumn(a arrow.Array) []pqChunk {
	s := newShredder(a.DataType())
	for row := range a.Len() {
		s.add(a, row, 0, 0)
		s.cut(w.zstd)
	}
	return w.place(s)
}

// place writes the pages of a column's leaves.
func (w *ParquetWriter) place(s *shredder) []pqChunk {
	s.finish(w.zstd)
	chunks := make([]pqChunk, len(s.leaves))
	for i, l := range s.leaves {
		chunks[i] = l.chunk
		chunks[i].at = w.at
		w.write(l.pages)
	}
	return chunks
}

// Close writes what is left and the footer. It does not close the writer below.
func (w *ParquetWriter) Close() error {
	if w.err == nil && w.batch.rows > 0 {
		w.flush()
	}
	if w.err != nil {
		return w.err
	}
	for i := range w.groups {
		w.fill(&w.groups[i])
	}
	footer, err := w.footer()
	if err != nil {
		return err
	}
	w.write(footer)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	w.write([]byte(parquetMagic))
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("the Parquet file is closed")
	return nil
}

// fill gives a row group the columns that only came to be known after it: a
// footer lists the columns of a row group wherever in the file they lie.
func (w *ParquetWriter) fill(g *pqGroup) {
	for c := range columns {
		if !w.seen.has(c) || g.chunks[c] != nil {
			continue
		}
		s := newShredder(columns[c].typ)
		for range g.rows {
			s.stop(0, 0)
		}
		g.chunks[c] = w.place(s)
	}
}

func (w *ParquetWriter) footer() ([]byte, error) {
	js, err := json.Marshal(w.meta)
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	elements := []pqElement{{name: "trace", typ: -1, converted: -1}}
	for c, col := range columns {
		if w.seen.has(c) {
			elements[0].children++
			elements = appendElements(elements, col.name, col.typ)
		}
	}
	paths, types := leafPaths(elements)
	t := new(thriftWriter)
	t.begin()
	t.i32(1, 1) // version
	t.list(2, thriftNested, len(elements))
	for i, e := range elements {
		e.write(t, i == 0)
	}
	t.i64(3, w.rows)
	t.list(4, thriftNested, len(w.groups))
	for _, g := range w.groups {
		w.writeGroup(t, g, paths, types)
	}
	t.list(5, thriftNested, 2)
	for _, kv := range [][2]string{{schemaKey, schemaVersion}, {metaKey, string(js)}} {
		t.begin()
		t.text(1, kv[0])
		t.text(2, kv[1])
		t.end()
	}
	t.text(6, "wavetank")
	t.end()
	return t.b, nil
}

func (w *ParquetWriter) writeGroup(t *thriftWriter, g pqGroup, paths [][]string, types []int) {
	var chunks []pqChunk
	for c := range columns {
		if w.seen.has(c) {
			chunks = append(chunks, g.chunks[c]...)
		}
	}
	t.begin()
	t.list(1, thriftNested, len(chunks))
	var total int64
	for i, c := range chunks {
		c.write(t, paths[i], types[i])
		total += c.stored
	}
	t.i64(2, total)
	t.i64(3, int64(g.rows))
	t.end()
}

// write writes the ColumnChunk of the chunk.
func (c *pqChunk) write(t *thriftWriter, path []string, typ int) {
	t.begin()
	t.i64(2, c.at)
	t.nested(3)
	t.i32(1, typ)
	t.list(2, thriftI32, 2)
	t.varint(pqPlain)
	t.varint(pqRLE)
	t.list(3, thriftBinary, len(path))
	for _, name := range path {
		t.bytes(name)
	}
	t.i32(4, pqZstd)
	t.i64(5, int64(c.values))
	t.i64(6, c.stored)
	t.i64(7, c.packed)
	t.i64(9, c.at)
	t.end()
	t.end()
}

// A leafWriter gathers the values of a leaf into pages.
type leafWriter struct {
	reps, defs []byte
	plain      []byte
	bits       int // booleans in plain
	most       int // the highest definition level, for its width
	repeats    bool
	chunk      pqChunk
	pages      []byte
}

// flush ends a page: levels, then values.
func (l *leafWriter) flush(enc *zstd.Encoder) {
	var body []byte
	if l.repeats {
		body = appendLevels(body, l.reps, 1)
	}
	body = appendLevels(body, l.defs, l.most)
	body = append(body, l.plain...)
	packed := enc.EncodeAll(body, nil)

	t := new(thriftWriter)
	t.begin()
	t.i32(1, pqDataPage)
	t.i32(2, len(body))
	t.i32(3, len(packed))
	t.i32(4, int(int32(crc32.ChecksumIEEE(packed))))
	t.nested(5)
	t.i32(1, len(l.defs))
	t.i32(2, pqPlain)
	t.i32(3, pqRLE)
	t.i32(4, pqRLE)
	t.end()
	t.end()

	l.pages = append(append(l.pages, t.b...), packed...)
	l.chunk.values += len(l.defs)
	l.chunk.stored += int64(len(t.b) + len(body))
	l.chunk.packed += int64(len(t.b) + len(packed))
	l.reps, l.defs, l.plain, l.bits = l.reps[:0], l.defs[:0], l.plain[:0], 0
}
