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
		Description: "For each application: how long prompts and answers are, how the two depend on\neach other, and when requests come. The profile is YAML and holds no request.",
		Flags: append(outputFlags("the profile"),
			&cli.StringFlag{Name: "by", Usage: "fit apart each `WHAT`: app, tenant, model or none", Value: string(fit.ByApp)},
			&cli.DurationFlag{Name: "width", Usage: "of a cell of the rate curve (default: a minute, or more where requests are few)"},
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
	p, err := fit.Fit(src, fit.Options{By: fit.By(c.String("by")), Width: c.Duration("width"), Tool: "wavetank " + version()})
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
