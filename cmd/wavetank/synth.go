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
		Name: "synth", Usage: "make a trace of profiles", ArgsUsage: "PROFILE[=SHARE]... | --prompt-tokens N --output-tokens N",
		Description: "Shares are of the requests: chat.yaml=.7 rag.yaml=.3. Without shares each profile\ncomes at its own rate. Equal profiles, flags and seed give equal bytes.\n\nA plain workload needs no profile: lengths such as 128, 100-200 (uniform) or\n128,512,2048 (a grid, all pairs in turn), at a rate or all at once. It measures a\nserver at one point and is not like anybody's traffic.",
		Flags: append(outputFlags("the trace"),
			&cli.DurationFlag{Name: "for", Usage: "length of the trace (default: as the longest profile's source)"},
			&cli.Int64Flag{Name: "count", Usage: "at most so many requests"},
			&cli.StringFlag{Name: "rate", Usage: "requests of all profiles together, such as 20/s or 300/m (default: the profiles' own)"},
			&cli.Float64Flag{Name: "users", Usage: "times as many users, independent of each other; in place of --rate", Value: 1},
			&cli.Float64Flag{Name: "faster", Usage: "the same users, so many times as fast", Value: 1},
			&cli.StringFlag{Name: "mode", Usage: "reproduce what was recorded in its order, or extend it", Value: string(synth.Reproduce)},
			&cli.IntFlag{Name: "select", Usage: "of compact arrivals: draw so many spans and keep the one nearest to what was recorded (default: as the profile says)"},
			&cli.Uint64Flag{Name: "seed", Usage: "of the random numbers"},
			&cli.StringFlag{Name: "prompt-tokens", Usage: "of a plain workload: `LENGTHS` of the prompts"},
			&cli.StringFlag{Name: "output-tokens", Usage: "of a plain workload: `LENGTHS` of the answers"},
			&cli.StringFlag{Name: "arrivals", Usage: "of a plain workload: poisson, constant or at-once (default: poisson)"},
		),
		Action: e.synth,
	}
}

func (e *env) synth(c *cli.Context) error {
	source := e.profiles
	if c.IsSet("prompt-tokens") || c.IsSet("output-tokens") || c.IsSet("arrivals") {
		source = plainWorkload
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt)
	defer stop()
	rate, err := parseRate(c.String("rate"))
	if err != nil {
		return err
	}
	r, m, err := source(c, rate)
	if err != nil {
		return err
	}
	seed := c.Uint64("seed")
	m.Kind, m.Seed = traces.KindTrace, &seed
	w, err := e.createTrace(c, e.stamp(m))
	if err != nil {
		return err
	}
	defer w.Discard()
	if _, err := traces.Copy(w, bound(ctx, r)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	e.warn("wrote %d rows to %s", w.Rows(), c.String("output"))
	return nil
}

// profiles is the source of what the arguments' profiles say.
func (e *env) profiles(c *cli.Context, rate float64) (r traces.Reader, m traces.Meta, err error) {
	if c.NArg() == 0 {
		return nil, m, hint(usage("synth takes the profiles to draw from"), "a plain workload takes --prompt-tokens and --output-tokens instead")
	}
	parts, sources, err := e.readParts(c.Args().Slice())
	if err != nil {
		return nil, m, err
	}
	g, err := synth.New(parts, synthOptions(c, rate))
	if err != nil {
		return nil, m, err
	}
	for _, note := range g.Notes() {
		e.warn("%s", note)
	}
	return g, traces.Meta{Sources: sources, Notes: g.Notes()}, nil
}

// plainWorkload is the source of what the flags alone say.
func plainWorkload(c *cli.Context, rate float64) (r traces.Reader, m traces.Meta, err error) {
	if c.NArg() > 0 {
		return nil, m, usage("a plain workload takes no profile: leave out %q, or the flags --prompt-tokens, --output-tokens and --arrivals", c.Args().First())
	}
	prompt, err1 := synth.ParseTokens(c.String("prompt-tokens"))
	output, err2 := synth.ParseTokens(c.String("output-tokens"))
	if err1 != nil || err2 != nil {
		return nil, m, hint(usage("%w", errors.Join(err1, err2)), "a plain workload takes both --prompt-tokens and --output-tokens")
	}
	p := synth.Plain{
		Prompt: prompt, Output: output, Pace: synth.Pace(c.String("arrivals")), Rate: rate,
		Count: c.Int64("count"), For: c.Duration("for"), Seed: c.Uint64("seed"),
	}
	if r, err = p.Reader(); err != nil {
		return nil, m, usage("%w", err)
	}
	return r, traces.Meta{Notes: []string{p.String()}}, nil
}

func synthOptions(c *cli.Context, rate float64) synth.Options {
	o := synth.Options{
		For: c.Duration("for"), Count: c.Int64("count"), Rate: rate, Faster: c.Float64("faster"),
		Mode: synth.Mode(c.String("mode")), Select: c.Int("select"), Seed: c.Uint64("seed"),
	}
	if c.IsSet("users") {
		o.Users = c.Float64("users")
	}
	return o
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
