package formats

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"wavetank/traces"
)

// A logMap says which field of a flat log is what.
type logMap struct {
	about    string
	has      [][]string // sniffed: of each group of fields the first row has one
	stamps   string     // start or end
	vantage  string
	notes    []string
	usage    bool // token counts are usage as the server reported it
	mappings []*mapping
}

// A mapping fills a column with the first of its choices that is known.
type mapping struct {
	text    string // as it was written
	column  *Column
	param   string // the KEY of params.KEY
	choices []choice
	words   words
}

// Columns that only a map has.
var (
	skipColumn  = Column{Name: "skip", Kind: Bool, read: readTruth}
	rateColumn  = Column{Name: "sampling_rate", Kind: Text, read: checkRate}
	paramColumn = Column{Name: "params.KEY", Kind: Object}
)

// ParseMapFile reads a map: statements as Options.Map takes them, one a line, beside
// blank lines and lines that begin with #. Each is checked; an error is a
// *SyntaxError that calls the file name.
//
//	COLUMN = FIELD                dotted path or CSV header; a COLUMN can be params.KEY, too
//	COLUMN = A | B | "text"       the first that is known; "text" always is
//	COLUMN = A + B? - C           of counts and times, with blanks around the sign; ? is 0 where unknown
//	COLUMN = FIELD:ms             the unit of a number: s, ms, us, ns
//	COLUMN = FIELD{ERROR:error, 5*:error, *:ok}
//	                              words for words; * stands for anything, as a result for the word itself;
//	                              the result - and a word that is not there are unknown
//	COLUMN = A if B               if B is known and not false; A if B != C: if both are known and differ
//	COLUMN = LIST[0], LIST[-1], LIST[*]
//	                              of a JSON list, or of the text "a, b": the first, the last, the sum
//	COLUMN = OBJECT.prefix*       the sum of the object's values whose keys begin so
//	skip = FIELD{GENERATION:false, *:true}
//	                              rows that are no requests
//	body = OBJECT | TEXT          the request body, kept only if Options.KeepBodies says so
//	sampling_rate = "0.1"         the share of the requests that was logged
//	stamps: end                   what the arrival was in the log: start, end
//	vantage: gateway              who measured the latencies: client, gateway, server
//	note: TEXT                    what a reader of the figures must know
//
// A string that holds a JSON object is read as that object. A sum of which no term
// is known is unknown, and so is a difference of times that is negative.
func ParseMapFile(r io.Reader, name string) ([]string, error) {
	var statements []string
	m := new(logMap)
	err := eachStatement(r, name, func(line string) error {
		statements = append(statements, line)
		return m.add(line, new(Options))
	})
	if err != nil {
		return nil, err
	}
	return statements, nil
}

