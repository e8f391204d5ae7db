package formats

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes of text are one word here, the first of them the lowest.
const (
	ones  = 0x0101010101010101
	zeros = '0' * ones
)

// wordAt returns eight bytes of row from i on, zeros behind its end. What stands there
// is mostly the next row.
func wordAt(row []byte, i int) uint64 {
	if i+8 <= len(row) {
		return binary.LittleEndian.Uint64(row[i:])
	}
	rest := len(row) - i
	if i+8 <= cap(row) {
		return binary.LittleEndian.Uint64(row[i:i+8]) & (1<<(8*rest) - 1)
	}
	var last [8]byte
	copy(last[:], row[i:])
	return binary.LittleEndian.Uint64(last[:])
}

// leadingDigits returns how many bytes of word are digits before one that is none.
func leadingDigits(word uint64) int {
	const upper = 0xf0 * ones
	other := (word&upper ^ zeros) | ((word+6*ones)&upper ^ zeros) // a carry comes from no digit
	return bits.TrailingZeros64(other) / 8
}

// eightDigits returns the number that the first n bytes of word are, which are digits:
// they become twos, fours and eight of digits, as in simdjson and fast_float.
func eightDigits(word uint64, n int) int64 {
	word = (word ^ zeros) << (8 * (8 - n)) // zeros in front
	word = word*10 + word>>8               // twos of digits, in every other byte
	const mask = 0xff | 0xff<<32
	return int64((word&mask*(100+1_000_000<<32) + word>>16&mask*(1+10_000<<32)) >> 32)
}
