package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// docsAddress is what the docs say where a server has to listen.
const docsAddress = "127.0.0.1:8000"

// TestDocs runs every block of the README and the docs that is marked sh, a
// page's blocks one after the other, beside the logs of testdata.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, ran := t.TempDir(), 0
	for _, page := range append(pages, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		script := commandsOf(string(text))
		if script == "" {
			continue
		}
		ran++
		name := strings.TrimSuffix(filepath.Base(page), ".md") + ".txtar"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if ran == 0 {
		t.Fatal("no page has a block to run")
	}
	testscript.Run(t, testscript.Params{
		Dir:   dir,
		Setup: setupDocs,
		Cmds:  scriptCommands,
	})
}

// commandsOf makes a script of the blocks of a page.
func commandsOf(text string) string {
	var script strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh"
		case !inside || line == "":
		case strings.HasPrefix(line, "#"):
			fmt.Fprintln(&script, line)
		default:
			fmt.Fprintln(&script, "exec "+strings.ReplaceAll(line, docsAddress, "$ADDR"))
			if strings.HasSuffix(line, "&") {
				fmt.Fprintln(&script, "listening $ADDR")
			}
		}
	}
	return script.String()
}

func setupDocs(env *testscript.Env) error {
	if err := setup(env); err != nil {
		return err
	}
	for _, dir := range []string{"azure", "mooncake", "burstgpt", "csv", "jsonl", "otlp", "inference-perf", "nginx", "langfuse", "weka", "bailian", "mooncake-delta", "sglang", "claude-code"} {
		if err := os.CopyFS(env.WorkDir, os.DirFS(filepath.Join(env.Getenv("TESTDATA"), "logs", dir))); err != nil {
			return err
		}
	}
	const rollout = "rollout.jsonl" // alone: beside it are names that claude-code has too
	text, err := os.ReadFile(filepath.Join(env.Getenv("TESTDATA"), "logs", "codex", rollout))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(env.WorkDir, rollout), text, 0o644)
}