// eachStatement takes the lines of a map that say something, until one is refused.
func eachStatement(r io.Reader, name string, take func(line string) error) error {
	lines := bufio.NewScanner(r)
	for n := int64(1); lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := take(line); err != nil {
			return &SyntaxError{File: name, Line: n, Err: err}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// heads are the lines of a map's head by their key.
var heads = map[string]func(m *logMap, text string){
	"about":   func(m *logMap, text string) { m.about = text },
	"stamps":  func(m *logMap, text string) { m.stamps = text },
	"vantage": func(m *logMap, text string) { m.vantage = text },
	"note":    func(m *logMap, text string) { m.notes = append(m.notes, text) },
	"has": func(m *logMap, text string) {
		for group := range strings.FieldsSeq(text) {
			m.has = append(m.has, strings.Split(group, "|"))
		}
	},
}

// headWords are all that some lines of the head can say.
var headWords = map[string][]string{"stamps": {"start", "end"}, "vantage": {"client", "gateway", "server"}}

// headOf takes a line of a map's head apart; false if it is of a column.
func headOf(line string) (key, text string, ok bool) {
	key, text, ok = strings.Cut(line, ": ")
	return key, strings.TrimSpace(text), ok && heads[key] != nil
}

// add takes a line of a map.
func (m *logMap) add(line string, o *Options) error {
	if key, text, ok := headOf(line); ok {
		if words := headWords[key]; words != nil && !slices.Contains(words, text) {
			return fmt.Errorf("%s: must be %s", key, strings.Join(words, " or "))
		}
		heads[key](m, text)
		return nil
	}
	b, err := parseMapping(line, o)
	if err != nil {
		return err
	}
	if twin := m.find(b); twin >= 0 {
		return fmt.Errorf("column %s is mapped twice: join its fields with |", b.name())
	}
	m.append(b)
	return nil
}

// append adds a mapping; what is to be skipped comes first, for it may lack the rest.
func (m *logMap) append(b *mapping) {
	if b.column == &skipColumn {
		m.mappings = slices.Insert(m.mappings, 0, b)
		return
	}
	m.mappings = append(m.mappings, b)
}

// find returns where the map fills the column that b fills, or -1.
func (m *logMap) find(b *mapping) int {
	return slices.IndexFunc(m.mappings, func(other *mapping) bool { return other.name() == b.name() })
}

// amended is a copy of the map, for one log, with statements of the user, which
// take the place of its own for the same column.
func (m *logMap) amended(o *Options) (*logMap, error) {
	user := new(logMap)
	for _, line := range o.Map {
		if err := user.add(line, o); err != nil {
			return nil, fmt.Errorf("map %q: %w", line, err)
		}
	}
	both := *m
	both.mappings = make([]*mapping, len(m.mappings))
	for i, b := range m.mappings {
		both.mappings[i] = b.copy((*term).fresh)
	}
	both.notes = append(slices.Clip(m.notes), user.notes...)
	if user.stamps != "" {
		both.stamps = user.stamps
	}
	if user.vantage != "" {
		both.vantage = user.vantage
	}
	for _, b := range user.mappings {
		if at := both.find(b); at >= 0 {
			both.mappings[at] = b
			continue
		}
		both.append(b)
	}
	both.mappings = slices.DeleteFunc(both.mappings, func(b *mapping) bool { return !o.takes(b.column) })
	return &both, nil
}

// copy returns a mapping whose terms are those that change makes of its own.
func (b *mapping) copy(change func(*term)) *mapping {
	twin := *b
	twin.words, twin.choices = words{}, slices.Clone(b.choices)
	for i := range twin.choices {
		c := &twin.choices[i]
		c.addends = slices.Clone(c.addends)
		for _, t := range []**term{&c.when, &c.not} {
			if *t != nil {
				other := **t
				*t = &other
			}
		}
		for _, t := range c.terms() {
			change(t)
		}
	}
	return &twin
}

// fresh is of a term that has seen no log.
func (t *term) fresh() { t.seen, t.arrival = new(atomic.Bool), nil }

func (b *mapping) name() string {
	if b.param != "" {
		return "params." + b.param
	}
	return b.column.Name
}

// plain tells whether the mapping is of one field, which the readers of csv and
// jsonl find in place. They do not keep an object as it stands.
func (b *mapping) plain() bool {
	c := b.choices[0]
	t := &c.addends[0]
	return b.column.Kind != Body && len(b.choices) == 1 && len(c.addends) == 1 && c.when == nil && columnNamed(b.name()) != nil &&
		!t.constant && !t.optional && t.table == nil && len(t.path) == 1 && t.path[0].how == byKey
}

func parseMapping(line string, o *Options) (*mapping, error) {
	name, rest, ok := strings.Cut(line, "=")
	name, rest = strings.TrimSpace(name), strings.TrimSpace(rest)
	if !ok || name == "" || rest == "" {
		return nil, fmt.Errorf("must be COLUMN=FIELD")
	}
	b := &mapping{text: rest}
	if err := b.setColumn(name); err != nil {
		return nil, err
	}
	var err error
	if b.choices, err = parseChoices(rest); err != nil {
		return nil, err
	}
	for _, c := range b.choices {
		if err := b.check(c.addends, o); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *mapping) setColumn(name string) error {
	param, isParam := strings.CutPrefix(name, "params.")
	switch {
	case isParam && param != "":
		b.column, b.param = &paramColumn, param
	case name == skipColumn.Name:
		b.column = &skipColumn
	case name == rateColumn.Name:
		b.column = &rateColumn
	default:
		b.column = columnNamed(name)
	}
	if b.column == nil {
		return fmt.Errorf("there is no column %q; there are %s, skip, sampling_rate, params.KEY", name, strings.Join(columnNames(), ", "))
	}
	return nil
}

// check holds a choice against the kind of its column, and gives its times their
// units: a date needs none, and only a difference of two is a duration.
func (b *mapping) check(s addends, o *Options) error {
	adds := b.column.Kind == Count || b.column.Kind == Stamp || b.column.Kind == Duration
	if b.column == &rateColumn && !s[0].constant {
		return fmt.Errorf("column %s takes a number in quotes: no log tells it", b.name())
	}
	if !adds && (len(s) > 1 || s[0].sums()) {
		return fmt.Errorf("column %s takes no sum", b.name())
	}
	for i := range s {
		t := &s[i]
		if err := b.checkWords(t); err != nil {
			return err
		}
		if t.constant || b.column.Kind != Stamp && b.column.Kind != Duration {
			continue
		}
		if t.unit == 0 && i == 0 && b.column.Kind == Stamp {
			t.unit = unitNamed(o.TimeUnit)
		}
		if t.unit == 0 {
			t.unit = unitOf(t.name)
		}
		if t.unit == 0 && b.column.Kind == Duration && len(s) == 1 {
			return fmt.Errorf("field %q does not tell the unit of column %s: map it as %s=%s:ms, or :s, :us, :ns", t.name, b.name(), b.name(), t.name)
		}
	}
	return nil
}

// checkWords tries what a term can become of itself.
func (b *mapping) checkWords(t *term) error {
	if b.column.read == nil {
		return nil
	}
	for _, w := range t.table {
		if w.to == unknownWord || w.to == sameWord {
			continue
		}
		if err := b.column.read(value{b: []byte(w.to), unit: 1}, new(traces.Cell)); err != nil {
			return err
		}
	}
	if t.constant {
		return b.column.read(value{b: []byte(t.name), unit: 1}, new(traces.Cell))
	}
	return nil
}
