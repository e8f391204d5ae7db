package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"wavetank/traces"
	"wavetank/traces/jsonscan"
)

// genericJSONL reads JSON objects, one a line, whose keys bear columns' names, or
// are mapped to them by dotted paths.
var genericJSONL = Format{
	Name:  "jsonl",
	About: "any JSON lines; keys by the columns' names, or dotted paths mapped to them",
	Sniff: sniffJSONL,
	open:  openJSONL,
}

func sniffJSONL(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	for key := range keys {
		if c := columnOfField(key); c != nil && c.Kind == Stamp {
			return nil
		}
	}
	return errNoArrival(slices.Sorted(maps.Keys(keys)))
}

// A field is one wanted value of a row.
type field struct {
	found bool
	text  []byte // nil: null
	err   error  // it is of the wrong kind
}

// jsonRows is the parser's state.
type jsonRows struct {
	in     *input
	opts   *Options
	fields []field          // of the row, by binding
	slots  []int            // of the finder, by binding
	finder *jsonscan.Finder // closed if there is no map: keys bind as they turn up
	row    *genericRow
	first  []string // fields of the first row, for errors
	forked bool     // to bind a key changes what the rows after it mean
}

func openJSONL(in *input, o *Options) (parser, error) {
	bound, err := o.mapped()
	if err != nil {
		return nil, err
	}
	j := newJSONRows(in, o)
	if len(bound) == 0 {
		j.finder.Close()
	}
	j.bind(bound)
	in.finish, in.fork, in.bodies = j.allSeen, j.fork, len(bound) == 0
	return j.parse, nil
}

func newJSONRows(in *input, o *Options) *jsonRows {
	j := &jsonRows{in: in, opts: o, row: newGenericRow(in, nil), finder: jsonscan.NewFinder()}
	j.row.utf8 = true // jsonscan and encoding/json see to it
	return j
}

func (j *jsonRows) fork(in *input) parser {
	if !j.row.decided() {
		return nil
	}
	other := &jsonRows{
		in: in, opts: j.opts, row: j.row.fork(in), first: j.first, forked: true, finder: j.finder.Fork(),
		fields: make([]field, len(j.fields)), slots: slices.Clone(j.slots),
	}
	in.cells = other.read
	return other.parse
}

var errNewKey = errors.New("a key that is a column's, and new")

// bind makes bound the bindings; those there were come first in it.
func (j *jsonRows) bind(bound []*binding) {
	for _, b := range bound[len(j.row.bound):] {
		j.fields, j.slots = append(j.fields, field{}), append(j.slots, j.finder.Want(b.field))
	}
	j.row.bind(bound)
}

func (j *jsonRows) parse(row []byte, rec *traces.Record) error {
	if err := j.look(row); err != nil {
		return err
	}
	if err := j.fill(row, j.row.cells); err != nil { // which to look may have made anew
		return err
	}
	j.row.store(rec)
	return nil
}

// read is parse for a fork, whose bindings are what they are.
func (j *jsonRows) read(row []byte, to []traces.Cell) error {
	if err := j.look(row); err != nil {
		return err
	}
	return j.fill(row, to)
}

// look fills the fields.
func (j *jsonRows) look(row []byte) error {
	if j.first != nil && j.find(row) {
		return nil
	}
	return j.decode(row)
}

// find fills the fields in place, unless that takes encoding/json.
func (j *jsonRows) find(row []byte) bool {
	if !j.finder.Find(row) {
		return false
	}
	for i := range j.fields {
		f, v := &j.fields[i], j.finder.Value(j.slots[i])
		f.found, f.text, f.err = v.Kind != jsonscan.Absent, nil, nil
		switch {
		case v.Kind == jsonscan.Object || v.Kind == jsonscan.List:
			if j.row.bound[i].column.Kind != Body {
				return false
			}
			f.text = v.Raw
		case f.found && v.Kind != jsonscan.Null:
			f.text = v.Text()
		}
	}
	return true
}

// decode fills the fields by way of encoding/json, and learns new keys.
func (j *jsonRows) decode(row []byte) error {
	clear(j.fields)
	object, err := decodeObject(row)
	if err != nil {
		return err
	}
	if j.first == nil {
		j.first = paths([]string{}, "", object)
	}
	if j.finder.Closed() {
		if err := j.learn(object); err != nil {
			return err
		}
	}
	for i, b := range j.row.bound {
		v, ok := lookup(object, b.field)
		switch {
		case !ok:
		case b.column.Kind == Body:
			j.fields[i] = asItStands(row, b.field)
		default:
			j.fields[i] = fieldOf(v, b.column)
		}
	}
	return nil
}

