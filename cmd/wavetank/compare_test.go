package main

import (
	"context"
	"io"
	"path/filepath"
	"testing"
)

// A difference that must not be ends the program with 3, and wrong usage with 2.
func TestCompareExitCodes(t *testing.T) {
	conv := filepath.Join("..", "..", "testdata", "traces", "azure-conv.arrow")
	dir := t.TempDir()
	a, half := filepath.Join(dir, "a.arrow"), filepath.Join(dir, "half.arrow")
	for _, test := range []struct {
		code int
		args []string
	}{
		{exitDone, []string{"convert", conv, "--to", "3m", "-o", a}},
		{exitDone, []string{"convert", a, "--speed", ".5", "-o", half}},
		{exitDone, []string{"compare", a, half, "--no-sim"}},
		{exitMissed, []string{"compare", a, half, "--no-sim", "--fail-on", "large"}},
		{exitMissed, []string{"compare", a, half, "--no-sim", "--fail-on", "small", "--json"}},
		{exitDone, []string{"compare", a, a, "--no-sim", "--fail-on", "small"}},
		{exitUsage, []string{"compare", a, half, "--fail-on", "within noise"}},
		{exitUsage, []string{"compare", a, half, "--by", "colour"}},
		{exitUsage, []string{"compare", "-", "-"}},
		{exitUsage, []string{"compare", a}},
		{exitFailed, []string{"compare", a, filepath.Join(dir, "none.arrow")}},
	} {
		err := run(context.Background(), append([]string{"wavetank"}, test.args...), nil, io.Discard, io.Discard)
		if code := explain(io.Discard, err); code != test.code {
			t.Errorf("%q ends with %d, want %d: %v", test.args, code, test.code, err)
		}
	}
}
