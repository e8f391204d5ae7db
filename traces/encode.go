package traces

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/klauspost/compress/zstd"
)

const (
	schemaKey     = "wavetank.schema"
	metaKey       = "wavetank.meta"
	schemaVersion = "1"
)

// allColumns is the set of every column; a set is a bit per column.
var allColumns = columnSet(1)<<len(columns) - 1

type columnSet uint64

func (s columnSet) has(i int) bool { return s>>i&1 == 1 }

// each yields the columns of the set in the order of the file.
func (s columnSet) each() iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(bits.TrailingZeros64(uint64(s))) {
				return
			}
		}
	}
}

// setOf returns the set of the named columns.
func setOf(names ...string) (set columnSet) {
	for _, name := range names {
		set |= 1 << columnIndex[name]
	}
	return set
}

// schemaOf returns the columns of set, with m as metadata.
func schemaOf(set columnSet, m Meta) (*arrow.Schema, error) {
	js, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	var fields []arrow.Field
	for i, c := range columns {
		if set.has(i) {
			fields = append(fields, arrow.Field{Name: c.name, Type: c.typ, Nullable: true})
		}
	}
	md := arrow.NewMetadata([]string{schemaKey, metaKey}, []string{schemaVersion, string(js)})
	return arrow.NewSchema(fields, &md), nil
}

// An encoder writes batches of a fixed set of columns as an Arrow IPC file.
type encoder struct {
	set      columnSet
	out      io.Writer
	at       int64 // bytes written
	zstd     *zstd.Encoder
	fast     *zstd.Encoder // which looks less for repetitions
	packings [64]packing   // of text, by column
	blocks   []ipcBlock
	busy     chan error // of the batch that is being written; nil: none is

	held          Batch // that batch,
	body          []byte
	nodes, places []int64 // and what its message says of it: see batchMessage
}

// An ipcBlock is where a batch lies in the file.
type ipcBlock struct{ at, head, body int64 }

func newEncoder(f io.Writer, set columnSet, m Meta) (*encoder, error) {
	schema, err := schemaMessage(set, m)
	if err != nil {
		return nil, err
	}
	packer, err := newPacker(zstd.SpeedDefault)
	if err != nil {
		return nil, err
	}
	fast, err := newPacker(zstd.SpeedFastest)
	if err != nil {
		return nil, err
	}
	e := &encoder{set: set, out: f, zstd: packer, fast: fast}
	return e, e.put(arrowMagic, framed(schema))
}

func newPacker(level zstd.EncoderLevel) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(level))
}

func (e *encoder) put(parts ...[]byte) error {
	for _, p := range parts {
		n, err := e.out.Write(p)
		e.at += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// write has the rows of a batch compressed and written while the next are gathered
// in it. An error is that of the batch before; close tells the last one.
func (e *encoder) write(b *Batch) error {
	if err := e.wait(); err != nil {
		return err
	}
	e.held, *b = *b, e.held
	b.Reset()
	busy := make(chan error, 1)
	e.busy = busy
	go func() { busy <- e.writeHeld() }()
	return nil
}

func (e *encoder) writeHeld() error {
	e.nodes, e.places, e.body = e.nodes[:0], e.places[:0], e.body[:0]
	for i := range e.set.each() {
		v := e.held.vectors[i]
		if !e.held.has.has(i) {
			v = newVector(columns[i].typ)
			v.addBlanks(i, e.held.rows)
		}
		e.pack(i, v, ascending.has(i))
	}
	head := framed(batchMessage(int64(e.held.rows), e.nodes, e.places, int64(len(e.body))))
	e.blocks = append(e.blocks, ipcBlock{e.at, int64(len(head)), int64(len(e.body))})
	return e.put(head, e.body)
}

// ascending are the columns of numbers that mostly do.
var ascending = setOf("seq", "arrival_ns", "source_row")

// pack adds the buffers of v, which is of a column, and of its parts to the body of
// the batch.
func (e *encoder) pack(column int, v *vector, ascends bool) {
	e.nodes = append(e.nodes, int64(v.rows), int64(v.nulls))
	for i, b := range v.buffers() {
		at := len(e.body)
		if len(b) > 0 {
			e.body = binary.LittleEndian.AppendUint64(e.body, uint64(len(b)))
			switch {
			case i == 1 && v.ends != nil:
				e.packNumbers(b, 4, true)
			case i == 1 && v.width > 0:
				e.packNumbers(b, v.width, ascends)
			case i == 2:
				e.packText(column, b)
			default:
				e.body = e.zstd.EncodeAll(b, e.body)
			}
		}
		e.places = append(e.places, int64(at), int64(len(e.body)-at))
		e.body = append(e.body, make([]byte, align(len(e.body))-len(e.body))...)
	}
	for _, p := range v.parts {
		e.pack(column, p, false)
	}
}

// packNumbers adds a frame of numbers in the way that suits them, which for those
// that do not ascend a sample tells.
func (e *encoder) packNumbers(b []byte, width int, ascend bool) {
	if ascend {
		var ok bool
		if e.body, ok = packSteps(e.body, b, width); ok {
			return
		}
	}
	const sample = 8 << 10
	head, at := b[:min(sample, len(b))], len(e.body)
	coded := len(packLiterals(e.body, head)) - at
	if e.body = e.zstd.EncodeAll(head, e.body); len(e.body)-at < coded*7/8 {
		e.body = e.zstd.EncodeAll(b, e.body[:at])
	} else {
		e.body = packLiterals(e.body[:at], b)
	}
}

// A packing is how a column of text is packed, up to a batch at which it is looked at
// anew.
type packing struct {
	packer *zstd.Encoder
	until  int
}

// packText adds a frame of a column's text. In some, as in ids, to look hard for
// repetitions takes twice the time and finds hardly more: a sample of some batches
// tells.
func (e *encoder) packText(column int, b []byte) {
	const sample, batches = 64 << 10, 16
	p := &e.packings[column]
	if len(b) >= sample && p.until <= len(e.blocks) {
		at, head := len(e.body), b[:sample]
		hard, fast := len(e.zstd.EncodeAll(head, e.body))-at, len(e.fast.EncodeAll(head, e.body))-at
		if *p = (packing{e.zstd, len(e.blocks) + batches}); fast < hard+hard/64 {
			p.packer = e.fast
		}
	}
	packer := e.zstd
	if p.packer != nil {
		packer = p.packer
	}
	e.body = packer.EncodeAll(b, e.body)
}

// wait returns once nothing is being written.
func (e *encoder) wait() error {
	if e.busy == nil {
		return nil
	}
	err := <-e.busy
	e.busy = nil
	return err
}

// copy writes the rows of src in batches of n.
func (e *encoder) copy(src Reader, n int) error {
	var b Batch
	_, err := Copy(WriterFunc(func(rec *Record) error {
		if b.add(rec); b.rows < n && !b.full() {
			return nil
		}
		return e.write(&b)
	}), src)
	if err == nil && b.rows > 0 {
		err = e.write(&b)
	}
	return err
}

// close ends the file. Its footer says m, whatever the head of the file said
// before the rows were known.
func (e *encoder) close(m Meta) error {
	if err := e.wait(); err != nil {
		return err
	}
	if len(e.blocks) == 0 { // an empty batch gives a file without rows its columns
		if err := errors.Join(e.write(new(Batch)), e.wait()); err != nil {
			return err
		}
	}
	schema, err := schemaMessage(e.set, m)
	if err != nil {
		return err
	}
	end := footer(schema, e.blocks)
	return e.put(endOfStream, end, binary.LittleEndian.AppendUint32(nil, uint32(len(end))), arrowMagic[:6])
}
