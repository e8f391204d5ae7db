package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"wavetank/fit"
	"wavetank/synth"
	"wavetank/traces"
)

func synthCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "synth", Usage: "make a trace of profiles", ArgsUsage: "PROFILE[=SHARE]...",
		Description: "Shares are of the requests: chat.yaml=.7 rag.yaml=.3. Without shares each profile\ncomes at its own rate. Equal profiles, flags and seed give equal bytes.",
		Flags: append(outputFlags("the trace"),
			&cli.DurationFlag{Name: "for", Usage: "length of the trace (default: as the longest profile's source)"},
			&cli.Int64Flag{Name: "count", Usage: "at most so many requests"},
			&cli.StringFlag{Name: "rate", Usage: "requests of all profiles together, such as 20/s or 300/m (default: the profiles' own)"},
			&cli.Uint64Flag{Name: "seed", Usage: "of the random numbers"},
		),
		Action: e.synth,
	}
}

func (e *env) synth(c *cli.Context) error {
	if c.NArg() == 0 {
		return hint(usage("synth takes the profiles to draw from"), "wavetank synth --help")
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt)
	defer stop()
	rate, err := parseRate(c.String("rate"))
	if err != nil {
		return err
	}
	parts, sources, err := e.readParts(c.Args().Slice())
	if err != nil {
		return err
	}
	seed := c.Uint64("seed")
	g, err := synth.New(parts, synth.Options{For: c.Duration("for"), Count: c.Int64("count"), Rate: rate, Seed: seed})
	if err != nil {
		return err
	}
	for _, note := range g.Notes() {
		e.warn("%s", note)
	}
	m := e.stamp(traces.Meta{Kind: traces.KindTrace, Seed: &seed, Sources: sources, Notes: g.Notes()})
	w, err := e.createTrace(c, m)
	if err != nil {
		return err
	}
	defer w.Discard()
	if _, err := traces.Copy(w, bound(ctx, g)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	e.warn("wrote %d rows to %s", w.Rows(), c.String("output"))
	return nil
}

// readParts reads arguments of the form PROFILE or PROFILE=SHARE.
func (e *env) readParts(args []string) (parts []synth.Part, sources []traces.Source, err error) {
	shared := 0
	for _, arg := range args {
		path, share, err := splitShare(arg)
		if err != nil {
			return nil, nil, err
		}
		p, err := e.readProfile(path)
		if err != nil {
			return nil, nil, err
		}
		if share > 0 {
			shared++
		}
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		parts = append(parts, synth.Part{Name: name, Profile: p, Share: share})
		sources = append(sources, traces.Source{Name: path, Format: "profile"})
	}
	if shared > 0 && shared < len(parts) {
		return nil, nil, usage("some profiles have a share and some have none: give PROFILE=SHARE for each")
	}
	return parts, sources, nil
}

func splitShare(arg string) (path string, share float64, err error) {
	i := strings.LastIndexByte(arg, '=')
	if i < 0 {
		return arg, 0, nil
	}
	share, err = strconv.ParseFloat(arg[i+1:], 64)
	if err != nil || !(share > 0) {
		return "", 0, usage("%s: the share after = must be a number above 0", arg)
	}
	return arg[:i], share, nil
}

func (e *env) readProfile(path string) (*fit.Profile, error) {
	in := e.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	p, err := fit.ReadProfile(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// parseRate reads a number a second, minute or hour; without a unit it is a second.
func parseRate(s string) (perSecond float64, err error) {
	if s == "" {
		return 0, nil
	}
	number, unit, _ := strings.Cut(s, "/")
	seconds, ok := map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600}[unit]
	rate, err := strconv.ParseFloat(number, 64)
	if err = errors.Join(err); err != nil || !ok || !(rate > 0) {
		return 0, usage("rate %q: must be like 20/s, 300/m or 1000/h", s)
	}
	return rate / seconds, nil
}
