package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"wavetank/traces"
	"wavetank/traces/formats"
)

func logFlags() []cli.Flag {
	var names []string
	for _, f := range formats.Formats {
		names = append(names, f.Name)
	}
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Usage: "read the logs as `NAME`: " + strings.Join(names, ", ") + " (default: by their first bytes)"},
		&cli.StringSliceFlag{Name: "map", Usage: "csv and jsonl: take a column from a field, `COLUMN=FIELD`; may be repeated"},
		&cli.StringFlag{Name: "map-file", Usage: "csv and jsonl: take the columns as the map in `FILE` says"},
		&cli.StringFlag{Name: "time-unit", Usage: "csv and jsonl: arrivals are numbers of `UNIT` s, ms, us or ns (default: by their magnitude)"},
		&cli.StringFlag{Name: "tz", Usage: "time `ZONE` of stamps that name none, such as Europe/Berlin", Value: "UTC"},
		&cli.StringSliceFlag{Name: "app", Usage: "application class of every row, such as chat; or a rule, [COLUMN:]PATTERN=`APP`, such as 'gpt-4*=chat' or 'file:*code*=code-completion'; may be repeated"},
	}
}

func convertCommand(e *env) *cli.Command {
	var about strings.Builder
	about.WriteString("Logs may be compressed with gzip or zstd. A directory or a pattern stands for the logs in\nit. Several inputs become one trace, by time. A trace is taken as it is, so that the flags\nbelow edit it. What was cured and edited is kept in the trace.\n\nFormats:\n")
	for _, f := range formats.Formats {
		fmt.Fprintf(&about, "   %-18s %s\n", f.Name, f.About)
	}
	about.WriteString("\nWith --to NAME, for other tools:\n")
	for _, x := range formats.Exports {
		fmt.Fprintf(&about, "   %-18s %s\n", x.Name, x.About)
	}
	flags := append(append(outputFlags("the trace"), logFlags()...), editFlags()...)
	return &cli.Command{
		Name: "convert", Usage: "make a trace of logs, edit traces, write for other tools", ArgsUsage: "LOG|TRACE...",
		Description: about.String(),
		Flags:       append(flags, &cli.StringFlag{Name: "rejects", Usage: "write rows that cannot be read to `FILE`, with line and reason, and go on; without it the first one ends the conversion"}),
		Action:      e.convert,
	}
}

func (e *env) convert(c *cli.Context) error {
	if c.NArg() == 0 {
		return hint(usage("convert takes the logs to read"), "wavetank convert --help")
	}
	export, err := exportOf(c)
	if err != nil {
		return err
	}
	rejects, err := newRejects(c)
	if err != nil {
		return err
	}
	inputs, err := e.openLogs(c, rejects)
	defer closeAll(inputs)
	if err != nil {
		return err
	}
	edits := &editing{c: c, meta: func() traces.Meta { return joined(inputs) }}
	rows, done, err := e.edited(c, inputs, edits, rejects)
	defer done()
	if err != nil {
		return err
	}
	meta := func() traces.Meta { return edits.told(e.stamp(joined(inputs))) }
	if export != "" {
		err = e.export(c, export, rows, meta, rejects)
	} else {
		err = e.writeTrace(c, rows, meta, rejects)
	}
	if err == nil && c.Bool("keep-bodies") {
		e.tellOfBodies(c, export, edits.kept)
	}
	return err
}

// exportOf returns the format of another tool that the output is to have, or "".
func exportOf(c *cli.Context) (string, error) {
	export, _, err := splitTo(c)
	if err != nil {
		return "", err
	}
	path, err := outputPath(c)
	if export == "" && filepath.Ext(path) == ".parquet" {
		export = "parquet"
	}
	return export, err
}

// edited reads the inputs as one trace with its cures and edits, until the user
// interrupts it, and tells how far it is. done must be called at the end.
func (e *env) edited(c *cli.Context, inputs []input, edits *editing, rejects *rejects) (rows traces.Reader, done func(), err error) {
	joinedRows, err := edits.editLogs(inputs)
	if err != nil {
		return nil, func() {}, err
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt)
	stored, total := sizes(inputs)
	reading := e.watchReading(strict(joinedRows, rejects), stored, total)
	rows, remove, err := edits.edit(bound(ctx, reading), sortednessOf(inputs), filepath.Dir(c.String("output")))
	return rows, func() { remove(); reading.stop(); stop() }, err
}

