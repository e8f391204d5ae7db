package reuse

// A fenwick tree sums the first values of a list that changes (Fenwick, A new
// data structure for cumulative frequency tables, Software: Practice and
// Experience 24, 1994). It grows at its end.
type fenwick struct {
	tree []int64
	sum  int64
}

func (f *fenwick) append(v int64) {
	i := len(f.tree) + 1
	f.sum += v
	for step := 1; step < i&-i; step <<= 1 {
		v += f.tree[i-step-1]
	}
	f.tree = append(f.tree, v)
}

func (f *fenwick) add(at int, v int64) {
	f.sum += v
	for i := at + 1; i <= len(f.tree); i += i & -i {
		f.tree[i-1] += v
	}
}

// upTo sums the values from the first to the one at that place.
func (f *fenwick) upTo(at int) (sum int64) {
	for i := at + 1; i > 0; i -= i & -i {
		sum += f.tree[i-1]
	}
	return sum
}

func (f *fenwick) total() int64 { return f.sum }
