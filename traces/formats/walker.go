package formats

import "bytes"

// A walker finds wanted values in a JSON object in place. What it is not sure of
// it leaves to encoding/json: escapes, keys that come twice, objects and lists
// where a value is wanted, and whatever is not valid.
type walker struct {
	places map[string]*place // by dotted path
	closed bool              // keys without a place are left to encoding/json as well
	last   *place            // that was looked up
	path   []byte
	row    int64
}

// A place is a path that means something.
type place struct {
	path  string
	next  *place // that was looked up after this one, in the row before
	field *field // the value that is wanted here; nil: none
	way   bool   // an object here may hold wanted values
	row   int64  // the last row that had it
}

// A field is one wanted value of a row.
type field struct {
	found bool
	text  []byte // nil: null
	err   error  // it is of the wrong kind
}

// want makes a place for a wanted path, and for every object on the way to it.
func (w *walker) want(path string, f *field) {
	for i := range path {
		if path[i] == '.' {
			w.place(path[:i]).way = true
		}
	}
	w.place(path).field = f
}

// ignore makes a place for a key that means nothing. Only so many are remembered:
// a log whose keys are data has no end of them.
func (w *walker) ignore(key string) {
	const many = 4096
	if len(w.places) < many {
		w.place(key)
	}
}

func (w *walker) place(path string) *place {
	p := w.places[path]
	if p == nil {
		p = &place{path: path}
		w.places[path] = p
	}
	return p
}

// walk fills the fields of a row, or reports false. Their text aliases the row.
func (w *walker) walk(row []byte) bool {
	w.row++
	w.last = nil
	s := scanner{b: bytes.TrimRight(row, " \t")}
	return w.object(&s, 0) && s.i == len(s.b)
}

// object reads an object, the dotted path of which is the first prefix bytes of w.path.
func (w *walker) object(s *scanner, prefix int) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		key, ok := s.text()
		if !ok || !s.take(':') {
			return false
		}
		w.path = append(w.path[:prefix], key...)
		if !w.value(s) {
			return false
		}
		switch {
		case s.take(','):
		case s.take('}'):
			return true
		default:
			return false
		}
	}
}

// find returns the place of w.path. Rows have their keys in the same order, more
// often than not, and to compare one is cheaper than to look it up.
func (w *walker) find() *place {
	if w.last != nil && w.last.next != nil && w.last.next.path == string(w.path) {
		w.last = w.last.next
		return w.last
	}
	p := w.places[string(w.path)]
	if p == nil && !w.closed {
		w.ignore(string(w.path))
		p = w.places[string(w.path)]
	}
	if p == nil {
		return nil
	}
	if w.last != nil {
		w.last.next = p
	}
	w.last = p
	return p
}

// value reads the value at w.path.
func (w *walker) value(s *scanner) bool {
	p := w.find()
	if p == nil {
		return !w.closed && s.skip()
	}
	if p.field == nil && !p.way {
		return s.skip()
	}
	if p.row == w.row {
		return false
	}
	p.row = w.row
	if p.field == nil && s.at('{') {
		w.path = append(w.path, '.')
		return w.object(s, len(w.path))
	}
	if p.field == nil {
		return s.skip()
	}
	text, ok := s.scalar()
	p.field.found, p.field.text = true, text
	return ok
}
