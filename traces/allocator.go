package traces

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A rationed allocator refuses, by a panic that a reader of untrusted bytes turns
// into an error, what would take more than one batch may. The preflight holds the
// sizes that a batch claims against its bytes; this stands behind it, for no recover
// catches an allocation of terabytes.
type rationed struct {
	memory.GoAllocator
	left int64
}

func newRationed() *rationed { return &rationed{left: 2 * maxBatchBytes} } // the next batch is read while one is held

func (l *rationed) take(n int) {
	if n < 0 || int64(n) > l.left {
		panic(fmt.Sprintf("%d bytes are asked for, and %d may be had", n, l.left))
	}
	l.left -= int64(n)
}

// Allocate returns n bytes.
func (l *rationed) Allocate(n int) []byte {
	l.take(n)
	return l.GoAllocator.Allocate(n)
}

// Reallocate returns n bytes that begin with those of b.
func (l *rationed) Reallocate(n int, b []byte) []byte {
	l.take(n)
	l.left += int64(len(b))
	return l.GoAllocator.Reallocate(n, b)
}

// Free gives b back.
func (l *rationed) Free(b []byte) { l.left += int64(len(b)) }
