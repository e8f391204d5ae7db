package formats

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A node is a value of a row. It is taken apart only if something in it is wanted:
// prompts and answers are most of the bytes of a log, and no business of ours.
type node struct {
	raw    []byte
	plain  bool // raw is the text itself, as a cell of CSV, and no JSON
	opened bool
	kids   []member // of an object or a list
}

type member struct {
	key  []byte // nil in a list
	node node
}

// open returns the members of an object or a list, or of a string that holds one.
func (r *mapRow) open(n *node) []member {
	if n.opened {
		return n.kids
	}
	n.opened = true
	text := n.raw
	if n.plain || len(text) > 0 && text[0] == '"' {
		text = bytes.TrimSpace(n.text())
		if len(text) == 0 || text[0] != '{' && text[0] != '[' {
			return nil
		}
		var whole bytes.Buffer
		if err := json.Compact(&whole, text); err != nil {
			r.broken = true
			return nil
		}
		text = whole.Bytes()
	}
	n.kids = r.members(text)
	return n.kids
}

// members cuts one level of valid JSON.
func (r *mapRow) members(text []byte) []member {
	s := scanner{b: text}
	object := s.take('{')
	if !object && !s.take('[') || s.take('}') || s.take(']') {
		return nil
	}
	start := len(r.arena)
	for {
		var m member
		if object {
			m.key = s.value()
			m.key = (&node{raw: m.key}).text()
			s.take(':')
		}
		m.node.raw = s.value()
		r.arena = append(r.arena, m)
		if !s.take(',') {
			return r.arena[start:]
		}
	}
}

// value steps over a value of valid JSON.
func (s *scanner) value() []byte {
	s.skipSpace()
	start := s.i
	switch {
	case s.at('"'):
		s.skipString()
	case s.at('{'), s.at('['):
		s.skipNested()
	default:
		s.word()
	}
	return s.b[start:s.i]
}

// text returns the text of a string, and any other value as it is written.
func (n *node) text() []byte {
	if n.plain || len(n.raw) == 0 || n.raw[0] != '"' {
		return n.raw
	}
	inside := n.raw[1 : len(n.raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return inside
	}
	var s string
	if json.Unmarshal(n.raw, &s) != nil {
		return inside
	}
	return []byte(s)
}

// container tells whether the node is an object or a list.
func (n *node) container() bool {
	return !n.plain && len(n.raw) > 0 && (n.raw[0] == '{' || n.raw[0] == '[')
}

// null tells whether the node is known to be nothing.
func (n *node) null() bool { return n == nil || !n.plain && string(n.raw) == "null" }

// scalar returns a value as text, nil for one that is unknown.
func (n *node) scalar(c *Column) ([]byte, error) {
	if !n.container() {
		if text := n.text(); !isUnknown(text) {
			return text, nil
		}
		return nil, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(n.raw))
	d.UseNumber()
	if c.Kind == Object {
		if err := d.Decode(&v); err != nil {
			return nil, rejectf(BadJSON, "%w", err)
		}
	} else {
		v = map[string]any{}
	}
	f := fieldOf(v, c)
	return f.text, f.err
}

// json returns a value as JSON. A number or a boolean in quotes loses them: some
// logs, and all CSV, know nothing but text.
func (n *node) json() (json.RawMessage, error) {
	if n.container() {
		return bytes.Clone(n.raw), nil
	}
	if text := n.text(); isWord(text) {
		return bytes.Clone(text), nil
	}
	return json.Marshal(string(n.text()))
}

// find goes down a path. There are several nodes at its end only if it ends in a
// sum. They are valid until the next call.
func (r *mapRow) find(path []step) []*node {
	r.found = r.found[:0]
	n := &r.root
	for _, s := range path {
		switch s.how {
		case byKey:
			n = r.descend(n, s.key)
		case byIndex:
			n = r.item(n, s.index)
		case byAll:
			r.list(n)
			return r.found
		case byPrefix:
			r.withPrefix(n, s.key)
			return r.found
		}
		if n == nil {
			return nil
		}
	}
	r.found = append(r.found, n)
	return r.found
}

// descend finds a dotted path. Keys may hold dots themselves, and the longest key
// that is there wins.
func (r *mapRow) descend(n *node, path string) *node {
	kids := r.open(n)
	if v := get(kids, path); v != nil {
		return v
	}
	for i := len(path) - 1; i > 0; i-- {
		if path[i] != '.' {
			continue
		}
		if inner := get(kids, path[:i]); inner != nil {
			if v := r.descend(inner, path[i+1:]); v != nil {
				return v
			}
		}
	}
	return nil
}

// get finds a key; of one that comes twice, the last.
func get(kids []member, key string) *node {
	for i := len(kids) - 1; i >= 0; i-- {
		if string(kids[i].key) == key {
			return &kids[i].node
		}
	}
	return nil
}

// withPrefix finds all keys that begin with the last part of path.
func (r *mapRow) withPrefix(n *node, path string) {
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		if n = r.descend(n, path[:i]); n == nil {
			return
		}
		path = path[i+1:]
	}
	kids := r.open(n)
	for i := range kids {
		if strings.HasPrefix(string(kids[i].key), path) {
			r.found = append(r.found, &kids[i].node)
		}
	}
}

// item returns the ith item of a list, from the end if i is negative.
func (r *mapRow) item(n *node, i int) *node {
	r.list(n)
	if i < 0 {
		i += len(r.found)
	}
	if i < 0 || i >= len(r.found) {
		n = nil
	} else {
		n = r.found[i]
	}
	r.found = r.found[:0]
	return n
}

// list finds the items of a JSON list, or of the text "a, b": a proxy that tried
// several servers logs that, with " : " where it was sent elsewhere. Anything else
// is a list of itself.
func (r *mapRow) list(n *node) {
	if text := n.text(); !n.container() && len(text) > 0 && text[0] != '[' && text[0] != '{' {
		for item := range bytes.SplitSeq(bytes.ReplaceAll(text, []byte(" : "), []byte(",")), []byte(",")) {
			r.found = append(r.found, &node{raw: bytes.TrimSpace(item), plain: true})
		}
		return
	}
	kids := r.open(n)
	if n.null() || len(kids) > 0 && kids[0].key != nil || n.raw[0] == '{' {
		r.found = append(r.found, n)
		return
	}
	for i := range kids {
		r.found = append(r.found, &kids[i].node)
	}
}
