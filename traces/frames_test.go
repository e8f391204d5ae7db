package traces

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// numberShapes are what the numbers of a column may be like: the i-th of them.
func numberShapes(rnd *rand.Rand) map[string]func(i int) uint64 {
	return map[string]func(i int) uint64{
		"zeros":           func(int) uint64 { return 0 },
		"one number":      func(int) uint64 { return 0x0102030405060708 },
		"all bits":        func(int) uint64 { return math.MaxUint64 },
		"up by one":       func(i int) uint64 { return uint64(i) },
		"up by one, late": func(i int) uint64 { return 1<<31 - 300 + uint64(i) },
		"up by seven":     func(i int) uint64 { return 7 * uint64(i) },
		"up by 256":       func(i int) uint64 { return 256 * uint64(i) },
		"up by 65,537":    func(i int) uint64 { return 65537 * uint64(i) },
		"wrapping":        func(i int) uint64 { return math.MaxUint64 - 700 + uint64(i) },
		"wrapping fast":   func(i int) uint64 { return uint64(i) << 40 },
		"down by one":     func(i int) uint64 { return 1<<20 - uint64(i) },
		"down and down":   func(i int) uint64 { return math.MaxUint64 - 77777*uint64(i) },
		"sawtooth":        func(i int) uint64 { return uint64(i % 300) },
		"few bits":        func(int) uint64 { return rnd.Uint64N(3) },
		"small":           func(int) uint64 { return rnd.Uint64N(3000) },
		"uneven":          func(int) uint64 { return uint64(math.Exp(5 * rnd.NormFloat64())) },
		"all but noise":   func(int) uint64 { return rnd.Uint64() &^ (rnd.Uint64() & rnd.Uint64() & rnd.Uint64() & rnd.Uint64()) },
		"noise":           func(int) uint64 { return rnd.Uint64() },
		"mostly up":       func(i int) uint64 { return uint64(i) + rnd.Uint64N(1+rnd.Uint64N(2)*300) },
		"extremes":        func(i int) uint64 { return math.MaxUint64 * uint64(i&1) },
	}
}

// frameError holds a frame to what RFC 8878 asks of one whose content is its window:
// the length it tells is that of its blocks, of which none is longer than 128 KiB or
// than the window, whether packed or not; and the last is marked and ends it.
func frameError(frame []byte, size int) error {
	if len(frame) < 9 || binary.LittleEndian.Uint32(frame) != 0xfd2fb528 || frame[4] != 0xa0 || binary.LittleEndian.Uint32(frame[5:]) != uint32(size) {
		return fmt.Errorf("begins % x", frame[:min(len(frame), 9)])
	}
	for rest := frame[9:]; len(rest) >= 3; {
		header := int(rest[0]) | int(rest[1])<<8 | int(rest[2])<<16
		last, kind, n := header&1 == 1, header>>1&3, header>>3
		switch rest = rest[3:]; {
		case kind != 0 && kind != 2:
			return fmt.Errorf("a block of kind %d", kind)
		case n > min(size, 128<<10) || n > len(rest):
			return fmt.Errorf("a block of %d bytes, kind %d, of a content of %d", n, kind, size)
		case last && n == len(rest):
			return nil
		case last:
			return fmt.Errorf("%d bytes behind the end", len(rest)-n)
		}
		rest = rest[n:]
	}
	return fmt.Errorf("no last block")
}

// packed is a frame and what it is of.
type packed struct {
	name       string
	frame, src []byte
}

func packedShapes(t *testing.T) (all []packed) {
	rnd := rand.New(rand.NewPCG(8, 9))
	shapes := numberShapes(rnd)
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		shape := shapes[name]
		for _, rows := range []int{1, 2, 3, 7, 12, 40, 255, 256, 257, 1000 + rnd.IntN(9000), 16385, batchRows + 1} {
			for _, width := range []int{4, 8} {
				var values []uint64
				for i := range rows {
					values = append(values, shape(i))
				}
				src := numbers(width, values)
				name := fmt.Sprintf("%s, %d of width %d", name, rows, width)
				all = append(all, packed{name + ", literals", packLiterals(nil, src), src})
				if frame, ok := packSteps(nil, src, width); ok {
					all = append(all, packed{name + ", steps", frame, src})
				}
			}
		}
	}
	for range 2000 { // where what coding saves is about what it costs to tell
		src := make([]byte, 4+4*rnd.IntN(300))
		for i, kinds := 0, 2+rnd.IntN(255); i < len(src); i++ {
			src[i] = byte(rnd.IntN(kinds))
		}
		all = append(all, packed{fmt.Sprintf("%d bytes", len(src)), packLiterals(nil, src), src})
	}
	return all
}

// Whatever the numbers of a column are, their frame is a valid one of theirs: to the
// letter of the RFC, to the decoder that reads traces here, and to the C library that
// reads them elsewhere.
func TestFrames(t *testing.T) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	all := packedShapes(t)
	var file []byte
	for _, p := range all {
		if err := frameError(p.frame, len(p.src)); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if got, err := dec.DecodeAll(p.frame, nil); err != nil || !bytes.Equal(got, p.src) {
			t.Errorf("%s: %d bytes of %d, %v", p.name, len(got), len(p.src), err)
		}
		sum := sha256.Sum256(p.src)
		file = binary.LittleEndian.AppendUint32(file, uint32(len(p.src)))
		file = binary.LittleEndian.AppendUint32(file, uint32(len(p.frame)))
		file = append(append(file, sum[:]...), p.frame...)
	}
	python := os.Getenv("WAVETANK_TEST_PYTHON")
	if python == "" {
		t.Skip("SKIPPED in part: WAVETANK_TEST_PYTHON does not name a Python with pyarrow, for C's zstd")
	}
	path := filepath.Join(t.TempDir(), "frames")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, filepath.Join("testdata", "frames.py"), path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
