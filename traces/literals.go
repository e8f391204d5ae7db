package traces

import "github.com/klauspost/compress/huff0"

// packLiterals appends a zstd frame of src to out in which bytes are coded by how
// often they come, and no repetition is looked for: of small numbers without an order,
// such as token counts, there is hardly any, and to look for it takes five times as
// long.
func packLiterals(out, src []byte) []byte {
	out = beginFrame(out, len(src))
	huff := huff0.Scratch{Reuse: huff0.ReusePolicyNone}
	for len(src) > 0 {
		n := min(len(src), zstdBlock)
		packed, _, err := huff0.Compress4X(src[:n], &huff)
		const told = 6                           // bytes that tell of them
		if err != nil || len(packed)+told >= n { // they are all one byte, or come alike often; no block may outgrow its content
			out = rawBlock(out, src[:n])
		} else {
			header, size := len(out), 2|3<<2|n<<4|len(packed)<<22
			out = append(out, 0, 0, 0, byte(size), byte(size>>8), byte(size>>16), byte(size>>24), byte(size>>32))
			out = endBlock(append(append(out, packed...), 0), header) // no sequences
		}
		src = src[n:]
	}
	return append(out, endOfFrame...)
}
