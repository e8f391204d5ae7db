package traces

import (
	"container/heap"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// MaxCopies is the greatest number of copies that Multiply makes.
const MaxCopies = 256

// idRange parts the block ids of copies.
const idRange = 1 << 56

// MultiplyOptions say how the copies of a trace come.
type MultiplyOptions struct {
	Spread time.Duration // a copied session comes up to that much after the original; 0: one minute
	Seed   uint64        // of the delays
}

// Multiply makes n of every session, and of every row that has none: the first as
// it was, the others later by a delay of their own, uniform up to the spread, or n
// requests would come at every instant. A copy is somebody else's session on other
// texts: its name, the ids of its rows and its block ids are its own, so it shares
// blocks with the same copy of other sessions and with nothing else. Block ids
// below 2^56 are kept apart for certain, those that use all 64 bits, as hashes do,
// but for chance. For a factor of 2.5 multiply by 3 and Thin to 2.5/3.
//
// Rows must come in the order of arrival. It holds the copies of the rows of one
// spread.
func Multiply(r Reader, n int, o MultiplyOptions) (*Edit, error) {
	if n < 1 || n > MaxCopies {
		return nil, fmt.Errorf("multiply by %d: must be from 1 to %d", n, MaxCopies)
	}
	if o.Spread < 0 {
		return nil, fmt.Errorf("spread of %v: must not be negative", o.Spread)
	}
	if o.Spread == 0 {
		o.Spread = time.Minute
	}
	e := newEdit(fmt.Sprintf("multiply by %d, spread %v, seed %d", n, o.Spread, o.Seed), "rows read", "written")
	m := &multiply{src: InOrder(r), n: uint64(n), o: o, e: e}
	e.Reader = m
	return e, nil
}

type multiply struct {
	src  Reader
	n    uint64
	o    MultiplyOptions
	e    *Edit
	late late // copies to come
	next Record
	err  error // of src
	held bool  // next is a row to come
}

// Read fills rec with the earliest of the next row and the copies.
func (m *multiply) Read(rec *Record) error {
	if !m.held && m.err == nil {
		if m.err = m.src.Read(&m.next); m.err == nil {
			m.held = true
			m.e.Counts[0].N++
			m.copyNext()
		}
	}
	switch {
	case len(m.late) > 0 && (!m.held || before(&m.late[0], &m.next)):
		*rec = heap.Pop(&m.late).(Record)
	case m.held:
		*rec, m.held = m.next, false
	default:
		return m.err
	}
	m.e.Counts[1].N++
	return nil
}

// copyNext makes the copies of the next row, and of the row itself the first.
func (m *multiply) copyNext() {
	for i := uint64(1); i < m.n; i++ {
		heap.Push(&m.late, m.copied(i))
	}
	m.next = m.copied(0)
}

func (m *multiply) copied(i uint64) Record {
	rec := m.next
	seq := func(seq uint64) uint64 { return seq*m.n + i }
	rec.Seq = seq(rec.Seq)
	if rec.Outcome.RetryOf.Known {
		rec.Outcome.RetryOf.V = seq(rec.Outcome.RetryOf.V)
	}
	rec.After = slices.Clone(rec.After)
	for k := range rec.After {
		rec.After[k] = seq(rec.After[k])
	}
	if i == 0 {
		return rec
	}
	suffix := "~" + strconv.FormatUint(i+1, 10)
	rec.Arrival += time.Duration(uniform(m.o.Seed, "multiply"+suffix, &m.next) * float64(m.o.Spread))
	for _, name := range []*Opt[string]{&rec.Session, &rec.ID} {
		if name.Known {
			name.V += suffix
		}
	}
	rec.Blocks = slices.Clone(rec.Blocks)
	for k := range rec.Blocks {
		rec.Blocks[k].Start += i * idRange
	}
	return rec
}

// late is a heap of rows by arrival and Seq.
type late []Record

// Len implements heap.Interface.
func (l late) Len() int { return len(l) }

// Less implements heap.Interface.
func (l late) Less(i, j int) bool { return before(&l[i], &l[j]) }

// Swap implements heap.Interface.
func (l late) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push implements heap.Interface.
func (l *late) Push(x any) { *l = append(*l, x.(Record)) }

// Pop implements heap.Interface.
func (l *late) Pop() any {
	last := (*l)[len(*l)-1]
	(*l)[len(*l)-1] = Record{}
	*l = (*l)[:len(*l)-1]
	return last
}
