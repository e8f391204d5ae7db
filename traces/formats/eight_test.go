package formats

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// Numbers are read eight digits at a time as strconv reads them one by one, whatever
// stands behind them.
func TestDigits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := []byte("0123456789012345678901234567890123456789/:.-+ \x00\xb0\xff")
	for range 200_000 {
		text := make([]byte, 32)
		for i := range text {
			text[i] = letters[rnd.IntN(len(letters))]
		}
		text = text[: rnd.IntN(21) : 21+rnd.IntN(11)]
		n, ok := digits(text)
		want, err := strconv.ParseUint(string(text), 10, 63)
		if ok != (err == nil && len(text) <= 19) || ok && n != int64(want) {
			t.Fatalf("%q: %d, %v; strconv says %d, %v", text, n, ok, want, err)
		}
		ns, rest := parseFraction(append([]byte("."), text...))
		if wantNS, wantRest := fraction(text); ns != wantNS || string(rest) != wantRest {
			t.Fatalf(".%q: %d ns and %q, want %d and %q", text, ns, rest, wantNS, wantRest)
		}
	}
}

// fraction reads the decimals of a second one by one.
func fraction(text []byte) (ns int64, rest string) {
	unit := int64(1e8)
	for i, c := range text {
		if c < '0' || c > '9' {
			if i == 0 {
				return 0, "." + string(text)
			}
			return ns, string(text[i:])
		}
		ns += int64(c-'0') * unit
		unit /= 10
	}
	if len(text) == 0 {
		return 0, "."
	}
	return ns, ""
}
