package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wavetank": main})
}

// TestScripts plays testdata/scripts: what a user types and what the program
// answers. TESTDATA is the repository's testdata, ADDR a free loopback address.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("..", "..", "testdata", "scripts"),
		Setup:         setup,
		Cmds:          scriptCommands,
		UpdateScripts: os.Getenv("UPDATE") != "",
	})
}

func setup(env *testscript.Env) error {
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		return err
	}
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	env.Setenv("TESTDATA", data)
	env.Setenv("ADDR", addr)
	env.Setenv("WAVETANK_REPLAY_MAX_LAG", "1m") // how busy the machine of the tests is, is not tested
	return nil
}

// scriptCommands are what scripts can wait for: listening ADDRESS, until a server
// listens there, and exists-soon FILE, until there is such a file and not an empty one.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"listening": func(ts *testscript.TestScript, _ bool, args []string) {
		until(ts, func() bool {
			conn, err := net.Dial("tcp", args[0])
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
	},
	"exists-soon": func(ts *testscript.TestScript, _ bool, args []string) {
		until(ts, func() bool {
			st, err := os.Stat(ts.MkAbs(args[0]))
			return err == nil && st.Size() > 0
		})
	},
}

func until(ts *testscript.TestScript, done func() bool) {
	for range 200 {
		if done() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("waited in vain")
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// Flags stand anywhere: the library by itself would take those after the first
// argument as arguments.
func TestFlagsAfterArguments(t *testing.T) {
	out := filepath.Join(t.TempDir(), "c.arrow")
	log := filepath.Join("..", "..", "testdata", "logs", "azure", "AzureLLMInferenceTrace_conv.csv.gz")
	for i, args := range [][]string{
		{"convert", log, "-o", out, "--app", "chat"},
		{"convert", "--app", "chat", log, "-o", out, "--force"},
		{"convert", "--force", "-o=" + out, "--app=chat", "--", log},
	} {
		if err := run(context.Background(), append([]string{"wavetank"}, args...), nil, t.Output(), t.Output()); err != nil {
			t.Errorf("%d %q: %v", i, args, err)
		}
	}
}

// No flag's value is taken for the next flag's, whatever the flag's type.
func TestPermuteKeepsValues(t *testing.T) {
	for _, args := range [][]string{
		{"replay", "t.arrow", "--target", "sim", "-o", "r.arrow", "--speed", "2"},
		{"replay", "--no-calibrate", "t.arrow", "-o", "r.arrow"},
	} {
		if err := run(context.Background(), append([]string{"wavetank"}, args...), nil, t.Output(), t.Output()); err == nil || fmt.Sprint(err) == "" {
			t.Errorf("%q: no error for a trace that does not exist", args)
		}
	}
}
