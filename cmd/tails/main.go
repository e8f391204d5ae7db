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
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "tails:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("tails", flag.ContinueOnError)
	flags.SetOutput(stderr)
	seeds := flags.Int("seeds", 24, "traces that each generator makes")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: tails [-seeds N] TRACE...")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 || *seeds < 1 {
		return errors.New("it takes at least one trace and one seed: tails [-seeds N] TRACE")
	}
	for _, path := range flags.Args() {
		real, err := readTrace(path)
		if err != nil {
			return err
		}
		panels, err := compare(real, slices.Concat(peers, ours, []generator{floor}), servers, loads, *seeds)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		fmt.Fprintf(stdout, "## %s: %d requests in %.0f s, %d seeds\n\n", name, len(real), real.span().Seconds(), *seeds)
		for _, p := range panels {
			p.print(stdout)
		}
	}
	return nil
}
