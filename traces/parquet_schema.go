package traces

import (
	"errors"
	"fmt"
)

var errDamagedParquet = errors.New("damaged Parquet file")

// The enumerations of parquet.thrift that matter here.
const (
	pqBoolean   = 0
	pqInt32     = 1
	pqInt64     = 2
	pqInt96     = 3
	pqFloat     = 4
	pqDouble    = 5
	pqBytes     = 6
	pqFixed     = 7
	pqOptional  = 1
	pqRepeated  = 2
	pqUTF8      = 0
	pqListOf    = 3
	pqUint32    = 13
	pqUint64    = 14
	pqUncoded   = 0
	pqSnappy    = 1
	pqGzip      = 2
	pqZstd      = 6
	pqPlain     = 0
	pqPlainDict = 2
	pqRLE       = 3
	pqDelta     = 5
	pqDeltaLen  = 6
	pqDeltaText = 7
	pqDict      = 8
	pqSplit     = 9
	pqDataPage  = 0
	pqDictPage  = 2
	pqDataPage2 = 3
)

const (
	maxParquetNodes  = 4096
	maxParquetDepth  = 16
	maxParquetGroup  = 1 << 24 // rows of a group
	maxParquetFooter = 64 << 20
)

// A pqNode is a column of a Parquet schema, or a part of one. Levels are the
// definition and repetition levels of Dremel (Melnik et al., VLDB 2010).
type pqNode struct {
	name       string
	repetition int64
	children   []*pqNode
	leaf       int // index of its column chunk; of a group that of its first leaf
	leaves     int
	typ        int64
	length     int // of fixed-length values
	unsigned   bool
	def, rep   int // the levels at which it is there
}

// A pqFile is what the footer of a Parquet file says.
type pqFile struct {
	columns []*pqNode
	leaves  []*pqNode
	groups  []thriftStruct
	count   int64 // of rows
	keys    map[string]string
}

func parseFooterParquet(b []byte) (f *pqFile, err error) {
	meta, _, err := parseThrift(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errDamagedParquet, err)
	}
	if meta[8] != nil {
		return nil, errors.New("the Parquet file is encrypted, which is not read")
	}
	f = &pqFile{groups: meta.structs(4), count: meta.int(3), keys: make(map[string]string)}
	for _, kv := range meta.structs(5) {
		f.keys[kv.text(1)] = kv.text(2)
	}
	elements := meta.structs(2)
	if len(elements) == 0 || len(elements) > maxParquetNodes {
		return nil, fmt.Errorf("%w: a schema of %d columns (the limit is %d)", errDamagedParquet, len(elements), maxParquetNodes)
	}
	root := &pqNode{}
	rest, err := f.addChildren(root, elements[0].int(5), elements[1:], 1)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%w: %d columns outside the schema", errDamagedParquet, len(rest))
	}
	f.columns = root.children
	return f, f.checkGroups()
}

// addChildren gives n its children, which come depth first.
func (f *pqFile) addChildren(n *pqNode, count int64, elements []thriftStruct, depth int) ([]thriftStruct, error) {
	if count < 0 || count > int64(len(elements)) || depth > maxParquetDepth {
		return nil, fmt.Errorf("%w: a schema that does not add up, or is nested deeper than %d", errDamagedParquet, maxParquetDepth)
	}
	var err error
	for range count {
		if len(elements) == 0 {
			return nil, fmt.Errorf("%w: the schema ends too early", errDamagedParquet)
		}
		e := elements[0]
		child := &pqNode{
			name: e.text(4), repetition: e.int(3), typ: e.int(1), length: int(e.int(2)),
			leaf: len(f.leaves), def: n.def, rep: n.rep, unsigned: isUnsigned(e),
		}
		switch child.repetition {
		case pqOptional:
			child.def++
		case pqRepeated:
			child.def++
			child.rep++
		}
		if elements = elements[1:]; e.int(5) == 0 {
			f.leaves = append(f.leaves, child)
		} else if elements, err = f.addChildren(child, e.int(5), elements, depth+1); err != nil {
			return nil, err
		}
		child.leaves = len(f.leaves) - child.leaf
		n.children = append(n.children, child)
	}
	return elements, nil
}

// isUnsigned looks at the older and the newer way to say so.
func isUnsigned(e thriftStruct) bool {
	if t, ok := e[6].(int64); ok {
		return t >= 11 && t <= pqUint64
	}
	integer := e.nested(10).nested(10)
	signed, ok := integer[2].(bool)
	return ok && !signed
}

func (f *pqFile) checkGroups() error {
	var rows int64
	for i, g := range f.groups {
		n := g.int(3)
		if n < 0 || n > maxParquetGroup {
			return fmt.Errorf("%w: row group %d of %d rows (the limit is %d)", errDamagedParquet, i, n, maxParquetGroup)
		}
		if len(g.list(1)) != len(f.leaves) {
			return fmt.Errorf("%w: row group %d has %d columns, the schema %d", errDamagedParquet, i, len(g.list(1)), len(f.leaves))
		}
		rows += n
	}
	if rows != f.count {
		return fmt.Errorf("%w: %d rows in the row groups, %d in all", errDamagedParquet, rows, f.count)
	}
	return nil
}

// column finds a column by name, nil if there is none.
func (f *pqFile) column(name string) *pqNode {
	for _, n := range f.columns {
		if n.name == name {
			return n
		}
	}
	return nil
}

// element returns the node that repeats inside a list, and the node of an
// element, which is the same in lists of the older shapes; nil if n is no list.
func (n *pqNode) element() (repeated, element *pqNode) {
	if n.repetition == pqRepeated {
		return n, n
	}
	if len(n.children) != 1 || n.children[0].repetition != pqRepeated {
		return nil, nil
	}
	repeated = n.children[0]
	if len(repeated.children) == 1 {
		return repeated, repeated.children[0]
	}
	return repeated, repeated
}
