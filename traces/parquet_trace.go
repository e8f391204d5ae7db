package traces

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// newParquetDecoder reads a trace that is stored in Parquet.
func newParquetDecoder(f io.ReaderAt, size int64) (*decoder, error) {
	r, err := openParquet(f, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotTrace, err)
	}
	for _, name := range requiredColumns {
		if r.column(name) == nil {
			return nil, fmt.Errorf("%w: a Parquet file without a column %q", ErrNotTrace, name)
		}
	}
	p := &pqTrace{r: r}
	var fields []arrow.Field
	for _, n := range r.columns {
		i, ok := columnIndex[n.name]
		if !ok {
			continue
		}
		if !n.fits(columns[i].typ) {
			return nil, fmt.Errorf("column %q is not of the type %s", n.name, columns[i].typ)
		}
		p.nodes = append(p.nodes, n)
		fields = append(fields, arrow.Field{Name: n.name, Type: columns[i].typ, Nullable: true})
	}
	var keys, values []string
	for k, v := range r.keys {
		keys, values = append(keys, k), append(values, v)
	}
	md := arrow.NewMetadata(keys, values)
	p.schema = arrow.NewSchema(fields, &md)
	d := &decoder{schema: p.schema, fetch: p.next}
	return d, d.checkSchema()
}

// fits tells whether a column can be read as one of a type.
func (n *pqNode) fits(typ arrow.DataType) bool {
	switch typ := typ.(type) {
	case *arrow.ListType:
		_, element := n.element()
		return element != nil && element.fits(typ.Elem())
	case *arrow.StructType:
		if len(n.children) != typ.NumFields() {
			return false
		}
		for i, f := range typ.Fields() {
			if !n.children[i].fits(f.Type) {
				return false
			}
		}
		return true
	}
	if len(n.children) > 0 {
		return false
	}
	switch typ.ID() {
	case arrow.STRING, arrow.BINARY:
		return n.typ == pqBytes
	case arrow.BOOL:
		return n.typ == pqBoolean
	}
	return n.typ == pqInt32 || n.typ == pqInt64
}

// A pqTrace assembles Arrow records, for which the setters of columns are made.
type pqTrace struct {
	r      *pqReader
	schema *arrow.Schema
	nodes  []*pqNode
}

func (p *pqTrace) next() (rec arrow.Record, err error) {
	err = guardParquet(func() error {
		if err := p.r.nextGroup(p.nodes); err != nil {
			return err
		}
		rec = p.assemble()
		return nil
	})
	return rec, err
}

// A batch ends where it has as many rows, or takes as much memory: a row may hold
// a prompt of megabytes.
const (
	assembleRows  = 4096
	assembleBytes = 64 << 20
)

func (p *pqTrace) assemble() arrow.Record {
	builders := make([]array.Builder, len(p.nodes))
	for i := range builders {
		builders[i] = array.NewBuilder(memory.DefaultAllocator, p.schema.Field(i).Type)
	}
	rows := int64(0)
	for p.r.rows = 0; rows < min(p.r.left, assembleRows) && p.r.rows < assembleBytes; rows++ {
		for i, n := range p.nodes {
			p.r.startRow(n)
			p.r.append(builders[i], n)
		}
	}
	p.r.left -= rows
	arrays := make([]arrow.Array, len(builders))
	for i, b := range builders {
		arrays[i] = b.NewArray()
	}
	return array.NewRecord(p.schema, arrays, rows)
}

// append moves the next value of n into a builder.
func (r *pqReader) append(b array.Builder, n *pqNode) {
	switch b := b.(type) {
	case *array.ListBuilder:
		r.elements(n, func() { b.Append(true) }, b.AppendNull, func(e *pqNode) { r.append(b.ValueBuilder(), e) })
	case *array.StructBuilder:
		r.grow(1)
		if _, def, _ := r.chunk[n.leaf].peek(); def < n.def {
			b.AppendNull()
			r.skip(n)
			return
		}
		b.Append(true)
		for i, child := range n.children {
			r.append(b.FieldBuilder(i), child)
		}
	default:
		v, ok := r.chunk[n.leaf].take()
		r.grow(16 + int64(len(v.b)))
		if !ok {
			b.AppendNull()
			return
		}
		appendValue(b, n, v)
	}
}

func appendValue(b array.Builder, n *pqNode, v pqValue) {
	in := func(least, most int64) int64 {
		if v.n < least || v.n > most || n.typ == pqInt64 && n.unsigned && v.n < 0 {
			pqFail("column %q: %d is out of range", n.name, v.n)
		}
		return v.n
	}
	switch b := b.(type) {
	case *array.Int32Builder:
		b.Append(int32(in(-1<<31, 1<<31-1)))
	case *array.Int64Builder:
		b.Append(in(-1<<63, 1<<63-1))
	case *array.Uint32Builder:
		b.Append(uint32(in(0, 1<<32-1)))
	case *array.Uint64Builder:
		if v.n < 0 && !n.unsigned {
			pqFail("column %q: %d is out of range", n.name, v.n)
		}
		b.Append(uint64(v.n))
	case *array.BooleanBuilder:
		b.Append(v.n == 1)
	case *array.StringBuilder:
		b.Append(string(v.b))
	case *array.BinaryBuilder:
		b.Append(v.b)
	default:
		panic(errors.New("no such column"))
	}
}

func isParquet(f io.ReaderAt) bool {
	head := make([]byte, len(parquetMagic))
	_, err := f.ReadAt(head, 0)
	return err == nil && string(head) == parquetMagic
}

func openParquetFile(f *os.File, name string, size int64) (file *File, err error) {
	err = guardParquet(func() error {
		dec, err := newParquetDecoder(f, size)
		if err != nil {
			return err
		}
		file = &File{name: name, f: f, dec: dec, done: f.Close}
		file.meta, err = dec.meta()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return file, nil
}
