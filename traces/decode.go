package traces

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/zstd"
)

var arrowMagic = []byte("ARROW1\x00\x00")

// messages frames the messages of an Arrow file that is read from its start,
// and lets Arrow see only those that passed the preflight.
type messages struct {
	ration  *rationed // of Arrow, which reads them
	r       io.Reader
	msg     *ipc.Message
	started bool
	batches int
	zstd    *zstd.Decoder
}

// Retain implements ipc.MessageReader.
func (m *messages) Retain() {}

// Release implements ipc.MessageReader.
func (m *messages) Release() {}

// Message implements ipc.MessageReader.
func (m *messages) Message() (*ipc.Message, error) {
	n, err := m.length()
	if err != nil {
		return nil, err
	}
	meta, err := m.bytes(int64(n))
	if err != nil {
		return nil, err
	}
	header, size, err := checkMetadata(meta)
	if err != nil {
		return nil, err
	}
	if !m.started && header != messageSchema || m.started && header != messageBatch && header != messageDict {
		return nil, fmt.Errorf("%w: of type %d", errDamaged, header)
	}
	m.started = true
	body, err := m.bytes(size)
	if err != nil {
		return nil, err
	}
	if header != messageSchema {
		m.batches++
		if body, err = m.unpack(meta, header, body); err != nil {
			return nil, err
		}
	}
	m.msg = ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body))
	return m.msg, nil
}

// length reads the prefix of a message: io.EOF at the end-of-stream mark, or
// where the file stops.
func (m *messages) length() (int32, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(m.r, prefix[:]); err != nil {
		return 0, ended(err)
	}
	if binary.LittleEndian.Uint32(prefix[:]) != 0xffffffff {
		// Some writers leave the end-of-stream mark out, and the footer, which
		// cannot begin like this, follows at once.
		return 0, io.EOF
	}
	n := int32(binary.LittleEndian.Uint32(prefix[4:]))
	if n == 0 {
		return 0, io.EOF
	}
	if n < 0 || n > maxMetadata {
		return 0, fmt.Errorf("%w: metadata of %d bytes (the limit is %d)", errDamaged, n, maxMetadata)
	}
	return n, nil
}

// bytes reads n bytes in steps, so that a false length costs no more memory
// than the file has.
func (m *messages) bytes(n int64) ([]byte, error) {
	const step = 1 << 20
	buf := make([]byte, 0, min(n, step))
	for int64(len(buf)) < n {
		from := len(buf)
		buf = append(buf, make([]byte, min(n-int64(from), max(step, int64(from))))...)
		if _, err := io.ReadFull(m.r, buf[from:]); err != nil {
			return nil, ended(err)
		}
	}
	return buf, nil
}

// ended is where a killed writer's file stops. File compares the batches with
// the footer, if there is one, so that a false length loses nothing silently.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// A decoder reads the Records of an Arrow file from its start.
type decoder struct {
	msgs   *messages
	ipc    *ipc.Reader
	schema *arrow.Schema
	fetch  func() (arrow.Record, error) // the next batch
	row    int
	rows   int
	always []func(*Record, int) // setters of columns without nulls in this batch
	maybe  []nullable
	total  int64
}

type nullable struct {
	arr arrow.Array
	set func(*Record, int)
}

func newDecoder(r io.Reader) (*decoder, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var magic [8]byte
	if _, err := io.ReadFull(br, magic[:]); err != nil || string(magic[:]) != string(arrowMagic) {
		return nil, errNotArrow
	}
	d := &decoder{msgs: &messages{r: br, ration: &rationed{left: rationSlack}}}
	var err error
	if d.ipc, err = ipc.NewReaderFromMessageReader(d.msgs, ipc.WithAllocator(d.msgs.ration)); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	d.schema, d.fetch = d.ipc.Schema(), d.ipc.Read
	return d, d.checkSchema()
}

// checkSchema says no to a table that is not a trace, and to one of a later version.
func (d *decoder) checkSchema() error {
	schema := d.schema
	if v, ok := schema.Metadata().GetValue(schemaKey); ok && v != schemaVersion {
		return fmt.Errorf("trace schema %q is not known to this version (it reads %s)", v, schemaVersion)
	}
	for _, name := range requiredColumns {
		if !schema.HasField(name) {
			return fmt.Errorf("an Arrow file, but not a trace: it has no column %q", name)
		}
	}
	for _, f := range schema.Fields() {
		if i, ok := columnIndex[f.Name]; ok && !sameShape(f.Type, columns[i].typ) {
			return fmt.Errorf("column %q is %s, not %s", f.Name, f.Type, columns[i].typ)
		}
	}
	return nil
}

// sameShape compares types by what the readers of columns need: names of
// fields, nullability and the flavour of a string do not matter.
func sameShape(a, b arrow.DataType) bool {
	if isText(a) && isText(b) {
		return true
	}
	an, aNested := a.(arrow.NestedType)
	bn, bNested := b.(arrow.NestedType)
	if !aNested || !bNested {
		return a.ID() == b.ID()
	}
	af, bf := an.Fields(), bn.Fields()
	if a.ID() != b.ID() || len(af) != len(bf) {
		return false
	}
	for i := range af {
		if !sameShape(af[i].Type, bf[i].Type) {
			return false
		}
	}
	return true
}

func isText(t arrow.DataType) bool {
	id := t.ID()
	return id == arrow.STRING || id == arrow.LARGE_STRING || id == arrow.STRING_VIEW
}

func (d *decoder) meta() (Meta, error) { return parseMeta(d.schema.Metadata()) }

func parseMeta(md arrow.Metadata) (m Meta, err error) {
	js, ok := md.GetValue(metaKey)
	if !ok {
		return m, nil
	}
	if err := json.Unmarshal([]byte(js), &m); err != nil {
		return m, fmt.Errorf("metadata %s: %w", metaKey, err)
	}
	return m, nil
}

// Read fills rec with the next row.
func (d *decoder) Read(rec *Record) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("row %d: %w: %v", d.total, errDamaged, p)
		}
	}()
	for d.row == d.rows {
		if err := d.next(); err != nil {
			return err
		}
	}
	*rec = Record{}
	for _, set := range d.always {
		set(rec, d.row)
	}
	for _, c := range d.maybe {
		if !c.arr.IsNull(d.row) {
			c.set(rec, d.row)
		}
	}
	d.row++
	d.total++
	return nil
}

func (d *decoder) next() error {
	batch, err := d.fetch()
	if err != nil {
		return err
	}
	d.row, d.rows = 0, int(batch.NumRows())
	d.always, d.maybe = d.always[:0], d.maybe[:0]
	for i, f := range batch.Schema().Fields() {
		k, ok := columnIndex[f.Name]
		arr := batch.Column(i)
		switch {
		case !ok || d.rows == 0:
		case arr.NullN() == 0:
			d.always = append(d.always, columns[k].bind(arr))
		case slices.Contains(requiredColumns, f.Name):
			return fmt.Errorf("column %q has a null after row %d; it must have none", f.Name, d.total)
		case arr.NullN() < d.rows:
			d.maybe = append(d.maybe, nullable{arr, columns[k].bind(arr)})
		}
	}
	return nil
}

var requiredColumns = []string{"seq", "arrival_ns", "status"}