func (e *env) writeTrace(c *cli.Context, rows traces.Reader, meta func() traces.Meta, rejects *rejects) error {
	w, err := e.createTrace(c, e.stamp(traces.Meta{Kind: traces.KindTrace}))
	if err != nil {
		return err
	}
	defer w.Discard()
	if _, err := traces.Copy(w, rows); err != nil {
		return err
	}
	m := meta()
	w.SetMeta(m)
	if err := errors.Join(rejects.close(), w.Close()); err != nil {
		return err
	}
	e.accountFor(m, w.Rows(), c)
	return nil
}

// export writes rows for another tool, and says what that tool will not be told.
func (e *env) export(c *cli.Context, name string, rows traces.Reader, meta func() traces.Meta, rejects *rejects) error {
	order := traces.Sort(rows, filepath.Dir(c.String("output")))
	defer order.Close()
	first := &peeked{Reader: order}
	first.fill() // sorting reads all, so that meta is whole from here on
	if first.err != nil && !errors.Is(first.err, io.EOF) {
		return first.err
	}
	m := meta()
	var x *formats.Exporter
	err := e.writeFile(c, func(w io.Writer) (err error) {
		if x, err = formats.NewExporter(name, w, m); err != nil {
			return err
		}
		if _, err := traces.Copy(x, first); err != nil {
			return err
		}
		return x.Close()
	})
	if err := errors.Join(err, rejects.close()); err != nil {
		return err
	}
	e.accountFor(m, x.Rows(), c)
	for _, note := range x.Notes() {
		e.warn("%s: %s", name, note)
	}
	for _, l := range x.Losses() {
		e.warn("%s: %d rows: %s: %s", name, l.Rows, l.Column, l.What)
	}
	return nil
}

func logOptions(c *cli.Context) (formats.Options, error) {
	zone, err := time.LoadLocation(c.String("tz"))
	if err != nil {
		return formats.Options{}, usage("--tz: there is no time zone %q", c.String("tz"))
	}
	app, err := appOfAll(c)
	if err != nil {
		return formats.Options{}, err
	}
	o := formats.Options{
		Format: c.String("format"), Map: c.StringSlice("map"), TimeUnit: c.String("time-unit"), TimeZone: zone, App: app,
		KeepBodies: c.Bool("keep-bodies"),
	}
	if err := mapsNoBody(o); err != nil {
		return o, err
	}
	path := c.String("map-file")
	if path == "" {
		return o, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return o, err
	}
	defer f.Close()
	lines, err := formats.ParseMapFile(f, path)
	o.Map = append(lines, o.Map...)
	return o, err
}

func (e *env) openLogs(c *cli.Context, rejects *rejects) (inputs []input, err error) {
	o, err := logOptions(c)
	if err != nil {
		return nil, err
	}
	paths, err := formats.Expand(c.Args().Slice())
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		o.OnReject = func(r formats.Reject) { rejects.add(path, r) }
		in, err := e.openInput(path, o)
		if err != nil {
			return inputs, err
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// sortednessOf trusts a trace to be in order, and no log.
func sortednessOf(inputs []input) sortedness {
	if _, isTrace := inputs[0].(*traces.File); isTrace && len(inputs) == 1 {
		return ordered
	}
	return unsorted
}

func closeAll(inputs []input) {
	for _, in := range inputs {
		in.Close()
	}
}

// accountFor tells where every row went.
func (e *env) accountFor(m traces.Meta, rows int64, c *cli.Context) {
	for _, s := range m.Sources {
		others := s.Rejected[formats.NotARequest]
		e.warn("%s: %s, %d rows read, %d taken, %d rejected", s.Name, formatOf(s), s.Read, s.Emitted+s.Merged, s.RejectedRows()-others)
		if s.Merged > 0 {
			e.warn("%s: %d of the rows taken are parts of others", s.Name, s.Merged)
		}
		if others > 0 {
			e.warn("%s: %d rows are of something else than requests", s.Name, others)
		}
		for _, reason := range slices.Sorted(maps.Keys(s.Rejected)) {
			if reason != formats.NotARequest {
				e.warn("%s: %d rows rejected: %s", s.Name, s.Rejected[reason], reason)
			}
		}
		for _, w := range s.Warnings {
			e.warn("%s: %s", s.Name, w)
		}
	}
	for _, note := range m.Notes {
		e.warn("note: %s", note)
	}
	for _, edit := range m.Edits {
		e.warn("%s", edit)
	}
	e.warn("wrote %d rows to %s", rows, c.String("output"))
}

func formatOf(s traces.Source) string {
	about := s.Format
	if s.TimeUnit != "" {
		about += ", times in " + s.TimeUnit
	}
	if s.Resolution > 0 {
		about += fmt.Sprintf(", resolution %v", s.Resolution)
	}
	return about
}
