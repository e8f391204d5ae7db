// Package prompt makes text of a wanted token count, in which equal blocks are
// equal text.
package prompt

import (
	_ "embed"
	"iter"
	"math/bits"
	"strings"
)

// wordList holds 3,928 lower-case words, one a line and sorted. They were found
// by taking every [a-z]+ that is a single token after a space in each of 20
// public vocabularies (Qwen 2, 3 and 3.5, Llama 2 and 3, gpt-oss, DeepSeek V3,
// LLM and Coder, Gemma 3 and 4, Command R, Falcon, GPT-2, GPT-NeoX, StarCoder,
// Baichuan, Aquila and others), so that one text has one length in all of them.
// BERT-like vocabularies are not among them. The list is part of what a salt
// means: changing it changes every prompt.
//
//go:embed words.txt
var wordList string

var words = strings.Fields(wordList)

// first begins every text, because what a vocabulary does at the very beginning,
// where no space comes before, is known for this word alone.
const first = "the"

// A Spec says which text is wanted.
type Spec struct {
	Salt        string           // equal salts give equal texts, different salts share nothing but chance
	Tokens      int              // length of the text; none or fewer give no text
	Blocks      iter.Seq[uint64] // identities of the leading blocks; nil is none
	BlockTokens int              // tokens a block; none or fewer: Blocks are not used
	Unique      uint64           // names the stream of the tokens past the blocks, say a request's Seq
}

// AppendText appends the text of s to dst and returns it. The text is "the"
// followed by s.Tokens-1 words with one space between, and that is s.Tokens
// tokens wherever each word after a space is one. It consists of a-z and spaces,
// so that it stands in JSON as it is.
//
// The words of a block depend on the salt and the block's id alone, and a block
// that is cut short by Tokens is a prefix of the whole one: prompts that share
// leading ids share exactly that much text. "the" replaces the first word of the
// first stream.
func AppendText(dst []byte, s Spec) []byte {
	if s.Tokens <= 0 {
		return dst
	}
	salt := hash(s.Salt)
	left, start := s.Tokens, len(dst)
	if s.Blocks != nil && s.BlockTokens > 0 {
		for id := range s.Blocks {
			n := min(left, s.BlockTokens)
			dst = appendWords(dst, stream{mix(mix(salt^blocks) ^ id)}, n, len(dst) == start)
			if left -= n; left == 0 {
				return dst
			}
		}
	}
	return appendWords(dst, stream{mix(mix(salt^unique) ^ s.Unique)}, left, len(dst) == start)
}

// appendWords appends n > 0 words of s, each after a space; at the beginning of
// a text the first of them gives way to "the".
func appendWords(dst []byte, s stream, n int, begins bool) []byte {
	if begins {
		s.next()
		n--
		dst = append(dst, first...)
	}
	for range n {
		dst = append(append(dst, ' '), s.next()...)
	}
	return dst
}

// Words ranges over the words of a text: what stands between white space. For
// a text of AppendText these are its tokens.
func Words(text string) iter.Seq[string] { return strings.FieldsSeq(text) }

// Count returns the number of Words of text.
func Count(text string) int {
	n := 0
	for range Words(text) {
		n++
	}
	return n
}

// The kinds of stream, so that block 7 and the tail of request 7 differ. The
// values are arbitrary and final.
const (
	blocks = 0xb10c
	unique = 0x7a11
)

// A stream is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
// number generators", OOPSLA 2014), written out here because a prompt must be
// the same with every Go release: a warm cache is worth nothing otherwise.
type stream struct{ state uint64 }

func (s *stream) next() string {
	s.state += 0x9e3779b97f4a7c15
	i, _ := bits.Mul64(mix(s.state), uint64(len(words)))
	return words[i]
}

// mix is the finalizer of SplitMix64, a bijection: ids that differ in any of
// their 64 bits begin different streams.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// hash is 64-bit FNV-1a (Fowler, Noll and Vo).
func hash(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}
