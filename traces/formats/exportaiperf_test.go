package formats

import (
	"slices"
	"strings"
	"testing"

	"wavetank/traces"
)

// Every row of a session says that its prompt is whole, which AIPerf takes it for
// only then; one row without it would be refused.
func TestAIPerfSessionsAreWhole(t *testing.T) {
	b, x := exported(t, "aiperf", traces.Meta{BlockTokens: 16}, sane(5, 50))
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, `"session_id"`) != strings.Contains(line, `"context_mode":"message_array_with_responses"`) {
			t.Errorf("row %s", line)
		}
	}
	if !slices.ContainsFunc(x.Notes(), func(n string) bool { return strings.Contains(n, "context_mode") }) {
		t.Errorf("notes %q", x.Notes())
	}
	if _, m := readBack(t, "aiperf", b); strings.Contains(strings.Join(m.Sources[0].Warnings, "\n"), "context_mode") {
		t.Errorf("read back with the warnings %q", m.Sources[0].Warnings)
	}
}
