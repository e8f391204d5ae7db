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
	own := &csvRows{table: t, bound: bound, row: &genericRow{in: in}}
	in.fork = own.fork
	return own.parse, nil
}

// csvRows is the parser's state.
type csvRows struct {
	table *table
	bound []*binding
	row   *genericRow
}

func (c *csvRows) fork(in *input) parser {
	if c.row.arrival == nil || !c.row.arrival.decided {
		return nil
	}
	other := &csvRows{table: c.table.fork(), bound: forkBindings(c.bound), row: c.row.fork(in)}
	return other.parse
}

func (c *csvRows) parse(line []byte, rec *traces.Record) error {
	f, err := c.table.split(line)
	if err != nil {
		return err
	}
	for _, b := range c.bound {
		if err := c.row.set(rec, b, f[b.at]); err != nil {
			return inField(b.field, err)
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

// A genericRow fills records field by field.
type genericRow struct {
	in      *input
	arrival *arrivals
}

// fork is for another goroutine, once the arrivals are decided.
func (g *genericRow) fork(in *input) *genericRow {
	decided := *g.arrival
	decided.in = in
	return &genericRow{in: in, arrival: &decided}
}

func (g *genericRow) set(rec *traces.Record, b *binding, v []byte) error {
	if b.column.Kind != Stamp {
		if isUnknown(v) {
			return nil
		}
		return b.column.set(rec, value{b: v, unit: b.unit, words: &b.words})
	}
	if isUnknown(v) {
		return rejectf(MissingField, "%q where the arrival must be", v)
	}
	if g.arrival == nil {
		g.arrival = &arrivals{in: g.in, field: b.field, unit: b.unit}
	}
	return g.arrival.set(rec, v)
}
