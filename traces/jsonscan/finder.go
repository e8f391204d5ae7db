package jsonscan

import "maps"

// A Finder finds the values at wanted paths of one object after another. A path
// is keys with dots between; keys may hold dots themselves. It is for one
// goroutine.
//
// Beside what a Scanner is unsure of, it is so of objects that have a wanted path,
// or one on the way to it, twice: which of the two counts is for others to say.
type Finder struct {
	paths   []string // by slot
	values  []Value  // by slot
	inText  bool
	closed  bool
	ignored map[string]bool
	places  map[string]*place
	root    *object
	entries int
	row     int64
}

// A place is a path that means something.
type place struct {
	slot   int     // of the value that is wanted here; -1: none
	object *object // that may hold wanted values; nil: it cannot
	row    int64   // the last that had it
}

// An object is where keys stand.
type object struct {
	prefix string            // of its keys' paths
	keys   map[string]*entry // that have come
	before entry             // the first
}

// An entry is a key of an object. Rows have their keys in the same order, more
// often than not, and to compare one is cheaper than to look it up.
type entry struct {
	text  string // with a comma before it, its quotes, and the colon
	place *place // nil: it means nothing
	next  *entry // that came behind this one, in the row before
}

// maxEntries is how many keys are remembered: a log whose keys are data has no end
// of them.
const maxEntries = 4096

// NewFinder returns a Finder that wants nothing yet.
func NewFinder() *Finder {
	return &Finder{ignored: make(map[string]bool), places: make(map[string]*place), root: newObject("")}
}

func newObject(prefix string) *object {
	return &object{prefix: prefix, keys: make(map[string]*entry)}
}

// Fork returns a Finder for another goroutine that was told the same.
func (f *Finder) Fork() *Finder {
	other := NewFinder()
	for _, path := range f.paths {
		other.Want(path)
	}
	other.closed, other.ignored = f.closed, maps.Clone(f.ignored)
	return other
}

// Want asks for the value at a path and returns its slot, counted from 0. Equal
// paths share one.
func (f *Finder) Want(path string) (slot int) {
	for i := range path {
		if path[i] == '.' {
			f.place(path[:i]).object = newObject(path[:i+1])
		}
	}
	p := f.place(path)
	if p.slot < 0 {
		p.slot = len(f.paths)
		f.paths, f.values = append(f.paths, path), append(f.values, Value{})
	}
	f.forget()
	return p.slot
}

func (f *Finder) place(path string) *place {
	p := f.places[path]
	if p == nil {
		p = &place{slot: -1}
		f.places[path] = p
	}
	return p
}

// forget drops the keys that have come: they may mean something now.
func (f *Finder) forget() {
	f.root, f.entries = newObject(""), 0
	for _, p := range f.places {
		if p.object != nil {
			p.object = newObject(p.object.prefix)
		}
	}
}

// Close makes the Finder unsure of rows with keys that it was not told of, by
// Want, or by Ignore.
func (f *Finder) Close() { f.closed = true }

// Closed tells whether Close was called.
func (f *Finder) Closed() bool { return f.closed }

// Ignore tells of a key of the row that means nothing. Of so many only is it
// remembered.
func (f *Finder) Ignore(key string) {
	if len(f.ignored) < maxEntries {
		f.ignored[key] = true
	}
}

// Knows tells whether the Finder was told of a key of the row.
func (f *Finder) Knows(key string) bool { return f.ignored[key] || f.places[key] != nil }

// Find looks for all wanted paths in a row, and reports false if it is unsure.
func (f *Finder) Find(row []byte) bool {
	f.row++
	f.inText = false
	clear(f.values)
	s := New(row)
	f.object(&s, f.root)
	return s.End()
}

// Value returns what the last row had in a slot, Absent if it had nothing.
func (f *Finder) Value(slot int) Value { return f.values[slot] }

// InText tells whether the last row had a string on the way to a wanted path that
// may hold an object. A caller who takes it for that object has to look into it.
func (f *Finder) InText() bool { return f.inText }

func (f *Finder) object(s *Scanner, o *object) {
	last := &o.before
	for s.Open('{'); ; {
		e := last.next
		if !s.passNext(e) {
			if !s.More('}') {
				return
			}
			if e == nil || !s.passText(e.text[1:]) {
				if e = f.lookup(s, o); e == nil {
					s.Skip()
					continue
				}
				last.next = e
			}
		}
		if last = e; e.place == nil {
			s.Skip()
			continue
		}
		f.value(s, e.place)
	}
}

// passNext steps over a comma and the key of e, if they are what comes next, with
// no space between.
func (s *Scanner) passNext(e *entry) bool {
	if e == nil || s.first {
		return false
	}
	end := s.at + len(e.text)
	if end > len(s.text) || string(s.text[s.at:end]) != e.text {
		return false
	}
	s.at = end
	return true
}

// lookup takes a key and returns its entry, or nil if it means nothing and is not
// remembered.
func (f *Finder) lookup(s *Scanner, o *object) *entry {
	raw := s.key()
	key := raw.Text()
	if e := o.keys[string(key)]; e != nil {
		return e
	}
	p := f.places[o.prefix+string(key)]
	if p == nil && f.closed && o == f.root && !f.ignored[string(key)] {
		s.Fail()
	}
	if s.unsure || f.entries == maxEntries && p == nil {
		return nil
	}
	e := &entry{text: "," + string(raw.Raw) + ":", place: p}
	o.keys[string(key)] = e
	f.entries++
	return e
}

func (f *Finder) value(s *Scanner, p *place) {
	if p.row == f.row {
		s.Fail()
	}
	p.row = f.row
	if p.object == nil {
		f.values[p.slot] = s.Value()
		return
	}
	c := s.Peek()
	start := s.at
	if c != '{' {
		v := s.Value()
		f.inText = f.inText || v.mayHold()
		f.keep(p, v)
		return
	}
	f.object(s, p.object)
	if !s.unsure {
		f.keep(p, Value{Object, s.text[start:s.at]})
	}
}

func (f *Finder) keep(p *place, v Value) {
	if p.slot >= 0 {
		f.values[p.slot] = v
	}
}
