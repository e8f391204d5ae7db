package fidelity

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"wavetank/traces"
)

// small is a comparison that takes no time: a load, and one with longer prompts at
// two thirds of its rate.
func small(t *testing.T, o Options) *Report {
	a := requests(600, 1)
	b := slices.Clone(a[:400])
	for i := range b {
		b[i].Arrival = b[i].Arrival * 3 / 2
		b[i].PromptTokens = traces.Some(b[i].PromptTokens.V * 3 / 2)
	}
	o.Resamples, o.Seeds = 10, 5
	return compared(t, a, b, o)
}

func TestText(t *testing.T) {
	var got bytes.Buffer
	if err := small(t, Options{}).WriteText(&got); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "small.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

// A screen has 80 columns, and some 50 lines on a large terminal, whatever apps and
// files are named.
func TestTextFits(t *testing.T) {
	r := small(t, Options{})
	r.A.Name = strings.Repeat("long", 100) + "\x1b[31m\n"
	r.Groups[0].Figures[0].App = strings.Repeat("app", 50)
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	if len(lines) > 55 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 || strings.ContainsRune(line, '\x1b') {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		size, floor, tolerance float64
		want                   Verdict
	}{
		{0, 0, 0, WithinNoise},
		{.01, .01, 0, WithinNoise},
		{.02, .01, .03, Small},       // beyond noise, inside the tolerance
		{.04, .01, .03, Large},       // beyond both
		{.04, .03, .01, Small},       // just above a floor that is wide
		{.05, .03, .01, Large},       // well above it
		{.02, 0, .01, Large},         // no noise at all
		{.0009, 0, .01, WithinNoise}, // nothing to speak of
	} {
		if got := verdict(test.size, test.floor, test.tolerance); got != test.want {
			t.Errorf("%g over %g and %g is %v, want %v", test.size, test.floor, test.tolerance, got, test.want)
		}
	}
	for _, v := range []Verdict{WithinNoise, Small, Large} {
		text, _ := v.MarshalText()
		var back Verdict
		if err := back.UnmarshalText(text); err != nil || back != v {
			t.Errorf("%q is read as %v, %v", text, back, err)
		}
	}
	if new(Verdict).UnmarshalText([]byte("huge")) == nil {
		t.Error("huge is no verdict")
	}
}
