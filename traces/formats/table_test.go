package formats

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// Without quotes, a row is cut at its commas, wherever they stand.
func TestCut(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := []byte(",,,-+ab\x00\xac\xff!#")
	tab := table{lines: new(lines)}
	for range 20000 {
		row := make([]byte, 60)
		for i := range row {
			row[i] = letters[rnd.IntN(len(letters))]
		}
		row = row[: rnd.IntN(40) : 40+rnd.IntN(20)] // others stand behind it, or nothing
		tab.lines.plain = rnd.IntN(2) == 0
		want := bytes.Split(row, []byte(","))
		if err := tab.cut(row); err != nil || !slices.EqualFunc(tab.fields, want, bytes.Equal) {
			t.Fatalf("%q: %q, %v", row, tab.fields, err)
		}
	}
	tab.lines.plain = false
	// A quote at any place is seen, whatever stands before it.
	for i := range 20 {
		row := append(bytes.Repeat([]byte("x,"), i), `"a,b",c`...)
		if err := tab.cut(row); err != nil || len(tab.fields) != i+2 || string(tab.fields[i]) != "a,b" {
			t.Errorf("%s: %q, %v", row, tab.fields, err)
		}
	}
}
