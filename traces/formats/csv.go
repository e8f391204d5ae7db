package formats

import (
	"fmt"

	"wavetank/traces"
)

// genericCSV reads CSV with a header whose fields bear columns' names, or are
// mapped to them.
var genericCSV = Format{
	Name:  "csv",
	About: "any CSV with a header; fields by the columns' names, or mapped to them",
	Sniff: sniffCSV,
	open:  openCSV,
}

func errNoArrival(fields []string) error {
	return fmt.Errorf("no field is named arrival, or arrival with its unit as in arrival_ms; it has %s", quoteList(fields))
}

func sniffCSV(head []byte) error {
	header, err := sniffColumns(head)
	if err != nil {
		return err
	}
	for _, field := range header {
		if c := columnOfField(field); c != nil && c.Kind == Stamp {
			return nil
		}
	}
	return errNoArrival(header)
}

func openCSV(in *input, o *Options) (parser, error) {
	bound, err := o.mapped()
	if err != nil {
		return nil, err
	}
	t, err := readTable(in)
	if err != nil {
		return nil, err
	}
	if len(bound) == 0 {
		if bound, err = o.bindFields(nil, t.header); err == nil {
			err = needArrival(bound)
		}
		if err != nil {
			return nil, in.errorAt("", err)
		}
	}
	for _, b := range bound {
		at, err := t.columns(in, b.field)
		if err != nil {
			return nil, err
		}
		b.at = at[0]
		in.bodies = in.bodies || b.column.Kind == Body
	}
	own := &csvRows{table: t, row: newGenericRow(in, bound)}
	in.fork = own.fork
	return own.parse, nil
}

// csvRows is the parser's state.
type csvRows struct {
	table *table
	row   *genericRow
}

func (c *csvRows) fork(in *input) parser {
	if !c.row.decided() {
		return nil
	}
	other := &csvRows{table: c.table.fork(in), row: c.row.fork(in)}
	in.cells = other.read
	return other.parse
}

func (c *csvRows) parse(line []byte, rec *traces.Record) error {
	if err := c.read(line, c.row.cells); err != nil {
		return err
	}
	c.row.store(rec)
	return nil
}

func (c *csvRows) read(line []byte, to []traces.Cell) error {
	f, err := c.table.split(line)
	if err != nil {
		return err
	}
	for i, b := range c.row.bound {
		if err := c.row.read(b, f[b.at], &to[i]); err != nil {
			return err
		}
	}
	return nil
}

// mapped is bindings, if there is a map.
func (o *Options) mapped() ([]*binding, error) {
	if len(o.Map) == 0 {
		return nil, nil
	}
	return o.bindings()
}

// bindFields binds those fields that bear the name of a column.
func (o *Options) bindFields(bound []*binding, fields []string) ([]*binding, error) {
	for _, field := range fields {
		c := columnOfField(field)
		if c == nil || !o.takes(c) {
			continue
		}
		b, err := o.bind(c.Name, field)
		if err != nil {
			return nil, err
		}
		if bound, err = add(bound, b); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

// A genericRow is the values of a row, field by field.
type genericRow struct {
	in      *input
	arrival *arrivals
	bound   []*binding
	cells   []traces.Cell // by binding, of a row that becomes a Record
	utf8    bool          // all text is
}

func newGenericRow(in *input, bound []*binding) *genericRow {
	g := &genericRow{in: in}
	g.bind(bound)
	return g
}

// bind makes bound the bindings.
func (g *genericRow) bind(bound []*binding) {
	g.bound, g.cells = bound, make([]traces.Cell, len(bound))
}

func (g *genericRow) decided() bool { return g.arrival != nil && g.arrival.decided }

// fork is for another goroutine, once the arrivals are decided.
func (g *genericRow) fork(in *input) *genericRow {
	other, decided := newGenericRow(in, forkBindings(g.bound)), *g.arrival
	decided.in = in
	other.arrival, other.utf8 = &decided, g.utf8
	in.layout = nil
	for _, b := range g.bound {
		in.layout = append(in.layout, b.column.fileName())
	}
	return other
}

// read takes the value of a binding's field.
func (g *genericRow) read(b *binding, v []byte, c *traces.Cell) (err error) {
	switch {
	case b.column.Kind == Stamp:
		c.Known = true
		c.N, err = g.stamp(b, v)
	case isUnknown(v):
		c.Known = false
	default:
		err = b.column.read(value{b: v, unit: b.unit, utf8: g.utf8}, c)
	}
	return inField(b.field, err)
}

func (g *genericRow) stamp(b *binding, v []byte) (int64, error) {
	if isUnknown(v) {
		return 0, rejectf(MissingField, "%q where the arrival must be", v)
	}
	if g.arrival == nil {
		g.arrival = &arrivals{in: g.in, field: b.field, unit: b.unit}
	}
	return g.arrival.read(v)
}

// store puts the values into a record.
func (g *genericRow) store(rec *traces.Record) {
	for i, b := range g.bound {
		if c := g.cells[i]; c.Known {
			b.column.store(rec, c, &b.words)
		}
	}
}
