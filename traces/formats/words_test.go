package formats

import (
	"fmt"
	"strings"
	"testing"

	"wavetank/traces"
)

// However many words a column has, each row gets its own.
func TestWordsAreThoseOfTheRow(t *testing.T) {
	var w words
	for i := range 10_000 {
		for _, word := range []string{fmt.Sprintf("u-%d", i*i%1999), "model", strings.Repeat("ü", i%100+1)} {
			b := []byte(word)
			var o traces.Opt[string]
			if err := w.set(&o, b); err != nil || o != traces.Some(word) {
				t.Fatalf("%q: %+v, %v", word, o, err)
			}
			clear(b)
			if o.V != word {
				t.Fatalf("%q changed with the row", word)
			}
		}
	}
	for _, word := range []string{"", "-", "null", "\xff"} {
		var o traces.Opt[string]
		if err := w.set(&o, []byte(word)); o.Known || (err != nil) != (word == "\xff") {
			t.Errorf("%q: %+v, %v", word, o, err)
		}
	}
}

// A word that comes again is not copied again.
func TestWordsThatComeAgainAreKept(t *testing.T) {
	var w words
	var o traces.Opt[string]
	b := []byte("a model of some length")
	if n := testing.AllocsPerRun(100, func() { _ = w.set(&o, b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
