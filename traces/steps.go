package traces

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/huff0"
)

// Numbers that ascend, such as those of rows, take zstd's own encoder longer than
// all else of a trace, and yet differ from an earlier one in a byte or two. Here they
// are packed as the frame (RFC 8878) of just that: as many bytes that differ, as many
// that repeat those a fixed distance back, over and over. Where every sequence of a
// block is the same, its three codes are told once and none takes a bit.

const (
	zstdBlock    = 128 << 10 // that a block may hold
	nearDistance = 1         // values back
	farDistance  = 256       // where numbers that count on have the same low byte
	minMatch     = 3
)

// beginFrame begins a frame of one segment, of a size in four bytes.
func beginFrame(out []byte, size int) []byte {
	out = append(binary.LittleEndian.AppendUint32(out, 0xfd2fb528), 0xa0)
	return binary.LittleEndian.AppendUint32(out, uint32(size))
}

// endOfFrame is a last block without anything in it.
var endOfFrame = []byte{1, 0, 0}

// rawBlock adds a block of bytes as they are.
func rawBlock(out, bytes []byte) []byte {
	n := len(bytes)
	return append(append(out, byte(n<<3), byte(n>>5), byte(n>>13)), bytes...)
}

// endBlock writes the header of a packed block, for which three bytes were left.
func endBlock(out []byte, header int) []byte {
	n := len(out) - header - 3
	out[header], out[header+1], out[header+2] = byte(n<<3|2<<1), byte(n>>5), byte(n>>13)
	return out
}

// A stepsPacker makes frames of numbers of a width.
type stepsPacker struct {
	width    int
	src, out []byte
	at       int // bytes of src that are in out
	distance int // that the last match had, in bytes
	literals []byte
	huff     huff0.Scratch
}

// A stepsRun is values that all differ alike from those before them.
type stepsRun struct {
	from, to int  // values
	distance int  // in values; 0: they do not
	low, n   int  // the bytes of a value that differ
	same     bool // these are the same in all of them
}

// packSteps appends a zstd frame of src to out. It returns out as it was, and false,
// where the numbers do not ascend in such steps.
func packSteps(out, src []byte, width int) ([]byte, bool) {
	p := &stepsPacker{width: width, src: src, out: beginFrame(out, len(src))}
	p.huff.Reuse = huff0.ReusePolicyNone
	start, values := len(p.out), len(src)/width
	for i := 0; i < values; {
		run := p.run(i, values)
		for run.distance == nearDistance && run.to < values && (run.to-run.from)*width < zstdBlock/2 {
			next := p.run(run.to, values)
			if next.distance != run.distance || next.n != run.n {
				break
			}
			run.to = next.to
		}
		p.put(run)
		if i = run.to; len(p.out)-start > i*width*3/4+1024 {
			return out, false
		}
	}
	p.raw(len(src))
	if len(p.out)-start > len(src)*3/4 {
		return out, false
	}
	return append(p.out, endOfFrame...), true
}

func (p *stepsPacker) value(i int) uint64 {
	if p.width == 4 {
		return uint64(binary.LittleEndian.Uint32(p.src[4*i:]))
	}
	return binary.LittleEndian.Uint64(p.src[8*i:])
}

// run takes a few values from i on, up to where the low byte of one that counts on
// wraps.
func (p *stepsPacker) run(i, values int) stepsRun {
	r := stepsRun{from: i, to: min(i+farDistance, values)}
	if r.to > i+1 && p.value(i+1)-p.value(i) == 1 {
		r.to = min(r.to, i+farDistance-int(p.value(i)&(farDistance-1)))
	}
	var near, far, changes uint64
	if i >= farDistance {
		for j := i; j < r.to; j++ {
			v := p.value(j)
			far |= v ^ p.value(j-farDistance)
			changes |= v ^ p.value(i)
		}
		if far != 0 && far>>16 == 0 && far&0xff == 0 {
			r.distance, r.low, r.n, r.same = farDistance, 1, 1, changes>>8&0xff == 0
			return r
		}
	}
	if i >= nearDistance {
		for j := i; j < r.to; j++ {
			near |= p.value(j) ^ p.value(j-nearDistance)
		}
		if n := (bits.Len64(near) + 7) / 8; n > 0 && n <= p.width-minMatch {
			r.distance, r.n = nearDistance, n
		}
	}
	return r
}

