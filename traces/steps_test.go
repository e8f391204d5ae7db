package traces

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func numbers(width int, values []uint64) (b []byte) {
	for _, v := range values {
		b = append(b, binary.LittleEndian.AppendUint64(nil, v)[:width]...)
	}
	return b
}

// counting returns n numbers from one on, each more than the one before by what step
// says.
func counting(n int, from uint64, step func(i int) uint64) (values []uint64) {
	for i := range n {
		values = append(values, from)
		from += step(i)
	}
	return values
}

func by(step uint64) func(int) uint64 { return func(int) uint64 { return step } }

// What is packed by steps is what any reader of zstd finds, and ascending numbers
// are packed to little.
func TestPackSteps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		width int
		from  uint64
		step  func(int) uint64
		size  float64 // of the whole, at most; 0: it is not packed
	}{
		{"seq", 8, 0, by(1), 0.02},
		{"seq of a later batch", 8, 7 << 16, by(1), 0.02},
		{"lines", 8, 2, by(1), 0.02},
		{"lines with holes", 8, 99, func(i int) uint64 { return 1 + uint64(i%1000/999) }, 0.2},
		{"every other line", 8, 2, by(2), 0.2},
		{"ends of one word", 4, 0, by(7), 0.35},
		{"ends of long words", 4, 0, by(32), 0.35},
		{"arrivals", 8, 0, func(int) uint64 { return rnd.Uint64N(1e9) }, 0.7},
		{"arrivals at once", 8, 1 << 40, func(i int) uint64 { return uint64(i % 2 * 1000) }, 0.6},
		{"ends of any word", 4, 0, func(int) uint64 { return rnd.Uint64N(40) }, 0},
		{"noise", 8, 0, func(int) uint64 { return rnd.Uint64() }, 0},
		{"nothing", 8, 5, by(0), 0},
	} {
		for _, n := range []int{0, 1, 2, 255, 256, 257, 600, 30000, batchRows} {
			src := numbers(tt.width, counting(n, tt.from, tt.step))
			out, ok := packSteps([]byte("ahead"), src, tt.width)
			if n == batchRows && ok != (tt.size > 0) {
				t.Errorf("%s: packed %v", tt.name, ok)
			}
			if !ok {
				if string(out) != "ahead" {
					t.Errorf("%s, %d: left %q", tt.name, n, out)
				}
				continue
			}
			if n == batchRows && float64(len(out)) > tt.size*float64(len(src)) {
				t.Errorf("%s: %d bytes of %d", tt.name, len(out), len(src))
			}
			got, err := dec.DecodeAll(out[len("ahead"):], nil)
			if err != nil || !bytes.Equal(got, src) {
				t.Errorf("%s, %d: %d bytes of %d, %v", tt.name, n, len(got), len(src), err)
			}
		}
	}
}

// Whatever the numbers are, what is packed is what comes back.
func FuzzPackSteps(f *testing.F) {
	f.Add(uint64(1), uint64(250), uint8(0), uint16(700), true)
	f.Add(uint64(2), uint64(1)<<63, uint8(3), uint16(3000), false)
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, seed, from uint64, shape uint8, n uint16, wide bool) {
		rnd, width := rand.New(rand.NewPCG(seed, 1)), 4
		if wide {
			width = 8
		}
		src := numbers(width, counting(int(n), from, func(i int) uint64 {
			switch {
			case rnd.IntN(1+100*int(shape&3)) > 0:
				return 1 + uint64(shape>>5)
			case shape&4 != 0:
				return rnd.Uint64N(1 << (shape >> 2))
			}
			return uint64(shape)
		}))
		out, ok := packSteps(nil, src, width)
		if !ok {
			return
		}
		if err := frameError(out, len(src)); err != nil {
			t.Error(err)
		}
		if got, err := dec.DecodeAll(out, nil); err != nil || !bytes.Equal(got, src) {
			t.Errorf("%d bytes of %d, %v", len(got), len(src), err)
		}
	})
}
