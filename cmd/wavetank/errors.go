package main

import (
	"errors"
	"fmt"
	"io"
)

// The exit codes of the program.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitMissed      = 3
	exitInvalid     = 4
	exitInterrupted = 5
)

// An exitError ends the program with a code of its own.
type exitError struct {
	error
	code int
}

// Unwrap lets errors.Is and errors.As see what is inside.
func (e exitError) Unwrap() error { return e.error }

func usage(format string, args ...any) error {
	return exitError{fmt.Errorf(format, args...), exitUsage}
}

// A hinted error says what the user can do about it.
type hinted struct {
	error
	hint string
}

// Unwrap lets errors.Is and errors.As see what is inside.
func (h hinted) Unwrap() error { return h.error }

func hint(err error, format string, args ...any) error {
	return hinted{err, fmt.Sprintf(format, args...)}
}

// explain prints err and returns the program's exit code.
func explain(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(w, "wavetank: %s\n", printable(err.Error()))
	for e := err; e != nil; e = errors.Unwrap(e) {
		if h, ok := e.(hinted); ok {
			fmt.Fprintf(w, "wavetank: hint: %s\n", printable(h.hint))
		}
	}
	var exit exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return exitFailed
}

// printable takes from text that may be a stranger's what a terminal would act on.
func printable(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) {
			r = '\uFFFD'
		}
		out = append(out, r)
	}
	return string(out)
}
