package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"wavetank/fit"
	"wavetank/replay/fidelity"
	"wavetank/traces"
	"wavetank/traces/formats"
)

func compareCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "compare", Usage: "say how far one load is from another", ArgsUsage: "A B",
		Description: "A and B are traces, logs or profiles (.yaml). Lengths, how they go together,\narrivals, the order of requests, sessions, and what a simulated engine makes of it\nall: each figure beside its noise, which is A against A. What is compared is the\nload; what came of it is not.",
		Flags: slices.Concat(logFlags(), []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "compare apart each `WHAT`: app, tenant, model or none (default: as the profile, or app)"},
			&cli.IntFlag{Name: "seeds", Usage: "syntheses of a profile B, and resamples of A to play otherwise", Value: 20},
			&cli.Uint64Flag{Name: "seed", Usage: "of all that is drawn"},
			&cli.BoolFlag{Name: "no-sim", Usage: "leave out the end to end, which takes most of the time"},
			&cli.BoolFlag{Name: "json", Usage: "write JSON, with every figure"},
			&cli.StringFlag{Name: "fail-on", Usage: "exit with 3 if the grade is `VERDICT` or worse: small or large"},
		}, engineFlags()),
		Action: e.compare,
	}
}

func (e *env) compare(c *cli.Context) error {
	if c.NArg() != 2 {
		return hint(usage("compare takes two loads, not %d", c.NArg()), "wavetank compare A B: traces, logs or profiles, the real one first")
	}
	if by := fit.By(c.String("by")); !slices.Contains([]fit.By{"", fit.ByApp, fit.ByTenant, fit.ByModel, fit.ByNone}, by) {
		return usage("--by %s: it is app, tenant, model or none", by)
	}
	if c.Args().Get(0) == "-" && c.Args().Get(1) == "-" {
		return usage("standard input can be read once: one of the two is to be a file")
	}
	bound, err := failVerdict(c.String("fail-on"))
	if err != nil {
		return err
	}
	o := fidelity.Options{Seeds: c.Int("seeds"), Seed: c.Uint64("seed"), NoSim: c.Bool("no-sim")}
	if o.Seeds < 1 {
		return usage("--seeds is %d; it must be at least 1", o.Seeds)
	}
	if o.Engine, err = engineConfig(c); err != nil {
		return err
	}
	a, b, err := e.sides(c)
	if err != nil {
		return err
	}
	report, err := fidelity.Compare(a, b, o)
	if err != nil {
		return err
	}
	if err := writeAs(e.stdout, c.Bool("json"), report, report.WriteText); err != nil {
		return err
	}
	if report.Grade >= bound {
		return exitError{fmt.Errorf("the two loads differ: the grade is %s", report.Grade), exitMissed}
	}
	return nil
}

// failVerdict is what the grade must be below.
func failVerdict(name string) (v fidelity.Verdict, err error) {
	if name == "" {
		return fidelity.Large + 1, nil
	}
	if err := v.UnmarshalText([]byte(name)); err != nil || v == fidelity.WithinNoise {
		return v, usage("--fail-on %s: it is small or large", name)
	}
	return v, nil
}

// sides reads the profiles first: they say by what the traces are divided.
func (e *env) sides(c *cli.Context) (a, b fidelity.Side, err error) {
	by := fit.By(c.String("by"))
	sides := []*fidelity.Side{&a, &b}
	for i, s := range sides {
		if s.Name = c.Args().Get(i); !isProfile(s.Name) {
			continue
		}
		if s.Profile, err = e.readProfile(s.Name); err != nil {
			return a, b, err
		}
		if by == "" {
			by = s.Profile.Source.By
		}
	}
	for _, s := range sides {
		if s.Profile != nil {
			continue
		}
		if s.Trace, err = e.loadLoad(c, s.Name, by); err != nil {
			return a, b, err
		}
	}
	return a, b, nil
}

func isProfile(path string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path))
}

func (e *env) loadLoad(c *cli.Context, path string, by fit.By) (*fidelity.Trace, error) {
	o, err := logOptions(c)
	if err != nil {
		return nil, err
	}
	in, err := e.openInput(path, o)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var r traces.Reader = in
	if _, isLog := in.(*formats.Source); isLog {
		sorted := traces.Sort(in, "")
		defer sorted.Close()
		r = sorted
	}
	t, err := fidelity.Load(r, by)
	if errors.Is(err, fidelity.ErrTooLong) {
		return nil, hint(fmt.Errorf("%s: %w", path, err), "compare a part of it: wavetank convert %s --from 10h --to 11h -o part.arrow", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	e.tellOfRejects(in)
	return t, nil
}

// tellOfRejects says what of a log is not in the load.
func (e *env) tellOfRejects(in input) {
	if _, isLog := in.(*formats.Source); !isLog {
		return
	}
	s := in.Meta().Sources[0]
	if n := s.RejectedRows() - s.Rejected[formats.NotARequest]; n > 0 {
		e.warn("%s: %d of %d rows cannot be read and are left out: inspect tells why", in.Name(), n, s.Read)
	}
}
