package formats

import (
	"encoding/binary"
	"io"
)

// frameHead is the length before each message of a file of the OpenTelemetry
// Collector's file exporter: 32 bits, most significant byte first.
const frameHead = 4

// frame returns the next message of a stream in which each follows its length. A
// message over the limit is skipped and reported as a rowError, and so is one
// that the stream ends in.
func (l *lines) frame() ([]byte, error) {
	head, err := l.r.Peek(frameHead)
	if len(head) == 0 {
		return nil, err
	}
	l.n++
	l.start = l.n
	if err != nil && err != io.EOF {
		return nil, err
	}
	l.long = append(l.long[:0], head...)
	if _, err := l.r.Discard(len(head)); err != nil {
		return nil, err
	}
	if len(l.long) < frameHead {
		return l.long, rejectf(HalfLine, "the file ends in the length of a message")
	}
	return l.message(int64(binary.BigEndian.Uint32(l.long)))
}

func (l *lines) message(size int64) ([]byte, error) {
	if size > int64(l.max) {
		_, err := io.CopyN(io.Discard, l.r, size)
		if err != nil && err != io.EOF {
			return nil, err
		}
		return l.long, rejectf(LongLine, "a message of %d bytes is longer than the limit of %d (MaxLine)", size, l.max)
	}
	// A hostile length must not be believed before its bytes have come.
	message, err := io.ReadAll(io.LimitReader(l.r, size))
	if err != nil {
		return nil, err
	}
	if int64(len(message)) < size {
		return message, rejectf(HalfLine, "the file ends %d bytes into a message of %d", len(message), size)
	}
	return message, nil
}