// put writes a run as blocks. Where its values do not repeat others they are left to
// whoever comes next.
func (p *stepsPacker) put(r stepsRun) {
	begin, n := r.from*p.width+r.low, r.to-r.from
	if r.distance == farDistance { // the last match reaches into the value behind the run
		if behind := r.to * p.width; behind == len(p.src) || p.src[behind] != p.src[behind-farDistance*p.width] {
			n--
		}
	}
	if begin < p.at { // as that of the run before did
		begin += p.width
		n--
	}
	if r.distance == 0 || n <= 0 {
		return
	}
	p.raw(begin)
	if distance := r.distance * p.width; p.distance != distance {
		p.matches(r, 1, distance)
		p.distance = distance
		n--
	}
	if n > 0 {
		p.matches(r, n, 0)
	}
}

// raw writes what comes before to as it is.
func (p *stepsPacker) raw(to int) {
	for p.at < to {
		n := min(to-p.at, zstdBlock)
		p.out = rawBlock(p.out, p.src[p.at:p.at+n])
		p.at += n
	}
}

// matches writes a block of n sequences: the bytes that differ, and the match up to
// those of the next. A distance of 0 is that of the match before.
func (p *stepsPacker) matches(r stepsRun, n, distance int) {
	header := len(p.out)
	p.out = append(p.out, 0, 0, 0)
	p.putLiterals(r, n)
	switch {
	case n < 128:
		p.out = append(p.out, byte(n))
	case n < 0x7f00:
		p.out = append(p.out, byte(n>>8+128), byte(n))
	default:
		p.out = append(p.out, 255, byte(n-0x7f00), byte((n-0x7f00)>>8))
	}
	// Each of the three codes is one for all: the first offset has its low bits in the
	// bit stream, which is otherwise no more than the mark of its end.
	offset, stream := 0, uint32(1)
	if distance > 0 {
		offset = bits.Len(uint(distance+3)) - 1
		stream = uint32(distance + 3)
	}
	p.out = append(p.out, 0x54, byte(r.n), byte(offset), byte(p.width-r.n-minMatch), byte(stream))
	for stream >>= 8; stream > 0; stream >>= 8 {
		p.out = append(p.out, byte(stream))
	}
	p.out = endBlock(p.out, header)
	p.at += n * p.width
}

// putLiterals writes the bytes that differ of n values.
func (p *stepsPacker) putLiterals(r stepsRun, n int) {
	size := n * r.n
	if r.same {
		p.out = append(p.out, byte(1|3<<2|size<<4), byte(size>>4), byte(size>>12), p.src[p.at])
		return
	}
	p.literals = slices.Grow(p.literals[:0], size+8)[:size+8]
	for i, from := 0, p.at; i < size; i, from = i+r.n, from+p.width {
		if from+8 > len(p.src) {
			copy(p.literals[i:], p.src[from:from+r.n])
			continue
		}
		copy(p.literals[i:i+8], p.src[from:from+8]) // of which the next overwrites what is not wanted
	}
	p.literals = p.literals[:size]
	if r.distance == farDistance && size > 1 {
		if packed, _, err := huff0.Compress1X(p.literals, &p.huff); err == nil {
			h := 2 | size<<4 | len(packed)<<14
			p.out = append(append(p.out, byte(h), byte(h>>8), byte(h>>16)), packed...)
			return
		}
	}
	p.out = append(append(p.out, byte(3<<2|size<<4), byte(size>>4), byte(size>>12)), p.literals...)
}
