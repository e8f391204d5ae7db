package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// splitTo tells the two meanings of --to apart: the name of an export, or a time.
func splitTo(c *cli.Context) (export, end string, err error) {
	for _, value := range c.StringSlice("to") {
		slot := &end
		if slices.Contains(formats.ExportNames(), value) {
			slot = &export
		}
		if *slot != "" {
			return "", "", usage("--to %s and --to %s: give one time, and one export", *slot, value)
		}
		*slot = value
	}
	return export, end, nil
}

// window keeps a part of the trace. Its bounds may be wall clocks, whose place in
// the trace is known when that begins.
func (e *editing) window(r traces.Reader) (traces.Reader, error) {
	_, end, err := splitTo(e.c)
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(e.c.String("tz"))
	if err != nil {
		return nil, usage("--tz: there is no time zone %q", e.c.String("tz"))
	}
	for flag, text := range map[string]string{"from": e.c.String("from"), "to": end} {
		if _, err := parseMoment(text, zone); err != nil {
			return nil, usage("--%s: %v", flag, err)
		}
	}
	if e.c.Bool("whole-sessions") && e.c.Bool("preroll") {
		return nil, usage("--whole-sessions and --preroll: a session that began before the window is in it or is not; give one")
	}
	return e.lazily(r, func(r traces.Reader, _ traces.Meta) (*traces.Edit, error) {
		from, to, err := e.bounds(end, zone)
		if err != nil {
			return nil, err
		}
		return e.windowOf(r, from, to), nil
	}), nil
}

func (e *editing) windowOf(r traces.Reader, from, to time.Duration) *traces.Edit {
	switch {
	case e.c.Bool("whole-sessions"):
		return traces.WindowSessions(r, from, to)
	case e.c.Bool("preroll"):
		return traces.Preroll(r, from, to)
	}
	return &traces.Edit{Reader: traces.Window(r, from, to), Name: fmt.Sprintf("window %v to %v", from, to), Start: from}
}

// bounds are offsets; to 0 is open.
func (e *editing) bounds(end string, zone *time.Location) (from, to time.Duration, err error) {
	t0 := moved(e.meta().T0, e.moved())
	for _, b := range []struct {
		flag, text string
		at         *time.Duration
	}{{"from", e.c.String("from"), &from}, {"to", end, &to}} {
		m, err := parseMoment(b.text, zone)
		if err != nil {
			return 0, 0, usage("--%s: %v", b.flag, err)
		}
		if *b.at, err = m.since(t0); err != nil {
			return 0, 0, usage("--%s %s: %v", b.flag, b.text, err)
		}
	}
	if from < 0 || to < 0 || to > 0 && to <= from {
		return 0, 0, usage("--from %v --to %v: no time of the trace is between them", from, to)
	}
	return from, to, nil
}

// moved is t0 some time later; nil stays nil.
func moved(t0 *time.Time, by time.Duration) *time.Time {
	if t0 == nil {
		return nil
	}
	t := t0.Add(by)
	return &t
}

// A moment is an offset, a time of day, or a wall clock.
type moment struct {
	offset time.Duration
	clock  time.Time // zero: none
	daily  bool      // only the time of day of clock counts
	zone   *time.Location
}

var clockLayouts = []struct {
	layout string
	daily  bool
}{
	{time.RFC3339Nano, false}, {"2006-01-02T15:04:05.999999999", false}, {"2006-01-02 15:04:05.999999999", false},
	{"2006-01-02 15:04", false}, {"15:04:05.999999999", true}, {"15:04", true},
}

func parseMoment(text string, zone *time.Location) (moment, error) {
	if text == "" {
		return moment{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return moment{offset: d}, nil
	}
	for _, l := range clockLayouts {
		if t, err := time.ParseInLocation(l.layout, text, zone); err == nil {
			return moment{clock: t, daily: l.daily, zone: zone}, nil
		}
	}
	return moment{}, fmt.Errorf("%q is no time: an offset such as 10m or 1h30m, or a clock such as 14:02 or 2026-11-30T14:02:00Z", text)
}

// since is the moment's offset in a trace that starts at t0. A time of day is the
// first one that is not before it.
func (m moment) since(t0 *time.Time) (time.Duration, error) {
	if m.clock.IsZero() && !m.daily {
		return m.offset, nil
	}
	if t0 == nil {
		return 0, errors.New("the trace has no wall clock: give an offset such as 10m")
	}
	if !m.daily {
		return m.clock.Sub(*t0), nil
	}
	day := t0.In(m.zone)
	at := time.Date(day.Year(), day.Month(), day.Day(), m.clock.Hour(), m.clock.Minute(), m.clock.Second(), m.clock.Nanosecond(), m.zone)
	if at.Before(*t0) {
		at = at.AddDate(0, 0, 1)
	}
	return at.Sub(*t0), nil
}
