package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"wavetank/traces"
)

// outputFlags are those of every command that writes a file.
func outputFlags(what string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write " + what + " to `FILE`; - is standard output"},
		&cli.BoolFlag{Name: "force", Usage: "overwrite FILE if it exists"},
	}
}

// outputPath checks -o here: the library's check of required flags prints the
// whole help on standard output.
func outputPath(c *cli.Context) (string, error) {
	path := c.String("output")
	if path == "" {
		return "", hint(usage("%s needs -o FILE", c.Command.Name), "-o - writes to standard output")
	}
	return path, nil
}

// createTrace begins the trace or run that -o names.
func (e *env) createTrace(c *cli.Context, m traces.Meta) (*traces.FileWriter, error) {
	path, err := outputPath(c)
	if err != nil {
		return nil, err
	}
	if path == "-" {
		return traces.CreateWriter(e.stdout, m)
	}
	w, err := traces.Create(path, m, traces.CreateOptions{Overwrite: c.Bool("force")})
	if errors.Is(err, traces.ErrExists) {
		return nil, hint(err, "--force overwrites it")
	}
	return w, err
}

// writeFile writes what render gives to the file that -o names, whole or not at all.
func (e *env) writeFile(c *cli.Context, render func(io.Writer) error) (err error) {
	path, err := outputPath(c)
	if err != nil {
		return err
	}
	if path == "-" {
		return render(e.stdout)
	}
	if _, err := os.Lstat(path); err == nil && !c.Bool("force") {
		return hint(fmt.Errorf("create %s: %w", path, os.ErrExist), "--force overwrites it")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".wavetank-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := errors.Join(render(f), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}

// one returns the command's only argument.
func one(c *cli.Context, what string) (string, error) {
	if c.NArg() != 1 {
		return "", hint(usage("%s takes one %s, not %d", c.Command.Name, what, c.NArg()), "wavetank %s --help", c.Command.Name)
	}
	return c.Args().First(), nil
}

// writeAs writes v as JSON or, unless that was asked for, as text.
func writeAs(w io.Writer, asJSON bool, v any, text func(io.Writer) error) error {
	if !asJSON {
		return text(w)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
