// Command wavetank replays and synthesizes LLM inference traffic.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"
)

func main() {
	err := run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr)
	os.Exit(explain(os.Stderr, err))
}

// commands are all commands, in the order of the work.
var commands = []func(*env) *cli.Command{
	demoCommand, convertCommand, inspectCommand, fitCommand, synthCommand, replayCommand, reportCommand, compareCommand, simCommand,
}

// run is the whole program, so that tests can call it. The result of a command
// goes to stdout; progress, warnings and errors go to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	e := &env{args: args, stdin: stdin, stdout: stdout, stderr: stderr, run: run}
	app := &cli.App{
		Name:                 "wavetank",
		Usage:                "replay and synthesize LLM inference traffic",
		Description:          about,
		Version:              version(),
		Reader:               stdin,
		Writer:               stdout,
		ErrWriter:            stderr,
		HideHelpCommand:      true,
		EnableBashCompletion: true,
		// A statement of a map, a condition and a header may hold commas.
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {}, // main explains errors, and tests read them
		OnUsageError:              usageError,
		Action:                    noCommand,
	}
	for _, command := range commands {
		c := command(e)
		finishFlags(c)
		c.OnUsageError = usageError
		c.HideHelpCommand = true
		app.Commands = append(app.Commands, c)
	}
	return app.RunContext(ctx, permute(app, args))
}

const about = `Everything is a trace: a file of requests and, where they are known, their
outcomes. A converted log is one, a synthesis is one, and so is what a replay
writes. A profile is a small YAML file fitted to a trace, for sharing.

   logs > convert > trace > fit > profile > synth > trace > replay > run > report

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done, but something was found
that was not to be; 4 the run is invalid, since the generator and not the server
was the limit; 5 interrupted: of a run, what there was is kept.`

func noCommand(c *cli.Context) error {
	if !c.Args().Present() {
		return cli.ShowAppHelp(c)
	}
	name := c.Args().First()
	err := usage("there is no command %q", name)
	if near := cli.SuggestCommand(c.App.Commands, name); near != "" { // it is a whole sentence
		return hint(err, "%s", near)
	}
	return hint(err, "wavetank --help lists the commands")
}

func usageError(c *cli.Context, err error, _ bool) error {
	name := "wavetank"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "wavetank" {
		name += " " + c.Command.Name
	}
	return hint(usage("%v", err), "%s --help lists the flags", name)
}

// permute puts the flags of a command before its arguments: the flag library
// stops at the first argument, and would take "convert a.log -o x" as three.
func permute(app *cli.App, args []string) []string {
	if len(args) < 2 {
		return args
	}
	command := app.Command(args[1])
	if command == nil {
		return args
	}
	flags, rest := []string{}, []string{}
	for i := 2; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case len(arg) < 2 || arg[0] != '-':
			rest = append(rest, arg)
		case takesValue(command, arg) && i+1 < len(args):
			flags = append(flags, arg, args[i+1])
			i++
		default:
			flags = append(flags, arg)
		}
	}
	out := append([]string{args[0], args[1]}, flags...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out
}

// takesValue says whether arg is a flag whose value is the next argument.
func takesValue(command *cli.Command, arg string) bool {
	for _, flag := range command.Flags {
		for _, name := range flag.Names() {
			if arg == "-"+name || arg == "--"+name {
				_, isBool := flag.(*cli.BoolFlag)
				return !isBool
			}
		}
	}
	return false
}

// An env is what a run of the program has of the world outside.
type env struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer

	// run is the program itself, for the demo; called by its name it would go
	// round in a circle with commands.
	run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error
}

// warn tells the user something that is no error.
func (e *env) warn(format string, args ...any) {
	fmt.Fprintf(e.stderr, "wavetank: %s\n", printable(fmt.Sprintf(format, args...)))
}
