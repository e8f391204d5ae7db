package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// finishFlags lets every flag of a command take its default from
// WAVETANK_COMMAND_FLAG, and has the help say "(default: X)" where the usage
// says it and nothing where the zero value stands for none. What is written,
// and over what, is said on the command line alone.
func finishFlags(c *cli.Command) {
	for _, flag := range c.Flags {
		name := flag.Names()[0]
		env := []string{"WAVETANK_" + strings.ToUpper(strings.ReplaceAll(c.Name+"_"+name, "-", "_"))}
		if name == "output" || name == "force" {
			env = nil
		}
		switch f := flag.(type) {
		case *cli.StringFlag:
			f.EnvVars = env
			f.Usage, f.DefaultText = splitDefault(f.Usage, true)
		case *cli.StringSliceFlag:
			f.EnvVars = env
		case *cli.BoolFlag:
			f.EnvVars, f.DisableDefaultText = env, true
		case *cli.IntFlag:
			f.EnvVars = env
			f.Usage, f.DefaultText = splitDefault(f.Usage, f.Value != 0)
		case *cli.Int64Flag:
			f.EnvVars = env
			f.Usage, f.DefaultText = splitDefault(f.Usage, f.Value != 0)
		case *cli.Uint64Flag:
			f.EnvVars = env
		case *cli.Float64Flag:
			f.EnvVars = env
			f.Usage, f.DefaultText = splitDefault(f.Usage, f.Value != 0)
		case *cli.DurationFlag:
			f.EnvVars = env
			f.Usage, f.DefaultText = splitDefault(f.Usage, f.Value != 0)
		default:
			panic("a flag of another type: " + name)
		}
	}
}

func splitDefault(usage string, hasValue bool) (rest, text string) {
	if rest, text, ok := strings.Cut(usage, " (default: "); ok {
		return rest, strings.TrimSuffix(text, ")")
	}
	if hasValue {
		return usage, ""
	}
	return usage, "none"
}
