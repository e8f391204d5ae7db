// Command tails shows which synthetic traces load a server as the real one does. It
// plays a trace, and what each of a table of generators makes of it, against simulated
// engines in virtual time, and prints how far the tails of the latencies are apart.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "tails:", err)
		os.Exit(1)
	}
}

// A table writes how a contest comes out.
type table func(io.Writer, contest) error

// A contest is between generators, each with so many seeds, to be like a trace.
type contest struct {
	name       string
	real       trace
	generators []generator
	seeds      int
}

var tables = map[string]table{"latency": latencyTables, "holdout": holdoutTables, "idc": idcTable}

// options are those of the command line.
type options struct {
	seeds      int
	table      table
	generators []generator
	paths      []string
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("tails", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.seeds, "seeds", 24, "traces that each generator makes")
	name := flags.String("table", "latency", "latency; holdout: fitted on the first half and judged on the second; or idc")
	only := flags.String("only", "", "the generators whose name matches this regular `expression`")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: tails [-seeds N] [-table NAME] [-only EXPRESSION] TRACE...")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	for _, g := range slices.Concat(peers, ours, []generator{floor}) {
		if wanted.MatchString(g.String()) {
			o.generators = append(o.generators, g)
		}
	}
	o.paths, o.table = flags.Args(), tables[*name]
	switch {
	case len(o.paths) == 0 || o.seeds < 1:
		return o, errors.New("it takes at least one trace and one seed: tails [-seeds N] TRACE")
	case o.table == nil:
		return o, fmt.Errorf("there is no table %q; it is latency, holdout or idc", *name)
	case len(o.generators) == 0:
		return o, fmt.Errorf("-only: no generator's name matches %q", *only)
	}
	return o, nil
}

func run(args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	for _, path := range o.paths {
		real, err := readTrace(path)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		if err := o.table(stdout, contest{name, real, o.generators, o.seeds}); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
