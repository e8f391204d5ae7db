package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func text(s Spec) string { return string(AppendText(nil, s)) }

func ids(v ...uint64) Spec {
	return Spec{Salt: "s", Tokens: 16 * len(v), Blocks: slices.Values(v), BlockTokens: 16}
}

// Others turn token ids into text and get another number of tokens back, or an
// empty prompt where one token was asked for: vllm-project/vllm#17408, #24937,
// #10847, #24591, #42532, sgl-project/sglang-jax#272. counts.json was written by
// testdata/prompt/count.py, which makes the texts on its own and counts them with
// real tokenizers.
func TestTokensAreExactInRealVocabularies(t *testing.T) {
	data, err := os.ReadFile("../../testdata/prompt/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Salt        string
			Tokens      int
			Blocks      []uint64
			BlockTokens int `json:"block_tokens"`
			Unique      uint64
			SHA256      string
			Counts      map[string]int
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 30 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		got := text(Spec{c.Salt, c.Tokens, slices.Values(c.Blocks), c.BlockTokens, c.Unique})
		sum := sha256.Sum256([]byte(got))
		if hex.EncodeToString(sum[:]) != c.SHA256 {
			t.Errorf("salt %q, %d tokens, unique %d: the text is not the one that was counted", c.Salt, c.Tokens, c.Unique)
		}
		if n := Count(got); n != c.Tokens {
			t.Errorf("Count = %d, want %d", n, c.Tokens)
		}
		if len(c.Counts) < 3 {
			t.Errorf("counted in %d vocabularies", len(c.Counts))
		}
		for vocabulary, n := range c.Counts {
			if n != c.Tokens {
				t.Errorf("%s counts %d tokens, want %d", vocabulary, n, c.Tokens)
			}
		}
	}
}

func TestNoTokensAreNoText(t *testing.T) {
	for _, n := range []int{0, -1} {
		if got := text(Spec{Tokens: n}); got != "" {
			t.Errorf("%d tokens: %q", n, got)
		}
	}
}

func TestWordListIsPlain(t *testing.T) {
	if len(words) != 3928 || !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Fatalf("%d words, want 3928, sorted and each once", len(words))
	}
	plain := regexp.MustCompile(`^[a-z]+$`)
	for _, w := range words {
		if !plain.MatchString(w) {
			t.Errorf("%q", w)
		}
	}
}

func TestEqualBlocksAreEqualText(t *testing.T) {
	s := ids(5, 6, 7)
	whole := text(s)
	for n := 1; n <= 48; n++ {
		s.Tokens = n
		got := text(s)
		if got != whole[:len(got)] || Count(got) != n {
			t.Fatalf("%d tokens are not a prefix of 48", n)
		}
	}
	a, b := ids(5, 6, 7), ids(5, 6, 8)
	a.Tokens, b.Tokens = 60, 60
	a.Unique, b.Unique = 1, 2
	common := text(ids(5, 6))
	if !strings.HasPrefix(text(a), common+" ") || !strings.HasPrefix(text(b), common+" ") {
		t.Error("prompts that share two blocks do not share their text")
	}
	if second := strings.TrimPrefix(text(ids(5, 6)), text(ids(5))); second != strings.TrimPrefix(text(ids(9, 6)), text(ids(9))) {
		t.Error("the text of a block depends on what comes before it")
	}
}

// ai-dynamo/dynamo#12046: 64-bit block ids were cut to 32 bits, and prompts that
// had nothing in common hit the cache.
func TestUnequalBlocksAreUnequalText(t *testing.T) {
	seen := map[string]uint64{}
	for _, id := range []uint64{0, 1, 2, 1 << 32, 1 + 1<<32, 1 << 53, 1<<53 + 1, 1 << 63, 1 + 1<<63} {
		s := text(ids(id))
		if other, ok := seen[s]; ok {
			t.Errorf("blocks %d and %d have one text", id, other)
		}
		seen[s] = id
	}
}

func TestTailIsOfOneRequest(t *testing.T) {
	tail := func(salt string, unique uint64) string {
		s := ids(3)
		s.Salt, s.Unique, s.Tokens = salt, unique, 32
		return strings.Join(strings.Fields(text(s))[16:], " ")
	}
	one := tail("s", 1)
	if again := tail("s", 1); again != one {
		t.Error("one request has two texts")
	}
	if one == tail("s", 2) || one == tail("r", 1) {
		t.Error("two requests or two salts share a tail")
	}
	if blockText := strings.Join(strings.Fields(text(ids(3)))[1:], " "); strings.HasSuffix(tail("s", 3), blockText) {
		t.Error("the tail of request 3 is block 3")
	}
}

// A chi-square test over 400,000 words: 3,927 degrees of freedom, mean 3,927,
// standard deviation 88.6; the bounds are five of them.
func TestWordsAreUniform(t *testing.T) {
	const n = 400_000
	count := map[string]float64{}
	for w := range Words(text(Spec{Tokens: n})) {
		count[w]++
	}
	var chi2 float64
	mean := n / float64(len(words))
	for _, w := range words {
		chi2 += (count[w] - mean) * (count[w] - mean) / mean
	}
	if chi2 < 3484 || chi2 > 4370 {
		t.Errorf("chi-square = %.0f", chi2)
	}
}

func TestAppendTextAllocatesNothingPerWord(t *testing.T) {
	buf := make([]byte, 0, 64<<10)
	allocs := func(tokens int) float64 {
		s := ids(1, 2, 3)
		s.Tokens = tokens
		return testing.AllocsPerRun(10, func() { AppendText(buf, s) })
	}
	if short, long := allocs(50), allocs(4000); long > short {
		t.Errorf("%v allocations for 50 tokens, %v for 4,000", short, long)
	}
}

func BenchmarkAppendText4000(b *testing.B) {
	var buf []byte
	s := ids(1, 2, 3)
	s.Tokens = 4000
	for b.Loop() {
		buf = AppendText(buf[:0], s)
	}
	b.SetBytes(int64(len(buf)))
}

func ExampleAppendText() {
	shared := slices.Values([]uint64{41, 42})
	a := AppendText(nil, Spec{Salt: "run 1", Tokens: 6, Blocks: shared, BlockTokens: 2, Unique: 1})
	b := AppendText(nil, Spec{Salt: "run 1", Tokens: 6, Blocks: shared, BlockTokens: 2, Unique: 2})
	os.Stdout.Write(append(append(a, '\n'), b...))
	// Output:
	// the pointer hi battery selecting tw
	// the pointer hi battery network uniform
}
