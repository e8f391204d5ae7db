package formats

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// A binding fills a column from a field.
type binding struct {
	column *Column
	field  string
	unit   int64 // of a time, in nanoseconds; 0: not told
	at     int   // csv: where the field stands
	words  words

	seen *atomic.Bool // jsonl: some row had it
}

// forkBindings returns bindings for another goroutine.
func forkBindings(bound []*binding) []*binding {
	forks := make([]*binding, len(bound))
	for i, b := range bound {
		fork := *b
		fork.words = words{}
		forks[i] = &fork
	}
	return forks
}

// onlyGeneric refuses options that a format with fields of its own cannot heed.
func (o *Options) onlyGeneric(format string) error {
	if len(o.Map) > 0 {
		return fmt.Errorf("format %s knows its fields: a map of columns is for csv and jsonl", format)
	}
	if o.TimeUnit != "" {
		return fmt.Errorf("format %s knows its time unit: it can be told for csv and jsonl only", format)
	}
	return nil
}

// bindings reads Options.Map.
func (o *Options) bindings() ([]*binding, error) {
	var bound []*binding
	for _, pair := range o.Map {
		name, field, ok := strings.Cut(pair, "=")
		if !ok || name == "" || field == "" {
			return nil, fmt.Errorf("map %q: must be COLUMN=FIELD", pair)
		}
		b, err := o.bind(name, field)
		if err != nil {
			return nil, fmt.Errorf("map %q: %w", pair, err)
		}
		if !o.takes(b.column) {
			continue
		}
		if bound, err = add(bound, b); err != nil {
			return nil, fmt.Errorf("map %q: %w", pair, err)
		}
	}
	return bound, needArrival(bound)
}

// bind binds a column by name to a field, which may carry its unit.
func (o *Options) bind(name, field string) (*binding, error) {
	c := columnNamed(name)
	if c == nil {
		return nil, fmt.Errorf("there is no column %q; there are %s", name, strings.Join(columnNames(), ", "))
	}
	b := &binding{column: c, field: field, seen: new(atomic.Bool)}
	if c.Kind != Stamp && c.Kind != Duration {
		return b, nil
	}
	if i := strings.LastIndexByte(field, ':'); i > 0 && unitNamed(field[i+1:]) > 0 {
		b.field, b.unit = field[:i], unitNamed(field[i+1:])
		return b, nil
	}
	if c.Kind == Stamp && o.TimeUnit != "" {
		b.unit = unitNamed(o.TimeUnit)
		return b, nil
	}
	if b.unit = unitOf(field); b.unit == 0 && c.Kind == Duration {
		return nil, fmt.Errorf("field %q does not tell the unit of column %s: map it as %s=%s:ms, or :s, :us, :ns", field, c.Name, c.Name, field)
	}
	return b, nil
}

// add keeps a column from being filled by two fields.
func add(bound []*binding, b *binding) ([]*binding, error) {
	for _, other := range bound {
		if other.column == b.column {
			return nil, fmt.Errorf("column %s has two fields, %q and %q: map the one to take", b.column.Name, min(other.field, b.field), max(other.field, b.field))
		}
	}
	return append(bound, b), nil
}

func needArrival(bound []*binding) error {
	for _, b := range bound {
		if b.column.Kind == Stamp {
			return nil
		}
	}
	return fmt.Errorf("no field is the request's arrival: map it with arrival=FIELD")
}

// unitOf returns the unit that a field's name ends in, or 0.
func unitOf(field string) int64 {
	i := strings.LastIndexByte(field, '_')
	if i < 0 {
		return 0
	}
	return unitNamed(field[i+1:])
}

// columnNamed finds a column by its name, its alias, or its name in the trace file.
func columnNamed(name string) *Column {
	for i := range Columns {
		c := &Columns[i]
		isTime := c.Kind == Stamp || c.Kind == Duration
		if name == c.Name || c.Alias != "" && name == c.Alias || isTime && name == c.Name+"_ns" {
			return c
		}
	}
	return nil
}

// columnOfField finds the column whose own name a field bears; that of a time may
// end in any unit.
func columnOfField(field string) *Column {
	if c := columnNamed(field); c != nil {
		return c
	}
	if unitOf(field) == 0 {
		return nil
	}
	c := columnNamed(field[:strings.LastIndexByte(field, '_')])
	if c != nil && (c.Kind == Stamp || c.Kind == Duration) {
		return c
	}
	return nil
}

func columnNames() []string {
	var names []string
	for _, c := range Columns {
		names = append(names, c.Name)
		if c.Alias != "" {
			names = append(names, c.Alias)
		}
	}
	return names
}
