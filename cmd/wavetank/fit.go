package main

import (
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"wavetank/fit"
)

func fitCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "fit", Usage: "fit a profile to a trace", ArgsUsage: "TRACE",
		Description: "For each application: which kinds of requests there are, how long the prompts and\nanswers of each are and how the two depend on each other, and when requests come. The profile is YAML and holds no request.",
		Flags: append(outputFlags("the profile"),
			&cli.StringFlag{Name: "by", Usage: "fit apart each `WHAT`: app, tenant, model or none", Value: string(fit.ByApp)},
			&cli.StringFlag{Name: "arrivals", Usage: "model them as `KIND`: recorded, rates as they were; or compact, some tens of numbers that hold no recorded time", Value: string(fit.Recorded)},
			&cli.DurationFlag{Name: "width", Usage: "of a cell of a recorded rate curve (default: the widest that keeps the bursts)"},
			&cli.IntFlag{Name: "classes", Usage: "latent classes of an application at most, 1 to 8 (default: as many as the data show)"},
		),
		Action: e.fit,
	}
}

func (e *env) fit(c *cli.Context) error {
	path, err := one(c, "trace")
	if err != nil {
		return err
	}
	src, err := e.openTrace(path)
	if err != nil {
		return err
	}
	defer src.Close()
	p, err := fit.Fit(src, fit.Options{By: fit.By(c.String("by")), Width: c.Duration("width"), Arrivals: fit.ArrivalsKind(c.String("arrivals")), Classes: c.Int("classes"), Tool: "wavetank " + version()})
	var few *fit.TooFewError
	if errors.As(err, &few) {
		return hint(err, "%s", few.Hint())
	}
	if err != nil {
		return err
	}
	return e.writeFile(c, func(w io.Writer) error {
		_, err := p.WriteTo(w)
		return err
	})
}
