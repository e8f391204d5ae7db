package formats

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"wavetank/traces"
	"wavetank/traces/jsonscan"
)

// mapRows reads the rows of a log by a map: lines of JSON or CSV, or one JSON list,
// or objects over many lines.
type mapRows struct {
	m     *logMap
	row   mapRow
	table *table // csv
	cells []cell // csv: the fields that some mapping wants
}

type cell struct {
	name []byte
	at   int
}

// builtin is the map for one log, as Options amend it.
func (m *logMap) builtin(o *Options) (*logMap, error) {
	if o.TimeUnit != "" {
		return nil, errors.New("a built-in map knows its time unit: it can be told for csv and jsonl only")
	}
	both, err := m.amended(o)
	if err == nil {
		both.usage = true
	}
	return both, err
}

func (m *logMap) open(in *input, o *Options) (parser, error) {
	both, err := m.builtin(o)
	if err != nil {
		return nil, err
	}
	return both.lines(in)
}

func (m *logMap) document(in *input, o *Options) (document, error) {
	both, err := m.builtin(o)
	if err != nil {
		return document{}, err
	}
	return both.list(in)
}

// lines opens a log of one row a line.
func (m *logMap) lines(in *input) (parser, error) {
	r, err := m.rows(in)
	if err != nil {
		return nil, err
	}
	head, err := in.lines.r.Peek(in.lines.r.Size())
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !looksLikeJSON(head) {
		err = r.readHeader(in)
	} else {
		err = nil
	}
	in.fork = r.fork
	return r.parse, err
}

func (r *mapRows) readHeader(in *input) (err error) {
	if r.table, err = readTable(in); err != nil {
		return err
	}
	for i, name := range r.table.header {
		if r.m.wants(name) {
			r.cells = append(r.cells, cell{[]byte(name), i})
		}
	}
	return nil
}

// rows tells in what the map says of the log as a whole.
func (m *logMap) rows(in *input) (*mapRows, error) {
	arrival := m.find(&mapping{column: columnNamed("arrival")})
	if arrival < 0 {
		return nil, needArrival(nil)
	}
	in.source.Stamps, in.meta.Vantage, in.meta.Notes = m.stamps, m.vantage, m.notes
	if m.stamps == "" && m.mappings[arrival].endStamped() {
		in.source.Stamps = "end"
	}
	in.bodies = m.find(&mapping{column: columnNamed("body")}) >= 0
	return m.reader(in), nil
}

// reader has every term know where the finder puts what its path begins with.
func (m *logMap) reader(in *input) *mapRows {
	row := mapRow{in: in, finder: jsonscan.NewFinder(), params: make(map[string]json.RawMessage)}
	for t := range m.terms {
		if len(t.path) == 0 || t.path[0].how != byKey {
			continue
		}
		if t.slot = row.finder.Want(t.path[0].key); t.slot == len(row.slots) {
			row.slots = append(row.slots, node{})
		}
	}
	return &mapRows{m: m, row: row}
}

// terms yields all terms of a map.
func (m *logMap) terms(yield func(*term) bool) {
	for _, b := range m.mappings {
		for i := range b.choices {
			for _, t := range b.choices[i].terms() {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// fork is for another goroutine. What the arrivals are, dates or numbers of which
// unit, is for the first rows to decide; the fork gives back rows that would.
func (r *mapRows) fork(in *input) parser {
	m, decided := *r.m, false
	m.mappings = make([]*mapping, len(r.m.mappings))
	for i, b := range r.m.mappings {
		m.mappings[i] = b.copy(func(t *term) {
			if t.arrival == nil || !t.arrival.decided {
				t.arrival = nil
				return
			}
			own := *t.arrival
			own.in, decided = in, true
			t.arrival = &own
		})
	}
	if !decided {
		return nil
	}
	other := m.reader(in)
	other.cells, other.row.forked = r.cells, true
	if r.table != nil {
		other.table = r.table.fork(in)
	}
	return other.parse
}

// endStamped tells whether the arrival is a stamp less a duration.
func (b *mapping) endStamped() bool {
	s := b.choices[0].addends
	return len(s) > 1 && s[1].minus
}

// wants tells whether a field, or something in it, is mapped.
func (m *logMap) wants(field string) bool {
	for t := range m.terms {
		if t.wants(field) {
			return true
		}
	}
	return false
}

// wants tells whether the term is the field, or something in it.
func (t *term) wants(field string) bool {
	if len(t.path) == 0 {
		return false
	}
	first := t.path[0]
	return first.key == field || strings.HasPrefix(first.key, field+".") || first.how == byPrefix && strings.HasPrefix(field, first.key)
}

// terms returns all terms of a choice.
func (c *choice) terms() (list []*term) {
	for i := range c.addends {
		list = append(list, &c.addends[i])
	}
	if c.when != nil {
		list = append(list, c.when)
	}
	if c.not != nil {
		list = append(list, c.not)
	}
	return list
}

// parse reads a row by the map.
func (r *mapRows) parse(text []byte, rec *traces.Record) error {
	if err := r.read(text); err != nil {
		return err
	}
	r.row.skip, r.row.broken = false, false
	clear(r.row.params)
	for _, b := range r.m.mappings {
		known, err := b.apply(&r.row, rec)
		switch {
		case err != nil:
			return r.locate(b, err)
		case r.row.skip:
			return inField(b.text, rejectf(NotARequest, "the row is of something else"))
		case !known && b.column.Kind == Stamp:
			return inField(b.text, rejectf(MissingField, "no arrival; the row has %s", quoteList(r.fields(text))))
		}
	}
	if r.row.broken {
		r.row.in.warn("a JSON object in a string is broken, as one that was cut short, and was read as unknown")
	}
	if r.m.usage && !rec.Outcome.TokenBasis.Known {
		usageSeen(rec)
	}
	return r.setParams(rec)
}

func (r *mapRows) setParams(rec *traces.Record) error {
	if len(r.row.params) == 0 {
		return nil
	}
	params, err := json.Marshal(r.row.params)
	rec.Params = traces.Some(string(params))
	return err
}

// locate names what was mapped to the column, unless a field of it is named.
func (r *mapRows) locate(b *mapping, err error) error {
	if row, ok := err.(*rowError); ok && row.field == "" {
		row.field = b.text
	}
	return err
}

// read takes a row apart into fields.
func (r *mapRows) read(text []byte) error {
	r.row.arena = r.row.arena[:0]
	if r.table != nil {
		return r.readCells(text)
	}
	clear(r.row.slots)
	sure := r.row.finder.Find(text)
	r.row.inPlace = sure && !r.row.finder.InText()
	r.row.root = node{Value: jsonscan.Value{Kind: jsonscan.Object, Raw: text}}
	if sure || firstByte(text) == '{' && jsonscan.Valid(text) {
		return nil
	}
	_, err := decodeObject(text)
	return err
}

func (r *mapRows) readCells(text []byte) error {
	fields, err := r.table.split(text)
	if err != nil {
		return err
	}
	for _, c := range r.cells {
		r.row.arena = append(r.row.arena, member{key: c.name, node: *textNode(fields[c.at])})
	}
	r.row.root = node{opened: true, kids: r.row.arena}
	return nil
}

// fields lists what a row has, for an error.
func (r *mapRows) fields(text []byte) []string {
	if r.table != nil {
		return r.table.header
	}
	object, err := decodeObject(text)
	if err != nil {
		return nil
	}
	return paths(nil, "", object)
}
