package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"wavetank/traces/lint"
)

func inspectCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "inspect", Usage: "say what is in a trace and what is wrong with it", ArgsUsage: "TRACE|LOG|PROFILE",
		Description: "Counts, rates, gaps and lengths, exact and not sampled, and what a fit or a\nreplay must know about the trace. A log is read as convert would.\nOf a profile (.yaml): what it would make, per application.",
		Flags: append(logFlags(),
			&cli.BoolFlag{Name: "json", Usage: "write JSON"},
			&cli.StringSliceFlag{Name: "fail-on", Usage: "exit with 3 if there is a finding of check `NAME`; may be repeated"},
		),
		Action: e.inspect,
	}
}

func (e *env) inspect(c *cli.Context) error {
	path, err := one(c, "trace")
	if err != nil {
		return err
	}
	if isProfile(path) {
		return e.inspectProfile(c, path)
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
	if err := writeAs(e.stdout, c.Bool("json"), facts, facts.WriteText); err != nil {
		return err
	}
	return failOn(facts, c.StringSlice("fail-on"))
}

func (e *env) inspectProfile(c *cli.Context, path string) error {
	if c.IsSet("fail-on") {
		return usage("--fail-on names checks of a trace, and %s is a profile", path)
	}
	p, err := e.readProfile(path)
	if err != nil {
		return err
	}
	facts := factsOfProfile(p)
	return writeAs(e.stdout, c.Bool("json"), facts, facts.WriteText)
}

// failOn makes an error of findings that must not be.
func failOn(facts *lint.Facts, checks []string) error {
	var found []string
	for _, name := range checks {
		has, err := facts.Has(name)
		if err != nil {
			return usage("--fail-on: %v", err)
		}
		if has {
			found = append(found, name)
		}
	}
	if len(found) > 0 {
		return exitError{fmt.Errorf("the trace has findings: %s", strings.Join(found, ", ")), exitMissed}
	}
	return nil
}
