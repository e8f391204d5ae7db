package formats

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"sync"

	"wavetank/traces"
)

// blockBytes is how much of a log is parsed at a time. A Record is some twenty
// times as wide as a row of CSV, and the rows of a block ought to stay in a core's
// cache until they are read: blocks of megabytes would be slower, not faster.
const blockBytes = 32 << 10

// batchBlocks is by how much larger a block is whose rows go into columns: nothing
// else is as wide.
const batchBlocks = 4

// A block is a part of a log, and what a parser made of its rows.
type block struct {
	text  []byte
	rows  []parsed
	lines int64 // of text
	columns
	notes notes // of the rows, if another parser than the source's own read them
	whole bool  // all of text was parsed
	err   error // that ended the log, in place of a block
	ready chan struct{}
}

func newBlock() *block { return &block{ready: make(chan struct{}, 1)} }

// A parsed is a row that was read, or why it was not.
type parsed struct {
	rec  traces.Record
	line int64 // since the block's start, from 1
	cut  bool
	text []byte // of a row that is rejected
	err  error
}

// columns are the rows of a block that are handed on as a batch. The block's rows
// are then those that were rejected.
type columns struct {
	wanted bool
	batch  traces.Batch // with stamps for arrivals, and lines of the block for source rows
	first  int64        // stamp of the first row
	least  int64        // of all stamps
	grid   int64        // see Source
}

// note keeps what must be known of the stamps of a batch.
func (c *columns) note(stamp int64) {
	if c.batch.Rows() == 0 {
		c.first, c.least, c.grid = stamp, stamp, coarsest
	}
	c.least, c.grid = min(c.least, stamp), gridOf(stamp, c.grid)
}

func (c *columns) add(p *parsed, app string) {
	c.note(int64(p.rec.Arrival))
	p.rec.SourceRow = traces.Some(uint64(p.line))
	if app != "" {
		p.rec.App = traces.Some(app)
	}
	c.batch.Add(&p.rec)
}

// A worker parses blocks with a parser of its own.
type worker struct {
	in    *input
	parse parser
	app   string    // of every row, if not empty
	cells *cellRows // in place of parse, where rows go into columns at once; may be nil
	spare parsed    // for rows that go into columns by way of a Record
}

func newWorker(in *input, parse parser, app string) *worker {
	return &worker{in: in, parse: parse, app: app, cells: newCellRows(in, app)}
}

// row adds an empty row. To append one would copy a kilobyte of zeros.
func (b *block) row() *parsed {
	n := len(b.rows)
	b.rows = slices.Grow(b.rows, 1)[:n+1]
	b.rows[n] = parsed{}
	return &b.rows[n]
}

// fill parses the rows of b up to an error that is not about a row.
func (w *worker) fill(b *block) {
	l := &w.in.lines
	before := l.n
	l.begin(b.text)
	b.rows, b.whole = b.rows[:0], true
	b.batch.Reset()
	for b.whole {
		row, err := l.next()
		if err == io.EOF {
			break
		}
		line := l.start - before
		if err == nil {
			err = w.take(b, row, line)
		}
		if err != nil {
			text := bytes.Clone(row[:min(len(row), rejectBytes)])
			b.rows = append(b.rows, parsed{line: line, cut: l.cut, text: text, err: err})
			b.whole = isRowError(err)
		}
	}
	b.lines = l.n - before
}

// take parses a row into b, or leaves b as it was.
func (w *worker) take(b *block, row []byte, line int64) error {
	p := &w.spare
	switch {
	case !b.wanted:
		p = b.row()
	case w.cells != nil:
		return w.cells.add(&b.columns, row, line)
	default:
		p.rec = traces.Record{}
	}
	p.line, p.rec.Outcome.Status = line, traces.Unknown
	err := w.parse(row, &p.rec)
	switch {
	case b.wanted && err == nil:
		b.columns.add(p, w.app)
	case !b.wanted && err != nil:
		b.rows = b.rows[:len(b.rows)-1]
	}
	return err
}

// A pipeline cuts a log into blocks, has them parsed on all cores, and hands them
// out in the order of the log. It holds a fixed number of blocks.
type pipeline struct {
	source  *Source
	free    chan *block // to be filled
	todo    chan *block // to be parsed
	inOrder chan *block // as they stand in the log
	stop    chan struct{}
	columns bool       // rows are wanted by columns
	seed    input      // that the workers' inputs are copies of
	mu      sync.Mutex // held while the source's own parser, which workers copy, is in use
}

func newPipeline(s *Source, workers int, columns bool) *pipeline {
	n := workers + 2 // one more is being filled, and one, the source's, handed out
	p := &pipeline{
		source: s, columns: columns, seed: *s.in, stop: make(chan struct{}),
		free: make(chan *block, n), todo: make(chan *block, n), inOrder: make(chan *block, n),
	}
	for range n - 1 {
		p.free <- newBlock()
	}
	go p.cut()
	for range workers {
		go p.work()
	}
	return p
}

// cut reads, decompresses and hashes. Whoever reads closes the decompressor: Close
// does not wait for a read that may never return.
func (p *pipeline) cut() {
	defer p.source.plainClose()
	defer close(p.todo)
	for {
		select {
		case <-p.stop:
			return
		case b := <-p.free:
			b.text, b.err = p.source.cutter.next(b.text)
			p.inOrder <- b
			if b.err != nil {
				b.ready <- struct{}{}
				return
			}
			p.todo <- b
		}
	}
}

func (p *pipeline) work() {
	w := p.worker()
	for {
		select {
		case <-p.stop:
			return
		case b, ok := <-p.todo:
			if !ok {
				return
			}
			b.wanted = p.columns
			w.fill(b)
			b.notes = w.in.takeNotes()
			if !b.whole { // the source's own parser may have learned by now what this one lacks
				w = p.worker()
			}
			b.ready <- struct{}{}
		}
	}
}

// worker returns a parser that knows what the source's own knows now.
func (p *pipeline) worker() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.seed
	in.lines = lines{max: in.lines.max, quotes: in.lines.quotes}
	in.warnings, in.clock.seen = make(map[string]int64), grammarSet{}
	return newWorker(&in, p.source.in.fork(&in), p.source.opts.App)
}

// next returns the next block, or the error that ended the log. What the workers
// could not parse the source's own parser does: one that has read all that comes
// before may know more, and an error that ends the log is its to find. So are rows
// in columns, where columns are no longer wanted.
func (p *pipeline) next(own *worker, used *block, columns bool) (*block, error) {
	p.free <- used
	b := <-p.inOrder
	<-b.ready
	if b.err != nil {
		return nil, b.err
	}
	if b.whole && (columns || !b.wanted) {
		own.in.lines.n += b.lines
		own.in.addNotes(b.notes)
		return b, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b.wanted = columns
	own.fill(b)
	return b, nil
}

func (p *pipeline) close() { close(p.stop) }

// notes are what a parser found odd, or worth remembering, in a block.
type notes struct {
	warnings map[string]int64
	seen     grammarSet
}

// takeNotes returns the notes since it was last called.
func (in *input) takeNotes() notes {
	n := notes{maps.Clone(in.warnings), in.clock.seen}
	clear(in.warnings)
	in.clock.seen = grammarSet{}
	return n
}

func (in *input) addNotes(n notes) {
	for kind, rows := range n.warnings {
		in.warnings[kind] += rows
	}
	for i, seen := range n.seen {
		in.clock.seen[i] = in.clock.seen[i] || seen
	}
}
