package formats

import (
	"bytes"
	"encoding/json"
	"strings"

	"wavetank/traces/jsonscan"
)

// A node is a value of a row. It is taken apart only if something in it is wanted:
// prompts and answers are most of the bytes of a log, and no business of ours.
type node struct {
	jsonscan.Value // Absent of text that is no JSON, as in a cell of CSV
	opened         bool
	kids           []member // of an object or a list
}

type member struct {
	key  []byte // nil in a list
	node node
}

func textNode(text []byte) *node { return &node{Value: jsonscan.Value{Raw: text}} }

// open returns the members of an object or a list, or of a string that holds one.
func (r *mapRow) open(n *node) []member {
	if n.opened {
		return n.kids
	}
	n.opened = true
	text := n.Raw
	if !n.container() {
		text = bytes.TrimSpace(n.Text())
		if len(text) == 0 || text[0] != '{' && text[0] != '[' {
			return nil
		}
		if !jsonscan.Valid(text) {
			r.broken = true
			return nil
		}
	}
	n.kids = r.members(text)
	return n.kids
}

// members cuts one level of a valid object or list.
func (r *mapRow) members(text []byte) []member {
	start := len(r.arena)
	s := jsonscan.New(text)
	if s.Peek() == '{' {
		for s.Open('{'); s.More('}'); {
			r.arena = append(r.arena, member{key: s.Key(), node: node{Value: s.Value()}})
		}
		return r.arena[start:]
	}
	for s.Open('['); s.More(']'); {
		r.arena = append(r.arena, member{node: node{Value: s.Value()}})
	}
	return r.arena[start:]
}

// container tells whether the node is an object or a list.
func (n *node) container() bool { return n.Kind == jsonscan.Object || n.Kind == jsonscan.List }

// null tells whether the node is known to be nothing.
func (n *node) null() bool { return n == nil || n.Kind == jsonscan.Null }

// scalar returns a value as text, nil for one that is unknown.
func (n *node) scalar(c *Column) ([]byte, error) {
	if !n.container() || c.Kind == Body {
		if text := n.Text(); !isUnknown(text) {
			return text, nil
		}
		return nil, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(n.Raw))
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
		return bytes.Clone(n.Raw), nil
	}
	if text := n.Text(); isWord(text) {
		return bytes.Clone(text), nil
	}
	return json.Marshal(string(n.Text()))
}

// find goes down the path of a term. There are several nodes at its end only if it
// ends in a sum. They are valid until the next call.
func (r *mapRow) find(t *term) []*node {
	r.found = r.found[:0]
	n, path := &r.root, t.path
	if r.inPlace && path[0].how == byKey {
		n, path = r.slot(t.slot), path[1:]
	}
	for _, s := range path {
		if n == nil {
			return nil
		}
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
	}
	if n != nil {
		r.found = append(r.found, n)
	}
	return r.found
}

// slot returns what the finder found, or nil if that is nothing.
func (r *mapRow) slot(i int) *node {
	v := r.finder.Value(i)
	if v.Kind == jsonscan.Absent {
		return nil
	}
	if n := &r.slots[i]; n.Kind == jsonscan.Absent {
		*n = node{Value: v}
	}
	return &r.slots[i]
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

// withPrefix finds all keys that begin so.
func (r *mapRow) withPrefix(n *node, prefix string) {
	kids := r.open(n)
	for i := range kids {
		if strings.HasPrefix(string(kids[i].key), prefix) {
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
	if text := n.Text(); !n.container() && len(text) > 0 && text[0] != '[' && text[0] != '{' {
		for item := range bytes.SplitSeq(bytes.ReplaceAll(text, []byte(" : "), []byte(",")), []byte(",")) {
			r.found = append(r.found, textNode(bytes.TrimSpace(item)))
		}
		return
	}
	kids := r.open(n)
	if n.null() || len(kids) > 0 && kids[0].key != nil || n.Kind == jsonscan.Object {
		r.found = append(r.found, n)
		return
	}
	for i := range kids {
		r.found = append(r.found, &kids[i].node)
	}
}
