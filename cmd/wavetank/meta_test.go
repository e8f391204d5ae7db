package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
)

// What is kept of a command line has no secret and not the name of the file it
// is kept in.
func TestRecordedCommand(t *testing.T) {
	got := recorded(strings.Fields("/usr/bin/wavetank replay t.arrow -o run.arrow --force --header X-Tenant:canary --target http://me:canary@127.0.0.1:8000/v1?key=canary --speed=2"))
	want := strings.Fields("wavetank replay t.arrow --header=*** --target http://127.0.0.1:8000/v1 --speed=2")
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// Scripts tell by the exit code what happened.
func TestExitCodes(t *testing.T) {
	for command, want := range map[string]int{
		"":                               exitDone,
		"--help":                         exitDone,
		"nonsense":                       exitUsage,
		"convert":                        exitUsage,
		"convert --nonsense x":           exitUsage,
		"convert a b --tz Atlantis -o x": exitUsage,
		"inspect nowhere.arrow":          exitFailed,
		"replay t.arrow -o r.arrow":      exitUsage, // no target
		"replay t.arrow --target http://203.0.113.1/v1 -o r.arrow": exitFailed, // no trace
		"synth p.yaml=x -o s.arrow":                                exitUsage,
		"report --format nonsense r.arrow":                         exitUsage,
	} {
		args := append([]string{"wavetank"}, strings.Fields(command)...)
		err := run(context.Background(), args, strings.NewReader(""), io.Discard, io.Discard)
		if got := explain(io.Discard, err); got != want {
			t.Errorf("wavetank %s: exit code %d, want %d (%v)", command, got, want, err)
		}
	}
}

// A request that costs money needs its host's name.
func TestOpenInternetIsRefused(t *testing.T) {
	ctx := context.Background()
	for target, ok := range map[string]bool{
		"http://127.0.0.1:8000/v1": true, "http://[::1]/v1": true, "http://10.1.2.3/v1": true, "http://192.168.0.9/v1": true,
		"http://203.0.113.1/v1": false, "http://[2001:db8::1]/v1": false, "https://8.8.8.8/v1": false,
	} {
		if err := allowed(ctx, target, nil); (err == nil) != ok {
			t.Errorf("%s: %v", target, err)
		}
	}
	if err := allowed(ctx, "http://203.0.113.1/v1", []string{"203.0.113.1"}); err != nil {
		t.Error(err)
	}
}
