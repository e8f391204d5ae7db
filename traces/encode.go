package traces

import (
	"encoding/json"
	"fmt"
	"io"

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
	rows     int
}

func (b *batch) add(rec *Record) {
	if b.builders == nil {
		b.builders = make([]array.Builder, len(columns))
	}
	for i := range columns {
		c, builder := &columns[i], b.builders[i]
		switch known := c.known(rec); {
		case known && builder == nil:
			builder = array.NewBuilder(memory.DefaultAllocator, c.typ)
			builder.Reserve(min(batchRows, 2*b.rows+64))
			builder.AppendNulls(b.rows)
			b.builders[i] = builder
			c.add(builder, rec)
		case known:
			c.add(builder, rec)
		case builder != nil:
			builder.AppendNull()
		}
	}
	b.rows++
}

// has returns the columns that any row of the batch knows.
func (b *batch) has() (set columnSet) {
	for i, builder := range b.builders {
		if builder != nil {
			set |= 1 << i
		}
	}
	return set
}

// take empties the batch into an Arrow record of the given schema.
func (b *batch) take(set columnSet, schema *arrow.Schema) arrow.Record {
	var arrays []arrow.Array
	for i, c := range columns {
		if !set.has(i) {
			continue
		}
		if b.builders[i] == nil {
			arrays = append(arrays, array.MakeArrayOfNull(memory.DefaultAllocator, c.typ, b.rows))
			continue
		}
		arrays = append(arrays, b.builders[i].NewArray())
		b.builders[i].Release()
		b.builders[i] = nil
	}
	rec := array.NewRecord(schema, arrays, int64(b.rows))
	for _, a := range arrays {
		a.Release()
	}
	b.rows = 0
	return rec
}

// An encoder writes batches of a fixed set of columns as an Arrow IPC file.
type encoder struct {
	set     columnSet
	schema  *arrow.Schema
	w       *ipc.FileWriter
	out     io.Writer
	batches int
}

func newEncoder(f io.WriteSeeker, set columnSet, m Meta) (*encoder, error) {
	schema, err := schemaOf(set, m)
	if err != nil {
		return nil, err
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema), ipc.WithZstd())
	if err != nil {
		return nil, err
	}
	return &encoder{set: set, schema: schema, w: w, out: f}, nil
}

func (e *encoder) write(b *batch) error {
	rec := b.take(e.set, e.schema)
	defer rec.Release()
	e.batches++
	return e.w.Write(rec)
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
	js, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	// Metadata.Values returns the slice that the schema itself holds, and the
	// footer is written from that.
	e.schema.Metadata().Values()[e.schema.Metadata().FindKey(metaKey)] = string(js)
	if e.batches == 0 { // an empty batch gives a file without rows its schema
		if err := e.write(&batch{builders: make([]array.Builder, len(columns))}); err != nil {
			return err
		}
	}
	// The end-of-stream mark, which this writer leaves out, lets the file be
	// read as a stream too (apache/arrow#43837).
	if _, err := e.out.Write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}); err != nil {
		return err
	}
	return e.w.Close()
}
