package traces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"
)

// Limits on what a file may ask for before Arrow sees it: Arrow v17 allocates
// what a damaged length says, and no recover catches that.
const (
	maxMetadata   = 64 << 20
	maxBody       = 2 << 30
	maxBatchRows  = 1 << 24
	maxBatchBytes = 2 << 30 // of one batch, decompressed
	maxFields     = 512     // of the schema, nested ones counted
	maxFieldDepth = 8
	maxZstdWindow = 64 << 20
)

// What the format's own definitions (Message.fbs) call these.
const (
	messageSchema = 1
	messageDict   = 2
	messageBatch  = 3
	codecZstd     = 1
)

var errDamaged = errors.New("damaged Arrow message")

// guarded runs f on untrusted bytes and turns a panic into an error.
func guarded(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %s: %v", errDamaged, what, p)
		}
	}()
	return f()
}

// checkMetadata walks a message's flatbuffer and returns its header's type and
// the length of its body.
func checkMetadata(meta []byte) (header byte, body int64, err error) {
	err = guarded("metadata", func() error {
		msg := fbRoot(meta)
		header, body = msg.u8(1), msg.i64(3)
		if body < 0 || body > maxBody {
			return fmt.Errorf("%w: a body of %d bytes (the limit is %d)", errDamaged, body, maxBody)
		}
		if header != messageSchema {
			return nil
		}
		schema, ok := msg.table(2)
		if !ok {
			return fmt.Errorf("%w: no schema", errDamaged)
		}
		schema.tables(2)
		schema.vector(3, 8)
		n := 0
		return checkFields(schema.tables(1), 1, &n)
	})
	return header, body, err
}

func checkFields(fields []fbTable, depth int, n *int) error {
	if *n += len(fields); depth > maxFieldDepth || *n > maxFields {
		return fmt.Errorf("%w: more than %d columns, or nested deeper than %d", errDamaged, maxFields, maxFieldDepth)
	}
	for _, f := range fields {
		f.tables(6) // walking a vector checks its length, which Arrow allocates
		if err := checkFields(f.tables(5), depth+1, n); err != nil {
			return err
		}
	}
	return nil
}

// unpack holds a record or dictionary batch against its body (every buffer
// inside it, every size within the limit) and returns the body with its zstd
// buffers decompressed. The metadata then says where they are and, as the format
// provides for, that they are stored as they are. Arrow would decompress each
// through goroutines of its own, into whatever size the buffer claims.
func (m *messages) unpack(meta []byte, header byte, body []byte) (out []byte, err error) {
	err = guarded("batch", func() error {
		batch, size, err := checkBatch(meta, header, body)
		if err != nil {
			return err
		}
		m.ration.allow(size)
		if compression, ok := batch.table(3); !ok || compression.u8(0) != codecZstd {
			out = body
			return nil
		}
		buffers, _ := batch.vector(2, 16)
		if out, err = m.unpackBuffers(buffers, body, size); err != nil {
			return err
		}
		// What was rewritten may, in a hostile file, be something else too.
		_, _, err = checkBatch(meta, header, out)
		return err
	})
	return out, err
}

// checkBatch returns the batch of a message, and how many bytes it holds.
func checkBatch(meta []byte, header byte, body []byte) (batch fbTable, size int, err error) {
	batch, ok := fbRoot(meta).table(2)
	if header == messageDict && ok {
		batch, ok = batch.table(1)
	}
	if !ok {
		return batch, 0, fmt.Errorf("%w: no batch", errDamaged)
	}
	if err := checkCounts(batch); err != nil {
		return batch, 0, err
	}
	buffers, _ := batch.vector(2, 16)
	_, compressed := batch.table(3)
	size, err = unpackedSize(buffers, body, compressed)
	return batch, size, err
}

func checkCounts(batch fbTable) error {
	if rows := batch.i64(0); rows < 0 || rows > maxBatchRows {
		return fmt.Errorf("%w: a batch of %d rows (the limit is %d)", errDamaged, rows, maxBatchRows)
	}
	nodes, _ := batch.vector(1, 16)
	for ; len(nodes) > 0; nodes = nodes[16:] {
		length, nulls := le64(nodes), le64(nodes[8:])
		if length < 0 || length > maxBatchBytes || nulls < 0 || nulls > length {
			return fmt.Errorf("%w: a column of %d values, %d of them null", errDamaged, length, nulls)
		}
	}
	return nil
}

func (m *messages) unpackBuffers(buffers, body []byte, size int) (out []byte, err error) {
	out = make([]byte, 0, size)
	for ; len(buffers) > 0; buffers = buffers[16:] {
		from, n := le64(buffers), le64(buffers[8:])
		start := len(out)
		if n > 0 {
			if out, err = m.appendBuffer(out, body[from:from+n]); err != nil {
				return nil, err
			}
		}
		putLE64(buffers, int64(start))
		putLE64(buffers[8:], int64(len(out)-start))
		out = out[:align(len(out))]
	}
	return out, nil
}

const stored = -1 // instead of a buffer's size: what follows is not compressed

func (m *messages) appendBuffer(out, buf []byte) ([]byte, error) {
	size, frame := le64(buf), buf[8:]
	out = binary.LittleEndian.AppendUint64(out, math.MaxUint64)
	if size == stored {
		return append(out, frame...), nil
	}
	if m.zstd == nil {
		var err error
		m.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	end := len(out) + int(size)
	got, err := m.zstd.DecodeAll(frame, out[:len(out):end]) // in place: it may not grow
	if err == nil && len(got) != end {
		err = fmt.Errorf("a buffer of %d bytes, not %d", len(got)-len(out), size)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errDamaged, err)
	}
	return out[:end], nil
}

// batchGrace is how many bytes a batch may hold before the ratio to those stored counts:
// twice what a batch of ours does. (A variable for a test.)
var batchGrace int64 = 128 << 20

// unpackedSize adds up what the buffers claim, which must be possible: zstd
// packs at most a block of 128 KiB into four bytes.
func unpackedSize(buffers, body []byte, compressed bool) (int, error) {
	var total int64
	for ; len(buffers) > 0; buffers = buffers[16:] {
		from, n := le64(buffers), le64(buffers[8:])
		buf, size := body[from:from+n], n
		if compressed && n > 0 {
			if size = le64(buf); size == stored {
				size = n
			}
		}
		if size < 0 || size > n<<15 {
			return 0, fmt.Errorf("%w: a buffer of %d bytes claims to hold %d", errDamaged, n, size)
		}
		if total = int64(align(int(total + size + 8))); total > maxBatchBytes {
			return 0, fmt.Errorf("%w: more than %d bytes in one batch", errDamaged, maxBatchBytes)
		}
	}
	if total > batchGrace && total > maxRatio*int64(len(body)) {
		return 0, fmt.Errorf("%w: a batch of %d bytes in %d stored ones: the limit is %d for each; is this a decompression bomb?",
			errDamaged, total, len(body), maxRatio)
	}
	return int(total), nil
}

func align(n int) int { return (n + 63) &^ 63 }

func le64(b []byte) int64       { return int64(binary.LittleEndian.Uint64(b)) }
func putLE64(b []byte, v int64) { binary.LittleEndian.PutUint64(b, uint64(v)) }
