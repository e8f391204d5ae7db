package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// minSame rows of one value are no chance.
const minSame = 20

func findConstant(s *scan) []Finding {
	var parts []string
	for _, c := range []struct {
		name string
		of   Lengths
	}{{"prompt", s.facts.PromptTokens}, {"output", s.facts.OutputTokens}} {
		if c.of.N >= minSame && c.of.Unknown == 0 && *c.of.Min == *c.of.Max {
			parts = append(parts, fmt.Sprintf("every row has %.0f %s tokens", *c.of.Min, c.name))
		}
	}
	if g := s.gaps; len(g) >= minSame && s.facts.Rows == int64(len(g)+1) && slices.Min(g) == slices.Max(g) {
		parts = append(parts, fmt.Sprintf("every gap is %v", time.Duration(g[0])))
	}
	if len(parts) == 0 {
		return nil
	}
	return []Finding{{"constant", strings.Join(parts, "; "),
		"a generator or a default made that column, no users: what a fit learns of it is one number",
		"none needed if it was meant so; otherwise look for the real column in the source"}}
}
