package formats

import "wavetank/traces"

// A delta is a session's input so far, in a dialect in which an id is of new
// content. Where a turn does not end with a whole block, the blocks of the next
// lie across its own: pieces of contents are chained, so that equal ids are equal
// prefixes all the same.
type delta struct {
	prefix uint64 // of all pieces so far
	total  int64
	open   int32 // tokens in the block that is not whole yet
	blocks []traces.BlockRun

	untold bool // a turn had no length
	broken bool // or not as many ids as its length needs
}

// add appends a turn's new input.
func (d *delta) add(c *chain, ids blockIDs, input traces.Opt[int32], block int32) {
	left := input.V
	d.total += int64(left)
	d.untold = d.untold || !input.Known
	d.broken = d.broken || d.untold || !ids.known || ids.n != blocksOf(left, block)
	if d.broken {
		return
	}
	ids.each(func(id uint64) {
		content := min(left, block)
		left -= content
		d.content(c, chainLink{id: id, to: content}, block)
	})
}

// answer appends an answer. No other prompt has it, so that its prefixes need no
// entries in the chain.
func (d *delta) answer(c *chain, output traces.Opt[int32], block int32) {
	d.total += int64(output.V)
	d.untold = d.untold || !output.Known
	if d.broken = d.broken || d.untold; d.broken || output.V == 0 {
		return
	}
	d.open += output.V
	whole := d.open / block
	d.open %= block
	d.blocks = appendRun(d.blocks, c.blocks, uint32(whole))
	c.blocks += uint64(whole)
	d.prefix = c.blocks - 1
	if d.open > 0 {
		d.prefix = notSource + c.parts
		c.parts++
	}
}

// content appends the tokens of an id from l.from to l.to, cut where blocks end.
func (d *delta) content(c *chain, l chainLink, block int32) {
	for from := l.from; from < l.to; {
		to := min(l.to, from+block-d.open)
		d.take(c, chainLink{before: d.prefix, id: l.id, from: from, to: to}, block)
		from = to
	}
}

// take appends a piece that ends no later than the block does.
func (d *delta) take(c *chain, l chainLink, block int32) {
	if d.open += l.to - l.from; d.open < block {
		d.prefix = c.part(l)
		return
	}
	d.open = 0
	d.prefix = c.block(l)
	d.blocks = appendID(d.blocks, d.prefix)
}

// tokens returns the length of the prompt, if every turn told its own.
func (d *delta) tokens() traces.Opt[int32] {
	if d.untold || d.total > maxTokens {
		return traces.Opt[int32]{}
	}
	return traces.Some(int32(d.total))
}
