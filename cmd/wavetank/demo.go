package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"wavetank/replay/sim"
	"wavetank/testdata"
)

func demoCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "the whole story on embedded real data and the simulated engine",
		Description: "Takes an hour of production chat traffic (Azure, 2023) from its log to a report, and\nsays each command. It needs no GPU and no network but 127.0.0.1.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "write to `DIR` (default: a new one among the temporary files)"},
		},
		Action: e.demo,
	}
}

// demoSteps are the commands of the demo. DIR and URL are put in when they are known.
var demoSteps = []struct{ about, command string }{
	{"a log becomes a trace", "convert DIR/AzureLLMInferenceTrace_conv.csv.gz --app chat -o DIR/conv.arrow"},
	{"what is in it, and what is wrong with it", "inspect DIR/conv.arrow"},
	{"its kinds of requests, their lengths and arrivals become a profile", "fit DIR/conv.arrow -o DIR/conv.yaml"},
	{"what the profile says", "inspect DIR/conv.yaml"},
	{"how near what it makes comes to the real hour, and whether a server would notice", "compare DIR/conv.arrow DIR/conv.yaml"},
	{"the profile becomes traffic of any length and rate", "synth DIR/conv.yaml --for 20s --rate 20/s --seed 1 -o DIR/synth.arrow"},
	{"the recorded hour, played in virtual time", "replay DIR/conv.arrow --target sim -o DIR/hour.arrow"},
	{"what came back", "report DIR/hour.arrow"},
	{"the synthesis, played in real time over HTTP against a simulated engine", "replay DIR/synth.arrow --target URL --model sim -o DIR/run.arrow"},
	{"what came back", "report DIR/run.arrow"},
}

func (e *env) demo(c *cli.Context) error {
	dir, err := demoDir(c.String("dir"))
	if err != nil {
		return err
	}
	log := filepath.Join(dir, "AzureLLMInferenceTrace_conv.csv.gz")
	if err := os.WriteFile(log, testdata.AzureConv, 0o644); err != nil {
		return err
	}
	cfg, err := sim.Preset(sim.DefaultModel, sim.DefaultGPU)
	if err != nil {
		return err
	}
	cfg.Model = "sim"
	served, err := serveSim(cfg, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer served.close()
	fill := strings.NewReplacer("DIR", dir, "URL", "http://"+served.addr+"/v1")
	for _, step := range demoSteps {
		command := "wavetank " + step.command
		fmt.Fprintf(e.stdout, "\n# %s\n$ %s\n", step.about, fill.Replace(command))
		err := e.run(c.Context, fillFields(command, fill), e.stdin, e.stdout, e.stderr)
		var exit exitError
		if errors.As(err, &exit) && exit.code == exitInvalid { // a busy machine is no failure of the demo
			explain(e.stderr, err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(e.stdout, "\nAll of it is in %s\n", dir)
	return nil
}

// fillFields splits a command before it fills it, so that a directory may have
// spaces in its name.
func fillFields(command string, fill *strings.Replacer) []string {
	args := strings.Fields(command)
	for i := range args {
		args[i] = fill.Replace(args[i])
	}
	return args
}

func demoDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "wavetank-demo-*")
	}
	return dir, os.Mkdir(dir, 0o755)
}
