package traces

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A rationed allocator refuses, by a panic that a reader of untrusted bytes turns
// into an error, what takes more than the preflight saw that a batch holds: Arrow does
// not ask whether a buffer that the schema makes it look for is in the message, and
// reads what stands behind the last; and no recover catches an allocation of terabytes.
type rationed struct {
	memory.GoAllocator
	left int64
}

const rationSlack = 16 << 20 // beside what a batch holds

// allow is for a batch that holds so many bytes.
func (l *rationed) allow(bytes int) { l.left = int64(bytes) + rationSlack }

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
