package formats

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"wavetank/traces"
)

// An Export is a grammar in which a trace can be written for another tool.
type Export struct {
	Name, About string

	// Columns are those of a trace that the grammar has a place for; nil: all. Needs
	// are those without which a row cannot be written.
	Columns, Needs []string

	// begin writes what stands before the rows and returns what writes a row.
	begin func(x *Exporter) (func(*traces.Record) error, error)
}

// Exports lists every grammar that a trace can be written in.
var Exports = []Export{
	mooncakeExport, aiperfExport, bailianExport, burstgptExport, azureExport, dynamoExport, vidurExport,
	parquetExport, jsonlExport, csvExport,
}

// A Loss counts the rows of which something known is not in what was written.
type Loss struct {
	Column string // of the trace
	Rows   int64
	What   string // became of it
}

// An Exporter writes a trace, whose rows must come in its order, as an Export
// says. Unknown values are left out where the grammar lets them, and what it has no
// place for is counted.
type Exporter struct {
	out    *bufio.Writer
	meta   traces.Meta
	format *Export
	row    func(*traces.Record) error
	finish func() error  // may be nil
	shift  time.Duration // of arrivals
	last   time.Duration // the latest arrival
	notes  []string
	rows   int64
	bare   int64          // rows without blocks
	short  int64          // rows with blocks for a part of the prompt only
	losses map[Loss]int64 // by column and what became of it
	names  []string       // of what the current row knows
	line   []byte
}

// NewExporter begins an export of the named grammar on w, which it does not close.
func NewExporter(name string, w io.Writer, m traces.Meta) (*Exporter, error) {
	i := slices.IndexFunc(Exports, func(e Export) bool { return e.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no export %q; there are %s", name, strings.Join(ExportNames(), ", "))
	}
	return &Exporter{out: bufio.NewWriterSize(w, 64<<10), meta: m, format: &Exports[i], losses: make(map[Loss]int64)}, nil
}

// begin writes what stands before the rows. A first row before the start of the
// trace, which the logs of a source that is not in order give, moves the start.
func (x *Exporter) begin(first time.Duration) (err error) {
	if first < 0 {
		x.shift = -first
		if x.meta.T0 != nil {
			t0 := x.meta.T0.Add(first)
			x.meta.T0 = &t0
		}
	}
	if x.row, err = x.format.begin(x); err != nil {
		return fmt.Errorf("export as %s: %w", x.format.Name, err)
	}
	return nil
}

// ExportNames returns the names of Exports.
func ExportNames() []string {
	names := make([]string, len(Exports))
	for i, e := range Exports {
		names[i] = e.Name
	}
	return names
}

// Write writes a row, or counts it among the losses if the grammar cannot do
// without what it does not know.
func (x *Exporter) Write(rec *traces.Record) error {
	if x.row == nil {
		if err := x.begin(rec.Arrival); err != nil {
			return err
		}
	}
	if x.shift > 0 {
		moved := *rec
		moved.Arrival += x.shift
		rec = &moved
	}
	x.names = x.names[:0]
	for name := range traces.Values(rec) {
		x.names = append(x.names, name)
	}
	for _, need := range x.format.Needs {
		if !slices.Contains(x.names, need) {
			x.lose(need, "unknown, and the row left out")
			return nil
		}
	}
	if rec.Arrival < x.last {
		return fmt.Errorf("export as %s: row %d: %w", x.format.Name, x.rows, traces.ErrUnsorted)
	}
	x.last = rec.Arrival
	if x.format.Columns != nil {
		x.count(rec)
	}
	if err := x.row(rec); err != nil {
		return fmt.Errorf("export as %s: row %d: %w", x.format.Name, x.rows, err)
	}
	x.rows++
	return nil
}

// count counts what the row knows and the grammar has no place for. Rows are
// numbered anew by whoever reads them, which is no loss, and to lose that nobody
// looked how a request ended is none either.
func (x *Exporter) count(rec *traces.Record) {
	for _, name := range x.names {
		if name == "seq" || name == "status" && isUnknownStatus(rec) || slices.Contains(x.format.Columns, name) {
			continue
		}
		x.lose(name, "no place for it")
	}
}

func isUnknownStatus(rec *traces.Record) bool {
	return rec.Outcome.Status == traces.Unknown || rec.Outcome.Status == ""
}

func (x *Exporter) lose(column, what string) { x.losses[Loss{Column: column, What: what}]++ }

// note tells what whoever reads the export must know.
func (x *Exporter) note(format string, args ...any) {
	x.notes = append(x.notes, fmt.Sprintf(format, args...))
}

// Close writes what is left. It does not close the writer below.
func (x *Exporter) Close() error {
	if x.row == nil { // no row came
		if err := x.begin(0); err != nil {
			return err
		}
	}
	if x.finish != nil {
		if err := x.finish(); err != nil {
			return fmt.Errorf("export as %s: %w", x.format.Name, err)
		}
	}
	if x.bare > 0 {
		x.note("%d of %d rows have no blocks, and so no hash_ids, without which some readers take no row", x.bare, x.rows)
	}
	if x.short > 0 {
		x.note("%d of %d rows have blocks for a part of their prompt only: vLLM makes prompts as long as their blocks", x.short, x.rows)
	}
	if err := x.out.Flush(); err != nil {
		return fmt.Errorf("export as %s: %w", x.format.Name, err)
	}
	return nil
}

// Rows returns the number of rows written.
func (x *Exporter) Rows() int64 { return x.rows }

// Losses returns what was lost, by the order of columns.
func (x *Exporter) Losses() []Loss {
	order := traces.Columns()
	var all []Loss
	for l, n := range x.losses {
		l.Rows = n
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Column), slices.Index(order, b.Column)), cmp.Compare(a.What, b.What))
	})
	return all
}

// Notes returns what whoever reads the export must know, such as the size of its
// blocks.
func (x *Exporter) Notes() []string { return x.notes }

// emit writes the line that was put together, and its end.
func (x *Exporter) emit() error {
	x.line = append(x.line, '\n')
	_, err := x.out.Write(x.line)
	return err
}

// rounded returns d in whole units, and counts it if that changes it.
func (x *Exporter) rounded(column string, d, unit time.Duration) int64 {
	if d%unit != 0 {
		x.lose(column, "rounded to "+unit.String())
	}
	return int64(d.Round(unit) / unit)
}

// noteBlocks tells the size of blocks, which the grammar takes for granted.
func (x *Exporter) noteBlocks(usual int32) {
	switch size := x.meta.BlockTokens; {
	case size == 0:
		x.note("the trace does not tell the tokens of a block, which readers of hash_ids must know: %s takes them for %d", x.format.Name, usual)
	case size != usual:
		x.note("hash_ids are of blocks of %d tokens, and not of the usual %d: readers must be told", size, usual)
	default:
		x.note("hash_ids are of blocks of %d tokens", size)
	}
}

// clock returns the wall clock of the trace's start. Where it has none, it is
// taken to have begun with this century.
func (x *Exporter) clock() time.Time {
	if x.meta.T0 != nil {
		return x.meta.T0.UTC()
	}
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	x.note("the trace has no wall clock: times count from %s", start.Format(time.DateTime))
	return start
}
