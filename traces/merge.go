package traces

import (
	"container/heap"
	"errors"
	"io"
	"slices"
	"time"
)

// Merge interleaves sorted traces by arrival. So that no two rows have the same
// Seq, that of the i-th of n traces becomes Seq*n+i, and what points at a row
// (After, RetryOf) follows it. Sessions and block ids of equal name are taken to
// be the same.
func Merge(rs ...Reader) Reader {
	n := uint64(len(rs))
	own := make([]Reader, n)
	for i, r := range rs {
		own[i] = reseq(r, func(seq uint64) uint64 { return seq*n + uint64(i) })
	}
	return interleave(own)
}

// Concat reads traces one after the other, the i-th shifted in time by shift(i),
// which is asked once the first row of that trace has been read. Its rows are in
// order only if the traces follow each other; Seqs are made unique as Merge does.
func Concat(rs []Reader, shift func(i int) (time.Duration, error)) Reader {
	var by time.Duration
	i, n, first := 0, uint64(len(rs)), true
	return reseq(ReaderFunc(func(rec *Record) error {
		for i < len(rs) {
			switch err := rs[i].Read(rec); {
			case errors.Is(err, io.EOF):
				i, first = i+1, true
				continue
			case err != nil:
				return err
			}
			if first {
				var err error
				if by, err = shift(i); err != nil {
					return err
				}
				first = false
			}
			rec.Arrival += by
			return nil
		}
		return io.EOF
	}), func(seq uint64) uint64 { return seq*n + uint64(i) })
}

func reseq(r Reader, to func(uint64) uint64) Reader {
	return ReaderFunc(func(rec *Record) error {
		if err := r.Read(rec); err != nil {
			return err
		}
		rec.Seq = to(rec.Seq)
		if rec.Outcome.RetryOf.Known {
			rec.Outcome.RetryOf.V = to(rec.Outcome.RetryOf.V)
		}
		rec.After = slices.Clone(rec.After)
		for i, seq := range rec.After {
			rec.After[i] = to(seq)
		}
		return nil
	})
}

func interleave(rs []Reader) Reader { return &merge{todo: rs} }

type merge struct {
	todo  []Reader
	heads []*head
}

type head struct {
	rec   Record
	src   Reader
	order int
}

// Len implements heap.Interface.
func (m *merge) Len() int { return len(m.heads) }

// Less implements heap.Interface.
func (m *merge) Less(i, j int) bool {
	a, b := m.heads[i], m.heads[j]
	if a.rec.Arrival == b.rec.Arrival && a.rec.Seq == b.rec.Seq {
		return a.order < b.order
	}
	return before(&a.rec, &b.rec)
}

// Swap implements heap.Interface.
func (m *merge) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

// Push implements heap.Interface.
func (m *merge) Push(x any) { m.heads = append(m.heads, x.(*head)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}

// Read fills rec with the earliest row of any Reader.
func (m *merge) Read(rec *Record) error {
	for i, r := range m.todo {
		h := &head{src: r, order: i}
		switch err := r.Read(&h.rec); {
		case err == nil:
			heap.Push(m, h)
		case !errors.Is(err, io.EOF):
			return err
		}
	}
	m.todo = nil
	if len(m.heads) == 0 {
		return io.EOF
	}
	h := m.heads[0]
	*rec = h.rec
	switch err := h.src.Read(&h.rec); {
	case err == nil:
		heap.Fix(m, 0)
	case errors.Is(err, io.EOF):
		heap.Pop(m)
	default:
		return err
	}
	return nil
}
