package traces

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// The messages of an Arrow file. Arrow's own writer packs every buffer of every
// column with one encoder at one level, and cannot be given buffers that are packed
// already; the flatbuffers of what little a trace needs are always of one shape
// (Message.fbs, File.fbs), so that they are written as they lie.

const (
	metadataV5 = 4
	blockSize  = 24 // of a Block in the footer
)

// endOfStream lets the file be read as a stream too.
var endOfStream = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// framed puts a message's prefix before it.
func framed(message []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32((len(message)+7)&^7))
	b = append(b, message...)
	return append(b, make([]byte, -len(b)&7)...)
}

// schemaMessage returns the flatbuffer of the schema of a set of columns.
func schemaMessage(set columnSet, m Meta) ([]byte, error) {
	schema, err := schemaOf(set, m)
	if err != nil {
		return nil, err
	}
	var stream bytes.Buffer
	if err := ipc.NewWriter(&stream, ipc.WithSchema(schema)).Close(); err != nil {
		return nil, err
	}
	return stream.Bytes()[8 : stream.Len()-len(endOfStream)], nil
}

// A flat is a flatbuffer that is written from its start to its end.
type flat []byte

func (f *flat) u16(values ...int) {
	for _, v := range values {
		*f = binary.LittleEndian.AppendUint16(*f, uint16(v))
	}
}

func (f *flat) u32(values ...int) {
	for _, v := range values {
		*f = binary.LittleEndian.AppendUint32(*f, uint32(v))
	}
}

func (f *flat) i64(values ...int64) {
	for _, v := range values {
		*f = binary.LittleEndian.AppendUint64(*f, uint64(v))
	}
}

// batchMessage returns the message of a record batch: of every vector in it its rows
// and nulls, and of every buffer where it lies in the body, and its length.
func batchMessage(rows int64, nodes, buffers []int64, body int64) []byte {
	var f flat
	f.u32(16)                         // to the message at 16, whose fields are at:
	f.u16(12, 24, 16, 18, 4, 8)       // version, type of header, header, length of body
	f.u32(12, 52-20)                  // back to these; the header is at 52
	f.i64(body)                       //
	f.u16(metadataV5)                 //
	f.u16(messageBatch, 0, 0)         //
	f.u16(12, 24, 4, 12, 16, 20)      // of a batch: rows, nodes, buffers, compression
	f.u32(12)                         //
	f.i64(rows)                       //
	f.u32(92 - 64)                    // nodes at 92,
	f.u32(96 + 8*len(nodes) + 4 - 68) // buffers behind them,
	f.u32(84 - 72)                    // compression at 84
	f.u16(8, 6, 4, 5)                 // of a compression: codec, method
	f.u32(8)                          //
	f.u16(codecZstd, 0)               // each buffer by itself
	f.u32(len(nodes) / 2)
	f.i64(nodes...)
	f.u32(0, len(buffers)/2)
	f.i64(buffers...)
	return f
}

// footer returns the footer of a file: where its batches lie, and its schema once
// more, which is taken out of its message.
func footer(schema []byte, batches []ipcBlock) []byte {
	table, _ := fbRoot(schema).table(2)
	schemaAt := 48 + blockSize*len(batches) + table.pos
	var f flat
	f.u32(16)                     // to the footer at 16, whose fields are at:
	f.u16(12, 20, 16, 4, 8, 12)   // version, schema, dictionaries, batches
	f.u32(12, schemaAt-20, 36-24) //
	f.u32(44 - 28)                //
	f.u16(metadataV5, 0)          //
	f.u32(0, 0, len(batches))     // no dictionaries
	for _, b := range batches {
		f.i64(b.at, b.head, b.body)
	}
	return append(f, schema...)
}
