package traces

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

const (
	schemaKey     = "wavetank.schema"
	metaKey       = "wavetank.meta"
	schemaVersion = "1"
	batchRows     = 65536
)

// allColumns is the set of every column; a set is a bit per column.
const allColumns = columnSet(1)<<63 - 1

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

// A batch gathers Records into one builder a column. A column has no builder
// until a row knows its value, so that the many columns that a trace does not
// have cost nothing.
type batch struct {
	builders []array.Builder
	adders   []func(*Record)
	has      columnSet // that any row of the batch knows
	rows     int
	before   int // rows of the last batch
}

func (b *batch) add(rec *Record) {
	known := knownTo(rec)
	if fresh := known &^ b.has; fresh != 0 {
		b.begin(fresh)
	}
	for i := range known.each() {
		b.adders[i](rec)
	}
	for i := range (b.has &^ known).each() {
		b.builders[i].AppendNull()
	}
	b.rows++
}

// begin makes builders for columns that no row knew so far.
func (b *batch) begin(fresh columnSet) {
	if b.builders == nil {
		b.builders, b.adders = make([]array.Builder, len(columns)), make([]func(*Record), len(columns))
	}
	for i := range fresh.each() {
		builder := array.NewBuilder(memory.DefaultAllocator, columns[i].typ)
		builder.Reserve(max(b.before, min(batchRows, 2*b.rows+64)))
		builder.AppendNulls(b.rows)
		b.builders[i], b.adders[i] = builder, columns[i].add(builder)
	}
	b.has |= fresh
}

// take empties the batch into an Arrow record of the given schema.
func (b *batch) take(set columnSet, schema *arrow.Schema) arrow.Record {
	var arrays []arrow.Array
	for i, c := range columns {
		if !set.has(i) {
			continue
		}
		if !b.has.has(i) {
			arrays = append(arrays, array.MakeArrayOfNull(memory.DefaultAllocator, c.typ, b.rows))
			continue
		}
		arrays = append(arrays, b.builders[i].NewArray())
		b.builders[i].Release()
	}
	rec := array.NewRecord(schema, arrays, int64(b.rows))
	for _, a := range arrays {
		a.Release()
	}
	b.before, b.rows, b.has = b.rows, 0, 0
	return rec
}

// An encoder writes batches of a fixed set of columns as an Arrow IPC file.
type encoder struct {
	set     columnSet
	schema  *arrow.Schema
	w       *ipc.FileWriter
	out     io.Writer
	batches int
	busy    chan error // of the batch that is being written; nil: none is
}

func newEncoder(f io.WriteSeeker, set columnSet, m Meta) (*encoder, error) {
	return newEncoderAs(f, set, m, ipc.WithZstd())
}

func newEncoderAs(f io.WriteSeeker, set columnSet, m Meta, compression ipc.Option) (*encoder, error) {
	schema, err := schemaOf(set, m)
	if err != nil {
		return nil, err
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema), compression)
	if err != nil {
		return nil, err
	}
	return &encoder{set: set, schema: schema, w: w, out: f}, nil
}

// write has a batch compressed and written while the next is gathered. An error
// is that of the batch before it; close tells the last one.
func (e *encoder) write(b *batch) error {
	rec := b.take(e.set, e.schema)
	if err := e.wait(); err != nil {
		rec.Release()
		return err
	}
	e.batches++
	busy := make(chan error, 1)
	e.busy = busy
	go func() {
		defer rec.Release()
		busy <- e.w.Write(rec)
	}()
	return nil
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
	var b batch
	_, err := Copy(WriterFunc(func(rec *Record) error {
		if b.add(rec); b.rows < n {
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
	if e.batches == 0 { // an empty batch gives a file without rows its schema
		if err := e.write(new(batch)); err != nil {
			return err
		}
	}
	if err := e.wait(); err != nil {
		return err
	}
	js, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	// Metadata.Values returns the slice that the schema itself holds, and the
	// footer is written from that.
	e.schema.Metadata().Values()[e.schema.Metadata().FindKey(metaKey)] = string(js)
	// The end-of-stream mark, which this writer leaves out, lets the file be
	// read as a stream too (apache/arrow#43837).
	if _, err := e.out.Write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}); err != nil {
		return err
	}
	return e.w.Close()
}
