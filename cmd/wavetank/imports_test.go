package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is the architecture: which of our packages each may import. Data
// flows from the left of docs/architecture.md to its right, and so nothing on
// the left imports what is on the right of it.
var mayImport = map[string][]string{
	"traces":          nil,
	"traces/formats":  {"traces", "traces/jsonscan"},
	"traces/jsonscan": nil,
	"traces/lint":     {"traces", "traces/reuse"},
	"traces/reuse":    {"traces"},
	"fit":             {"traces"},
	"synth":           {"traces", "fit"},
	"synth/prompt":    nil, // the simulated engine needs its words, and no profile
	"replay":          {"traces", "replay/pace"},
	"replay/pace":     nil,
	"replay/openai":   {"traces", "traces/jsonscan", "synth/prompt"},
	"replay/sim":      {"traces", "synth/prompt"},
	"replay/report":   {"traces"},
	"replay/fidelity": {"traces", "fit", "synth", "replay/sim"},
	"cmd/wavetank":    {"traces", "traces/formats", "traces/lint", "traces/reuse", "fit", "synth", "replay", "replay/openai", "replay/sim", "replay/report", "replay/fidelity", "testdata"},
	"cmd/tails":       {"traces", "fit", "synth", "replay/sim", "replay/fidelity"},
	"testdata":        nil,
}

// aloneMay names the packages that may import what others may not, so that to
// move to another version, or another library, touches one place.
var aloneMay = map[string][]string{
	"github.com/apache/arrow/go/v17":  {"traces"},
	"github.com/klauspost/compress":   {"traces"},
	"gonum.org/v1/gonum":              {"fit"},
	"go.yaml.in/yaml/v3":              {"fit"},
	"github.com/urfave/cli/v2":        {"cmd/wavetank"},
	"github.com/rogpeppe/go-internal": {"cmd/wavetank"}, // its tests
	"golang.org/x/sync":               {"replay"},
	"net/http":                        {"replay/openai", "replay/sim", "cmd/wavetank"},
	"log/slog":                        {"cmd/wavetank"},
	"log":                             {},
	"flag":                            {"cmd/tails"}, // it is no part of the program that users get
}

type goPackage struct {
	ImportPath, Doc string
	Imports         []string
	TestImports     []string
	XTestImports    []string
}

func goList(t *testing.T) (ps []goPackage) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,TestImports,XTestImports", "wavetank/...", "wavetank/testdata")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return ps
		case err != nil:
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
}

func TestArchitecture(t *testing.T) {
	seen := make(map[string]bool)
	for _, p := range goList(t) {
		name := strings.TrimPrefix(p.ImportPath, "wavetank/")
		seen[name] = true
		allowed, ok := mayImport[name]
		if !ok {
			t.Errorf("package %s is not in the table: a new package is a deliberate act", name)
			continue
		}
		if !strings.HasPrefix(p.Doc, "Package ") && !strings.HasPrefix(name, "cmd/") || p.Doc == "" {
			t.Errorf("package %s has no package comment", name)
		}
		for _, imp := range p.Imports {
			if ours, ok := strings.CutPrefix(imp, "wavetank/"); ok && !slices.Contains(allowed, ours) {
				t.Errorf("package %s must not import %s", name, ours)
			}
		}
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			checkForeign(t, name, imp, slices.Contains(p.Imports, imp))
		}
	}
	for name := range mayImport {
		if !seen[name] {
			t.Errorf("package %s is in the table and does not exist", name)
		}
	}
}

// checkForeign holds an import of somebody else's against aloneMay. Tests may
// use all of the standard library.
func checkForeign(t *testing.T, name, imp string, inProgram bool) {
	t.Helper()
	first, _, _ := strings.Cut(imp, "/")
	ours, foreign := first == "wavetank", strings.Contains(first, ".")
	for module, users := range aloneMay {
		if imp != module && !(foreign && strings.HasPrefix(imp, module+"/")) {
			continue
		}
		if (foreign || inProgram) && !slices.Contains(users, name) {
			t.Errorf("package %s must not import %s: only %v may", name, imp, users)
		}
		return
	}
	if foreign && !ours {
		t.Errorf("package %s imports %s, which is not in the table", name, imp)
	}
}
