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

// jsonRows is the parser's state.
type jsonRows struct {
	in     *input
	opts   *Options
	bound  []*binding
	fields []*field // by binding
	walker walker   // closed if there is no map: keys bind as they turn up
	row    *genericRow
	first  []string // fields of the first row, for errors
	forked bool     // to bind a key changes what the rows after it mean
}

func openJSONL(in *input, o *Options) (parser, error) {
	bound, err := o.mapped()
	if err != nil {
		return nil, err
	}
	j := &jsonRows{in: in, opts: o, row: &genericRow{in: in}}
	j.walker = walker{places: make(map[string]*place), closed: len(bound) == 0}
	j.bind(bound)
	in.finish, in.fork = j.allSeen, j.fork
	return j.parse, nil
}

func (j *jsonRows) fork(in *input) parser {
	if j.row.arrival == nil || !j.row.arrival.decided {
		return nil
	}
	other := &jsonRows{in: in, opts: j.opts, row: j.row.fork(in), first: j.first, forked: true}
	other.walker = walker{places: make(map[string]*place), closed: j.walker.closed}
	for key, p := range j.walker.places {
		if p.field == nil && !p.way {
			other.walker.ignore(key)
		}
	}
	other.bind(forkBindings(j.bound))
	return other.parse
}

var errNewKey = errors.New("a key that is a column's, and new")

// bind makes bound the bindings; those there were come first in it.
func (j *jsonRows) bind(bound []*binding) {
	j.bound = bound
	for i := len(j.fields); i < len(bound); i++ {
		j.fields = append(j.fields, new(field))
		j.walker.want(bound[i].field, j.fields[i])
	}
}

func (j *jsonRows) parse(row []byte, rec *traces.Record) error {
	j.clear()
	if j.first == nil || !j.walker.walk(row) {
		j.clear()
		if err := j.decode(row); err != nil {
			return err
		}
	}
	return j.fill(row, rec)
}

func (j *jsonRows) clear() {
	for _, f := range j.fields {
		*f = field{}
	}
}

// decode fills the fields by way of encoding/json, and learns new keys.
func (j *jsonRows) decode(row []byte) error {
	object, err := decodeObject(row)
	if err != nil {
		return err
	}
	if j.first == nil {
		j.first = paths([]string{}, "", object)
	}
	if j.walker.closed {
		if err := j.learn(object); err != nil {
			return err
		}
	}
	for i, b := range j.bound {
		if v, ok := lookup(object, b.field); ok {
			*j.fields[i] = fieldOf(v, b.column)
		}
	}
	return nil
}

// learn binds keys that bear the name of a column and that no row had so far.
func (j *jsonRows) learn(object map[string]any) error {
	var fresh []string
	for key := range object {
		switch {
		case j.walker.places[key] != nil:
		case columnOfField(key) == nil:
			j.walker.ignore(key)
		default:
			fresh = append(fresh, key)
		}
	}
	if len(fresh) > 0 && j.forked {
		return errNewKey
	}
	slices.Sort(fresh)
	bound, err := j.opts.bindFields(j.bound, fresh)
	if err != nil {
		return j.in.errorAt("", err)
	}
	j.bind(bound)
	return nil
}

// fill puts the fields into the record.
func (j *jsonRows) fill(row []byte, rec *traces.Record) error {
	arrived := false
	for i, b := range j.bound {
		f := j.fields[i]
		if !f.found {
			continue
		}
		if !b.seen.Load() {
			b.seen.Store(true)
		}
		arrived = arrived || b.column.Kind == Stamp
		if f.err != nil {
			return inField(b.field, f.err)
		}
		if err := j.row.set(rec, b, f.text); err != nil {
			return inField(b.field, err)
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
	for _, b := range j.bound {
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
