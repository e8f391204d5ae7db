package traces

import (
	"fmt"
	"strings"
)

// A label is a rule of Relabel.
type label struct {
	of      func(*Record) Opt[string]
	pattern string
	app     string
}

// Relabel says which application a row is of, by rules of the form
//
//	[COLUMN:]PATTERN=APP
//
// of which the first that fits counts; a row that none fits stays as it is. COLUMN
// is one that holds a text (model where it is left out), or file for the name of
// the input, which is the same for all of r. In PATTERN * stands for any
// characters: gpt-4*=chat, endpoint:embeddings=embedding, file:*_code*=code-completion.
func Relabel(r Reader, file string, rules ...string) (*Edit, error) {
	var labels []label
	for _, rule := range rules {
		l, err := parseLabel(rule, file)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", rule, err)
		}
		labels = append(labels, l)
	}
	e := newEdit("relabel "+strings.Join(rules, ", "), "rows labelled", "fitted no rule")
	return e.each(r, func(rec *Record) {
		for _, l := range labels {
			if v := l.of(rec); v.Known && like(v.V, l.pattern) {
				rec.App = Some(l.app)
				e.Counts[0].N++
				return
			}
		}
		e.Counts[1].N++
	}), nil
}

func parseLabel(rule, file string) (label, error) {
	at := strings.LastIndexByte(rule, '=')
	if at < 1 || at == len(rule)-1 {
		return label{}, fmt.Errorf("must be [COLUMN:]PATTERN=APP, such as gpt-4*=chat")
	}
	l := label{of: fields["model"].text, pattern: rule[:at], app: rule[at+1:]}
	name, pattern, found := strings.Cut(l.pattern, ":")
	f, known := fields[name]
	switch {
	case found && name == "file":
		l.of, l.pattern = func(*Record) Opt[string] { return Some(file) }, pattern
	case found && known && f.text == nil:
		return label{}, fmt.Errorf("the column %q is a number; rules are about texts", name)
	case found && known: // otherwise the colon is the pattern's own, as in qwen2.5:7b
		l.of, l.pattern = f.text, pattern
	}
	return l, nil
}
