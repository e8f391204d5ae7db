package traces

import (
	"encoding/binary"
	"time"
)

const (
	batchRows = 65536
	batchStep = 64 // rows between two looks at how large a batch is
)

// batchBytes is how large a batch may be before it is written with fewer rows: request
// bodies may be megabytes each, and all must be held at once. (A variable for a test.)
var batchBytes = 64 << 20

// A Batch holds rows by columns. The zero Batch is empty. A column takes no memory
// until a row knows its value, so that the many that a trace does not have cost
// nothing. Those that every row knows are as in the zero Record until then.
type Batch struct {
	vectors [64]*vector // by column
	has     columnSet   // that any row knows
	rows    int
	order   order
}

// Add adds a row.
func (b *Batch) Add(rec *Record) {
	b.add(rec)
	b.order.add(placeOf(rec))
}

func (b *Batch) add(rec *Record) {
	known := knownTo(rec)
	if fresh := known &^ b.has; fresh != 0 {
		b.begin(fresh)
	}
	for i := range known.each() {
		columns[i].add(b.vectors[i], rec)
	}
	for i := range (b.has &^ known).each() {
		b.vectors[i].addNulls(1)
	}
	b.rows++
}

// begin makes vectors for columns that no row knew so far.
func (b *Batch) begin(fresh columnSet) {
	for i := range fresh.each() {
		if b.vectors[i] == nil {
			b.vectors[i] = newVector(columns[i].typ)
		}
		b.vectors[i].addBlanks(i, b.rows)
	}
	b.has |= fresh
}

// unset gives what rows are in columns that every row knows, if nobody says.
var unset = new(Record)

// addBlanks adds n rows in which column i, which v is of, is not said.
func (v *vector) addBlanks(i, n int) {
	if !requiredSet.has(i) {
		v.addNulls(n)
		return
	}
	for range n {
		columns[i].add(v, unset)
	}
}

// Rows returns how many rows b has.
func (b *Batch) Rows() int { return b.rows }

// Reset empties b and keeps its memory.
func (b *Batch) Reset() {
	for i := range b.has.each() {
		b.vectors[i].reset()
	}
	b.has, b.rows, b.order = 0, 0, order{}
}

// Place puts rows that were added by their stamps and their lines in a block of a
// log into their trace: Seq counts on from seq, and arrivals and source rows, which
// every row must know, move by start and by line.
func (b *Batch) Place(seq uint64, start time.Duration, line uint64) {
	if !b.has.has(seqColumn) {
		b.begin(1 << seqColumn)
	}
	le := binary.LittleEndian
	seqs, arrivals, lines := b.vectors[seqColumn].data, b.vectors[arrivalColumn].data, b.vectors[sourceRowColumn].data
	for i := 0; i < 8*b.rows; i += 8 {
		le.PutUint64(seqs[i:], seq)
		le.PutUint64(arrivals[i:], le.Uint64(arrivals[i:])+uint64(start))
		le.PutUint64(lines[i:], le.Uint64(lines[i:])+line)
		seq++
	}
	b.order.move(start, seq-uint64(b.rows))
}

var seqColumn, arrivalColumn, sourceRowColumn, bodyColumn = columnIndex["seq"], columnIndex["arrival_ns"], columnIndex["source_row"], columnIndex["body"]

// full tells whether b is to be written before another row is added. Bodies, which
// Arrow's 32-bit offsets must reach, are looked at row by row.
func (b *Batch) full() bool {
	return b.rows == batchRows || b.rows%batchStep == 0 && b.bytes() > batchBytes ||
		b.has.has(bodyColumn) && len(b.vectors[bodyColumn].data) > batchBytes
}

// room returns how many rows of o, from one on, can be added before b is full.
func (b *Batch) room(o *Batch, from int) int {
	n := min(o.rows-from, batchRows-b.rows)
	if b.bytes()+o.bytes() > batchBytes {
		n = 1
	}
	return n
}

func (b *Batch) bytes() (n int) {
	for i := range b.has.each() {
		n += b.vectors[i].bytes()
	}
	return n
}

// append adds the rows from..to of another batch.
func (b *Batch) append(o *Batch, from, to int) {
	has := o.has & b.has
	for i := range (o.has &^ b.has).each() {
		if o.vectors[i].anyKnown(from, to) {
			b.begin(1 << i)
			has |= 1 << i
		}
	}
	for i := range has.each() {
		b.vectors[i].append(o.vectors[i], from, to)
	}
	for i := range (b.has &^ has).each() {
		b.vectors[i].addBlanks(i, to-from)
	}
	b.rows += to - from
}

// A place is where a row stands in a trace file.
type place struct {
	arrival time.Duration
	seq     uint64
}

func placeOf(rec *Record) place { return place{rec.Arrival, rec.Seq} }

func (p place) before(q place) bool {
	return p.arrival < q.arrival || p.arrival == q.arrival && p.seq < q.seq
}

// before is the order of a trace file.
func before(a, b *Record) bool { return placeOf(a).before(placeOf(b)) }

// An order is what a writer must know of the places of rows.
type order struct {
	rows        int64
	first, last place
	least       time.Duration // the smallest arrival
	unsorted    bool
}

func (o *order) add(p place) {
	if o.rows == 0 {
		o.first, o.least = p, p.arrival
	} else if p.before(o.last) {
		o.unsorted, o.least = true, min(o.least, p.arrival)
	}
	o.rows++
	o.last = p
}

// join adds rows that come after those so far.
func (o *order) join(n order) {
	if o.rows == 0 {
		*o = n
		return
	}
	if n.rows == 0 {
		return
	}
	o.unsorted = o.unsorted || n.unsorted || n.first.before(o.last)
	o.rows, o.last, o.least = o.rows+n.rows, n.last, min(o.least, n.least)
}

// move is for rows whose places get another start, and seqs from one on.
func (o *order) move(start time.Duration, seq uint64) {
	o.least += start
	o.first = place{o.first.arrival + start, seq}
	o.last = place{o.last.arrival + start, seq + uint64(o.rows) - 1}
}
