package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"wavetank/traces"
	"wavetank/traces/formats"
	"wavetank/traces/reuse"
)

func editFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "end-stamped", Usage: "cure: stamps are the ends of requests; arrival is stamp less duration"},
		&cli.StringFlag{Name: "unwrap", Usage: "cure: the clock began anew; put its parts behind one another, by whole `PERIOD`s such as 168h, or 0 for no gap"},
		&cli.BoolFlag{Name: "dedupe", Usage: "cure: leave out rows that repeat an earlier one"},
		&cli.StringFlag{Name: "dequantize", Usage: "cure: spread the requests of a clock's tick over it: uniform, or none", Value: "none"},
		&cli.BoolFlag{Name: "infer-sessions", Usage: "cure: make sessions of prefix chains, where the trace has block ids and no sessions"},
		&cli.StringFlag{Name: "from", Usage: "begin at `TIME`: an offset such as 10m, or a wall clock such as 14:02 or 2026-11-30T14:02:00Z"},
		&cli.StringSliceFlag{Name: "to", Usage: "end at a time, as --from; or write for another tool: " + strings.Join(formats.ExportNames(), ", ")},
		&cli.BoolFlag{Name: "whole-sessions", Usage: "with --from and --to: keep sessions that begin there, whole, instead of cutting them"},
		&cli.BoolFlag{Name: "preroll", Usage: "with --from: keep what was in flight then too, in phase preroll"},
		&cli.StringFlag{Name: "where", Usage: "keep rows that meet every condition of `EXPR`, such as 'app=chat|rag, prompt_tokens>1000'"},
		&cli.Float64Flag{Name: "thin", Usage: "keep that share of the sessions, whole", Value: 1},
		&cli.IntFlag{Name: "multiply", Usage: "so many users in place of each, with ids and blocks of their own", Value: 1},
		&cli.Float64Flag{Name: "speed", Usage: "play that many times as fast", Value: 1},
		&cli.StringFlag{Name: "shard", Usage: "keep the `I/N`th part, whole sessions, I from 0"},
		&cli.BoolFlag{Name: "keep-bodies", Usage: "keep original request bodies, which are users' text, where a log has them whole"},
		&cli.BoolFlag{Name: "drop-bodies", Usage: "leave original request bodies of a trace out"},
		&cli.Uint64Flag{Name: "seed", Usage: "of --dequantize, --thin and --multiply"},
	}
}

// An editing is the edits that a conversion was asked for, in the order in which
// they are done.
type editing struct {
	c     *cli.Context
	meta  func() traces.Meta // of the trace as it is read
	done  []fmt.Stringer
	start []func() time.Duration // by how much each moved the start of the trace
	kept  bodies
}

// steps are all edits of a whole trace. Those of the log, which must see rows as
// the log has them, come before its inputs are joined: see editLog. ordered ones
// need rows in the order of arrival.
var steps = []struct {
	flags   []string
	ordered bool
	wrap    func(*editing, traces.Reader) (traces.Reader, error)
}{
	{[]string{"dedupe"}, false, func(e *editing, r traces.Reader) (traces.Reader, error) { return e.add(traces.Dedupe(r)), nil }},
	{[]string{"dequantize"}, true, (*editing).dequantize},
	{[]string{"infer-sessions"}, true, func(e *editing, r traces.Reader) (traces.Reader, error) {
		return e.lazily(r, reuse.Chains), nil
	}},
	{[]string{"from", "to", "whole-sessions", "preroll"}, true, (*editing).window},
	{[]string{"where"}, false, func(e *editing, r traces.Reader) (traces.Reader, error) {
		edit, err := traces.Where(r, e.c.String("where"))
		return e.asked("where", edit, err)
	}},
	{[]string{"thin"}, false, func(e *editing, r traces.Reader) (traces.Reader, error) {
		edit, err := traces.Thin(r, e.c.Float64("thin"), e.c.Uint64("seed"))
		return e.asked("thin", edit, err)
	}},
	{[]string{"multiply"}, true, func(e *editing, r traces.Reader) (traces.Reader, error) {
		edit, err := traces.Multiply(r, e.c.Int("multiply"), traces.MultiplyOptions{Seed: e.c.Uint64("seed")})
		return e.asked("multiply", edit, err)
	}},
	{[]string{"speed"}, false, (*editing).speed},
	{[]string{"shard"}, false, (*editing).shard},
	{[]string{"keep-bodies"}, false, (*editing).keepBodies},
	{[]string{"drop-bodies"}, false, func(e *editing, r traces.Reader) (traces.Reader, error) { return e.add(traces.DropBodies(r)), nil }},
}

// edit puts the edits that the flags ask for around r. sorted says that its rows
// are in order already; where they need not be and an edit needs it, they are
// sorted by way of files in dir.
func (e *editing) edit(r traces.Reader, sorted sortedness, dir string) (traces.Reader, func() error, error) {
	closing := func() error { return nil }
	for _, s := range steps {
		if !slices.ContainsFunc(s.flags, e.isAsked) {
			continue
		}
		if s.ordered && sorted == unsorted {
			order := traces.Sort(r, dir)
			r, closing, sorted = e.rebase(order), order.Close, ordered
		}
		var err error
		if r, err = s.wrap(e, r); err != nil {
			return nil, closing, err
		}
	}
	return r, closing, nil
}