// asItStands returns a value of a row that is valid as the row has it, which decoding
// does not keep.
func asItStands(row []byte, key string) field {
	var object map[string]json.RawMessage
	err := json.Unmarshal(row, &object)
	return field{found: true, text: unquote(object[key]), err: err}
}

// learn binds keys that bear the name of a column and that no row had so far.
func (j *jsonRows) learn(object map[string]any) error {
	var fresh []string
	for key := range object {
		c := columnOfField(key)
		switch {
		case j.finder.Knows(key):
		case c == nil || !j.opts.takes(c):
			j.finder.Ignore(key)
		default:
			fresh = append(fresh, key)
		}
	}
	if len(fresh) > 0 && j.forked {
		return errNewKey
	}
	slices.Sort(fresh)
	bound, err := j.opts.bindFields(j.row.bound, fresh)
	if err != nil {
		return j.in.errorAt("", err)
	}
	j.bind(bound)
	return nil
}

// fill reads the fields.
func (j *jsonRows) fill(row []byte, to []traces.Cell) error {
	arrived := false
	for i, b := range j.row.bound {
		f := &j.fields[i]
		if !f.found {
			to[i].Known = false
			continue
		}
		if !b.seen.Load() {
			b.seen.Store(true)
		}
		arrived = arrived || b.column.Kind == Stamp
		if f.err != nil {
			return inField(b.field, f.err)
		}
		if err := j.row.read(b, f.text, &to[i]); err != nil {
			return err
		}
	}
	if arrived {
		return nil
	}
	object, err := decodeObject(row)
	if err != nil {
		return err
	}
	return rejectf(MissingField, "no arrival; the row has %s", quoteList(paths(nil, "", object)))
}

// fieldOf returns a decoded value as text.
func fieldOf(v any, c *Column) field {
	switch v := v.(type) {
	case nil:
		return field{found: true}
	case string:
		return field{found: true, text: []byte(v)}
	case json.Number:
		return field{found: true, text: []byte(v)}
	case bool:
		return field{found: true, text: fmt.Append(nil, v)}
	}
	if c.Kind != Object {
		return field{found: true, err: rejectf(BadValue, "an object or a list, where column %s takes a value", c.Name)}
	}
	text, err := json.Marshal(v)
	return field{found: true, text: text, err: err}
}

// allSeen checks that no mapped field was a slip of the pen. Some fields are in
// few rows, so that only the end of the log can tell.
func (j *jsonRows) allSeen() error {
	for _, b := range j.row.bound {
		if !b.seen.Load() && j.first != nil {
			err := fmt.Errorf("column %s: no row has this field; the first row has %s", b.column.Name, quoteList(j.first))
			return &SyntaxError{File: j.in.name, Field: b.field, Err: err}
		}
	}
	return nil
}

// decodeObject reads one JSON object and nothing after it. Numbers stay text:
// a float64 does not hold 64-bit ids or nanoseconds.
func decodeObject(line []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil, rejectf(BadJSON, "%w", err)
	}
	if object == nil {
		return nil, rejectf(BadJSON, "not an object")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, rejectf(BadJSON, "more after the object")
	}
	return object, nil
}

// lookup finds a dotted path. Keys may hold dots themselves, and the longest key
// that is there wins.
func lookup(object map[string]any, path string) (any, bool) {
	if v, ok := object[path]; ok {
		return v, true
	}
	for i := len(path) - 1; i > 0; i-- {
		if path[i] != '.' {
			continue
		}
		inner, ok := object[path[:i]].(map[string]any)
		if !ok {
			continue
		}
		if v, ok := lookup(inner, path[i+1:]); ok {
			return v, true
		}
	}
	return nil, false
}

// paths lists the dotted paths of an object's values, sorted.
func paths(list []string, prefix string, object map[string]any) []string {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		inner, ok := object[key].(map[string]any)
		const deep = 8
		if ok && len(inner) > 0 && strings.Count(prefix, ".") < deep {
			list = paths(list, prefix+key+".", inner)
			continue
		}
		list = append(list, prefix+key)
	}
	return list
}
