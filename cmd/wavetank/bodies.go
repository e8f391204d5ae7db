package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// bodies are the request bodies that a trace came to hold.
type bodies struct{ n, bytes int64 }

// String implements fmt.Stringer.
func (b *bodies) String() string {
	return fmt.Sprintf("keep bodies: %d bodies, %d bytes", b.n, b.bytes)
}

// keepBodies counts what the readers of the logs kept.
func (e *editing) keepBodies(r traces.Reader) (traces.Reader, error) {
	if e.c.Bool("drop-bodies") {
		return nil, usage("--keep-bodies and --drop-bodies: give one")
	}
	e.done = append(e.done, &e.kept)
	return traces.ReaderFunc(func(rec *traces.Record) error {
		err := r.Read(rec)
		if err == nil && rec.Body != nil {
			e.kept.n++
			e.kept.bytes += int64(len(rec.Body))
		}
		return err
	}), nil
}

// mapsNoBody refuses a --map of bodies that are not to be kept. A map file is for
// any use of its log.
func mapsNoBody(o formats.Options) error {
	for _, statement := range o.Map {
		column, _, _ := strings.Cut(statement, "=")
		if strings.TrimSpace(column) == "body" && !o.KeepBodies {
			return hint(usage("--map %s: request bodies are kept only on purpose", statement), "--keep-bodies keeps them")
		}
	}
	return nil
}

// tellOfBodies says what whoever has the file can read in it now, or that it is
// nothing.
func (e *env) tellOfBodies(c *cli.Context, export string, kept bodies) {
	i := slices.IndexFunc(formats.Exports, func(x formats.Export) bool { return x.Name == export })
	switch {
	case kept.n == 0:
		e.warn("no row has a request body: there was none to keep")
	case i < 0 || formats.Exports[i].Columns == nil:
		name := c.String("output")
		if name == "-" {
			name = "the output"
		}
		e.warn("%s now holds users' text, in %d request bodies: guard it as you do the log; convert --drop-bodies takes them out", name, kept.n)
	}
}