type sortedness int

const (
	unsorted sortedness = iota
	ordered
)

// isAsked says whether a flag asks for an edit; --to with the name of an export
// does not.
func (e *editing) isAsked(flag string) bool {
	if flag == "to" {
		_, end, _ := splitTo(e.c)
		return end != ""
	}
	if flag == "dequantize" {
		return e.c.String(flag) != "none"
	}
	if on, isBool := e.c.Value(flag).(bool); isBool {
		return on
	}
	return e.c.IsSet(flag)
}

func (e *editing) add(edit *traces.Edit) traces.Reader {
	e.done = append(e.done, edit)
	e.start = append(e.start, func() time.Duration { return edit.Start })
	return edit
}

// asked is add for an edit that may have refused what a flag says.
func (e *editing) asked(flag string, edit *traces.Edit, err error) (traces.Reader, error) {
	if err != nil {
		return nil, usage("--%s: %v", flag, err)
	}
	return e.add(edit), nil
}

// note notes an edit that tells nothing of itself.
func (e *editing) note(format string, args ...any) {
	e.done = append(e.done, line(fmt.Sprintf(format, args...)))
}

type line string

// String implements fmt.Stringer.
func (l line) String() string { return string(l) }

// rebase starts a sorted trace at its earliest row, if that is before the start.
func (e *editing) rebase(r traces.Reader) traces.Reader {
	var by time.Duration
	first := true
	e.start = append(e.start, func() time.Duration { return by })
	return traces.ReaderFunc(func(rec *traces.Record) error {
		err := r.Read(rec)
		if first && err == nil {
			by, first = min(rec.Arrival, 0), false
		}
		rec.Arrival -= by
		return err
	})
}

// moved is by how much the start of the trace moved, once all has been read.
func (e *editing) moved() (d time.Duration) {
	for _, start := range e.start {
		d += start()
	}
	return d
}

// told returns m with what was done to its trace, once all has been read.
func (e *editing) told(m traces.Meta) traces.Meta {
	for _, d := range e.done {
		if s := d.String(); s != "" {
			m.Edits = append(m.Edits, s)
		}
	}
	m.T0 = moved(m.T0, e.moved())
	return m
}

func (e *editing) dequantize(r traces.Reader) (traces.Reader, error) {
	if how := e.c.String("dequantize"); how != "uniform" {
		return nil, usage("--dequantize %q: must be uniform or none", how)
	}
	return e.add(traces.Dequantize(r, 0, e.c.Uint64("seed"))), nil
}

func (e *editing) speed(r traces.Reader) (traces.Reader, error) {
	f := e.c.Float64("speed")
	if !(f > 0) || math.IsInf(f, 1) {
		return nil, usage("--speed %g: must be above 0", f)
	}
	e.note("speed %g", f)
	return traces.Speed(r, f), nil
}

func (e *editing) shard(r traces.Reader) (traces.Reader, error) {
	var i, n int
	text := e.c.String("shard")
	if _, err := fmt.Sscanf(text, "%d/%d", &i, &n); err != nil {
		return nil, usage("--shard %q: must be I/N, such as 0/4", text)
	}
	part, err := traces.Shard(r, i, n)
	if err != nil {
		return nil, usage("--shard: %v", err)
	}
	e.note("shard %s", text)
	return part, nil
}

// editLogs cures each log, whose rows are as it has them, and joins them.
func (e *editing) editLogs(inputs []input) (traces.Reader, error) {
	readers := make([]traces.Reader, len(inputs))
	for i, in := range inputs {
		var err error
		if readers[i], err = e.editLog(in, in.Name()); err != nil {
			return nil, err
		}
	}
	if len(inputs) == 1 {
		return readers[0], nil
	}
	return e.join(inputs, readers), nil
}

func (e *editing) editLog(r traces.Reader, path string) (traces.Reader, error) {
	if e.c.Bool("end-stamped") {
		r = e.add(traces.EndStamped(r))
	}
	if text := e.c.String("unwrap"); text != "" {
		period, err := time.ParseDuration(text)
		if err != nil || period < 0 {
			return nil, usage("--unwrap %q: must be a duration such as 168h, or 0", text)
		}
		r = e.add(traces.Unwrap(r, period))
	}
	if rules := appRules(e.c); len(rules) > 0 {
		edit, err := traces.Relabel(r, filepath.Base(path), rules...)
		return e.asked("app", edit, err)
	}
	return r, nil
}

// appRules are the --app flags that are rules; the others name one app for all.
func appRules(c *cli.Context) (rules []string) {
	for _, rule := range c.StringSlice("app") {
		if strings.Contains(rule, "=") {
			rules = append(rules, rule)
		}
	}
	return rules
}

func appOfAll(c *cli.Context) (app string, err error) {
	for _, name := range c.StringSlice("app") {
		if strings.Contains(name, "=") {
			continue
		}
		if app != "" {
			return "", usage("--app %s and --app %s: one app for all rows, or rules PATTERN=APP", app, name)
		}
		app = name
	}
	return app, nil
}
