package main

import (
	"github.com/urfave/cli/v2"

	"wavetank/traces/lint"
)

func inspectCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "inspect", Usage: "say what is in a trace and what is wrong with it", ArgsUsage: "TRACE|LOG",
		Description: "Counts, rates, gaps and lengths, exact and not sampled, and what a fit or a\nreplay must know about the trace. A log is read as convert would.",
		Flags:       append(logFlags(), &cli.BoolFlag{Name: "json", Usage: "write JSON"}),
		Action:      e.inspect,
	}
}

func (e *env) inspect(c *cli.Context) error {
	path, err := one(c, "trace")
	if err != nil {
		return err
	}
	o, err := logOptions(c)
	if err != nil {
		return err
	}
	in, err := e.openInput(path, o)
	if err != nil {
		return err
	}
	defer in.Close()
	facts, err := lint.Inspect(in, in.Meta)
	if err != nil {
		return err
	}
	return writeAs(e.stdout, c.Bool("json"), facts, facts.WriteText)
}
