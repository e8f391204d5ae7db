package formats

import (
	"slices"

	"wavetank/traces"
)

// cellRows puts rows into columns at once: a Record is many times as wide as a row of
// most logs, and to empty it and to look for what it knows takes longer than to parse
// the row.
type cellRows struct {
	read    func([]byte, []traces.Cell) error
	layout  *traces.Layout
	cells   []traces.Cell // those that are read, and behind them what they lack
	arrival int           // where the cell of it is,
	line    int           // and that of the source row,
	app     int           // and, if it is told and not read, that of the application; else -1
	appText []byte
}

// newCellRows returns nil where a format's rows must become Records.
func newCellRows(in *input, app string) *cellRows {
	if in.cells == nil {
		return nil
	}
	names := slices.Clone(in.layout)
	c := &cellRows{read: in.cells, arrival: slices.Index(names, "arrival_ns"), line: len(names), app: -1, appText: []byte(app)}
	names = append(names, "source_row")
	if app != "" {
		if c.app = slices.Index(names, "app"); c.app < 0 {
			c.app, names = len(names), append(names, "app")
		}
	}
	c.layout, c.cells = traces.LayoutOf(names...), make([]traces.Cell, len(names))
	c.cells[c.line].Known = true
	return c
}

// add reads a row into columns.
func (c *cellRows) add(to *columns, row []byte, line int64) error {
	if err := c.read(row, c.cells); err != nil {
		return err
	}
	to.note(c.cells[c.arrival].N)
	c.cells[c.line].N = line
	if c.app >= 0 {
		c.cells[c.app] = traces.Cell{Known: true, Text: c.appText}
	}
	to.batch.Append(c.layout, c.cells)
	return nil
}
