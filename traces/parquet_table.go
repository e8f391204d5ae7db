package traces

import (
	"io"
	"math"
)

// A ParquetTable reads any Parquet file by the names of its columns: a log, and
// no trace.
type ParquetTable struct{ r *pqReader }

// OpenParquetTable reads the footer of a Parquet file of size bytes.
func OpenParquetTable(r io.ReaderAt, size int64) (t *ParquetTable, err error) {
	err = guardParquet(func() error {
		p, err := openParquet(r, size)
		t = &ParquetTable{p}
		return err
	})
	return t, err
}

// Columns returns the names of the columns of the file, in its order.
func (t *ParquetTable) Columns() []string {
	names := make([]string, len(t.r.columns))
	for i, n := range t.r.columns {
		names[i] = n.name
	}
	return names
}

// Rows begins at the first row. Each call of what it returns gives the values of
// the named columns of the next row, or io.EOF: nil for null and for a column that
// the file lacks, otherwise a bool, an int64 (a uint64 where it is over
// 2^63), a float64, a string, a []any of these, or for a struct a map[string]any
// by its members. Times are the numbers that the file holds. The slice is
// overwritten by the next call.
func (t *ParquetTable) Rows(columns ...string) func() ([]any, error) {
	t.r.group, t.r.left = 0, 0
	nodes := make([]*pqNode, len(columns))
	var want []*pqNode
	for i, name := range columns {
		if nodes[i] = t.r.column(name); nodes[i] != nil {
			want = append(want, nodes[i])
		}
	}
	row := make([]any, len(columns))
	return func() ([]any, error) {
		return row, guardParquet(func() error {
			if err := t.r.nextGroup(want); err != nil {
				return err
			}
			t.r.left--
			t.r.rows = 0
			for i, n := range nodes {
				if n != nil {
					t.r.startRow(n)
					row[i] = t.r.value(n)
				}
			}
			return nil
		})
	}
}

// value returns the next value of n.
func (r *pqReader) value(n *pqNode) (v any) {
	if repeated, _ := n.element(); repeated != nil {
		var list []any
		r.elements(n, func() { list = []any{} }, func() {}, func(e *pqNode) {
			if e.repetition == pqRepeated { // a list without a wrapper
				list = append(list, r.single(e))
				return
			}
			list = append(list, r.value(e))
		})
		if list == nil {
			return nil
		}
		return list
	}
	return r.single(n)
}

// single returns the next value of a node that does not repeat by itself.
func (r *pqReader) single(n *pqNode) any {
	if len(n.children) == 0 {
		v, ok := r.chunk[n.leaf].take()
		r.grow(32 + int64(len(v.b)))
		if !ok {
			return nil
		}
		return n.plainValue(v)
	}
	if _, def, _ := r.chunk[n.leaf].peek(); def < n.def {
		r.skip(n)
		return nil
	}
	members := make(map[string]any, len(n.children))
	r.grow(64 * int64(len(n.children)))
	for _, child := range n.children {
		members[child.name] = r.value(child)
	}
	return members
}

func (n *pqNode) plainValue(v pqValue) any {
	switch n.typ {
	case pqBoolean:
		return v.n == 1
	case pqFloat, pqDouble:
		return math.Float64frombits(uint64(v.n))
	case pqBytes, pqFixed:
		return string(v.b)
	}
	if n.unsigned && v.n < 0 {
		return uint64(v.n)
	}
	return v.n
}
