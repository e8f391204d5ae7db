package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
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
		&cli.StringFlag{Name: "time-unit", Usage: "csv and jsonl: arrivals are numbers of `UNIT` s, ms, us or ns (default: by their magnitude)"},
		&cli.StringFlag{Name: "tz", Usage: "time `ZONE` of stamps that name none, such as Europe/Berlin", Value: "UTC"},
		&cli.StringFlag{Name: "app", Usage: "application class of every row: chat, rag, coding-agent, ..."},
	}
}

func convertCommand(e *env) *cli.Command {
	var about strings.Builder
	about.WriteString("Logs may be compressed with gzip or zstd. Several inputs become one trace, by time.\nA trace is taken as it is, so that the flags below edit it.\n\nFormats:\n")
	for _, f := range formats.Formats {
		fmt.Fprintf(&about, "   %-10s %s\n", f.Name, f.About)
	}
	flags := append(outputFlags("the trace"), logFlags()...)
	return &cli.Command{
		Name: "convert", Usage: "make a trace of logs, or an edited one of traces", ArgsUsage: "LOG|TRACE...",
		Description: about.String(),
		Flags: append(flags,
			&cli.StringFlag{Name: "rejects", Usage: "write rows that cannot be read to `FILE`, with line and reason, and go on; without it the first one ends the conversion"},
			&cli.DurationFlag{Name: "from", Usage: "begin that long after the start"},
			&cli.DurationFlag{Name: "to", Usage: "end that long after the start"},
			&cli.Float64Flag{Name: "speed", Usage: "play that many times as fast", Value: 1},
			&cli.StringFlag{Name: "shard", Usage: "keep the `I/N`th part, whole sessions, I from 0"},
		),
		Action: e.convert,
	}
}

func (e *env) convert(c *cli.Context) error {
	if c.NArg() == 0 {
		return hint(usage("convert takes the logs to read"), "wavetank convert --help")
	}
	if _, err := outputPath(c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt)
	defer stop()
	rejects, err := e.openRejects(c)
	if err != nil {
		return err
	}
	inputs, err := e.openLogs(c, rejects)
	defer closeAll(inputs)
	if err != nil {
		return err
	}
	w, err := e.createTrace(c, e.stamp(traces.Meta{Kind: traces.KindTrace}))
	if err != nil {
		return err
	}
	defer w.Discard()
	edited, edits, err := edit(c, bound(ctx, strict(concat(inputs), rejects)))
	if err != nil {
		return err
	}
	if _, err := traces.Copy(w, edited); err != nil {
		return err
	}
	m := e.stamp(joined(inputs))
	m.Edits = append(m.Edits, edits...)
	if from := c.Duration("from"); from > 0 && m.T0 != nil {
		t0 := m.T0.Add(from)
		m.T0 = &t0
	}
	w.SetMeta(m)
	if err := errors.Join(rejects.close(), w.Close()); err != nil {
		return err
	}
	e.accountFor(m, w.Rows(), c)
	return nil
}

func logOptions(c *cli.Context) (formats.Options, error) {
	zone, err := time.LoadLocation(c.String("tz"))
	if err != nil {
		return formats.Options{}, usage("--tz: there is no time zone %q", c.String("tz"))
	}
	return formats.Options{
		Format: c.String("format"), Map: c.StringSlice("map"), TimeUnit: c.String("time-unit"), TimeZone: zone, App: c.String("app"),
	}, nil
}

func (e *env) openLogs(c *cli.Context, rejects *rejects) (inputs []input, err error) {
	o, err := logOptions(c)
	if err != nil {
		return nil, err
	}
	for _, path := range c.Args().Slice() {
		o.OnReject = func(r formats.Reject) { rejects.add(path, r) }
		in, err := e.openInput(path, o)
		if err != nil {
			return inputs, err
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

func closeAll(inputs []input) {
	for _, in := range inputs {
		in.Close()
	}
}

// joined is the metadata of a trace made of inputs.
func joined(inputs []input) traces.Meta {
	m := inputs[0].Meta()
	for _, in := range inputs[1:] {
		m.Sources = append(m.Sources, in.Meta().Sources...)
	}
	m.Kind = traces.KindTrace
	return m
}

// edit puts the edits that the flags ask for around r, and says which.
func edit(c *cli.Context, r traces.Reader) (traces.Reader, []string, error) {
	var done []string
	from, to := c.Duration("from"), c.Duration("to")
	if from < 0 || to < 0 || to > 0 && to <= from {
		return nil, nil, usage("--from %v --to %v: no time is between them", from, to)
	}
	if from > 0 || to > 0 {
		r = traces.Window(r, from, to)
		done = append(done, fmt.Sprintf("window %v to %v", from, to))
	}
	if f := c.Float64("speed"); f != 1 {
		if !(f > 0) {
			return nil, nil, usage("--speed %g: must be above 0", f)
		}
		r = traces.Speed(r, f)
		done = append(done, fmt.Sprintf("speed %g", f))
	}
	if s := c.String("shard"); s != "" {
		var i, n int
		if _, err := fmt.Sscanf(s, "%d/%d", &i, &n); err != nil {
			return nil, nil, usage("--shard %q: must be I/N, such as 0/4", s)
		}
		part, err := traces.Shard(r, i, n)
		if err != nil {
			return nil, nil, usage("--shard: %v", err)
		}
		r, done = part, append(done, "shard "+s)
	}
	return r, done, nil
}

// accountFor tells where every row went.
func (e *env) accountFor(m traces.Meta, rows int64, c *cli.Context) {
	for _, s := range m.Sources {
		e.warn("%s: %s, %d rows read, %d taken, %d rejected", s.Name, formatOf(s), s.Read, s.Emitted+s.Merged, s.RejectedRows())
		for reason, n := range s.Rejected {
			e.warn("%s: %d rows rejected: %s", s.Name, n, reason)
		}
		for _, w := range s.Warnings {
			e.warn("%s: %s", s.Name, w)
		}
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

// A rejects file has one JSON object a rejected row.
type rejects struct {
	f     *os.File
	enc   *json.Encoder
	first error // of a conversion that has no such file
}

func (e *env) openRejects(c *cli.Context) (*rejects, error) {
	r := &rejects{}
	path := c.String("rejects")
	if path == "" {
		return r, nil
	}
	flag := os.O_EXCL
	if c.Bool("force") {
		flag = os.O_TRUNC
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil, hint(err, "--force overwrites it")
	}
	if err != nil {
		return nil, err
	}
	r.f, r.enc = f, json.NewEncoder(f)
	return r, nil
}

func (r *rejects) add(file string, row formats.Reject) {
	if r.f == nil {
		if r.first == nil {
			r.first = hint(row.Err, "--rejects FILE sets rows like this one aside and goes on")
		}
		return
	}
	line := struct {
		File   string `json:"file"`
		Line   int64  `json:"line"`
		Reason string `json:"reason"`
		Error  string `json:"error"`
		Text   string `json:"text"`
	}{file, row.Line, row.Reason, row.Err.Error(), row.Text}
	if err := r.enc.Encode(line); err != nil && r.first == nil {
		r.first = fmt.Errorf("write %s: %w", r.f.Name(), err)
	}
}

func (r *rejects) close() error {
	if r.f == nil {
		return nil
	}
	return r.f.Close()
}

// strict ends the reading when a row could not be read and there is nowhere to
// put it.
func strict(r traces.Reader, rows *rejects) traces.Reader {
	return traces.ReaderFunc(func(rec *traces.Record) error {
		err := r.Read(rec)
		if rows.first != nil {
			return rows.first
		}
		return err
	})
}
