package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"wavetank/replay/report"
)

func reportCommand(e *env) *cli.Command {
	var names []string
	for _, r := range report.Renderers {
		names = append(names, r.Name)
	}
	return &cli.Command{
		Name: "report", Usage: "say what came back", ArgsUsage: "RUN|TRACE...",
		Description: "Everything is computed from the rows of the file, so that one run answers every\nquestion. Figures are exact: no sampling, no binning.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "write as `NAME`: " + strings.Join(names, ", "), Value: names[0]},
			&cli.DurationFlag{Name: "max-lag", Usage: "bound on the p99 of the lag, over which a run is INVALID", Value: report.DefaultMaxLag},
			&cli.BoolFlag{Name: "definitions", Usage: "print what each figure means, instead of a report"},
		},
		Action: e.report,
	}
}

func (e *env) report(c *cli.Context) error {
	if c.Bool("definitions") {
		return report.Definitions(e.stdout)
	}
	if c.NArg() == 0 {
		return hint(usage("report takes the runs to report on"), "wavetank report --help")
	}
	renderer, err := rendererOf(c.String("format"))
	if err != nil {
		return err
	}
	var summaries []*report.Summary
	for _, path := range c.Args().Slice() {
		s, err := e.summarize(path, c)
		if err != nil {
			return err
		}
		summaries = append(summaries, s)
	}
	return renderer.Render(e.stdout, summaries)
}

func rendererOf(name string) (report.Renderer, error) {
	for _, r := range report.Renderers {
		if r.Name == name {
			return r, nil
		}
	}
	return report.Renderer{}, usage("--format: there is no report format %q", name)
}

func (e *env) summarize(path string, c *cli.Context) (*report.Summary, error) {
	f, err := e.openTrace(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.Summarize(f, f.Meta(), report.Options{Name: path, MaxLag: c.Duration("max-lag")})
}
