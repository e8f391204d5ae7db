package traces

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A field is a column that conditions can be about, as text or as a number.
type field struct {
	text   func(*Record) Opt[string]
	number func(*Record) Opt[int32]
}

func textField(get func(*Record) *Opt[string]) field {
	return field{text: func(r *Record) Opt[string] { return *get(r) }}
}

func numberField(get func(*Record) *Opt[int32]) field {
	return field{number: func(r *Record) Opt[int32] { return *get(r) }}
}

func boolField(get func(*Record) *Opt[bool]) field {
	return field{text: func(r *Record) Opt[string] {
		v := get(r)
		return Opt[string]{strconv.FormatBool(v.V), v.Known}
	}}
}

var fields = map[string]field{
	"id":            textField(func(r *Record) *Opt[string] { return &r.ID }),
	"app":           textField(func(r *Record) *Opt[string] { return &r.App }),
	"tenant":        textField(func(r *Record) *Opt[string] { return &r.Tenant }),
	"user":          textField(func(r *Record) *Opt[string] { return &r.User }),
	"session":       textField(func(r *Record) *Opt[string] { return &r.Session }),
	"model":         textField(func(r *Record) *Opt[string] { return &r.Model }),
	"endpoint":      textField(func(r *Record) *Opt[string] { return &r.Endpoint }),
	"phase":         textField(func(r *Record) *Opt[string] { return &r.Phase }),
	"error":         textField(func(r *Record) *Opt[string] { return &r.Outcome.Error }),
	"finish_reason": textField(func(r *Record) *Opt[string] { return &r.Outcome.FinishReason }),
	"worker":        textField(func(r *Record) *Opt[string] { return &r.Outcome.Worker }),
	"status": {text: func(r *Record) Opt[string] {
		if r.Outcome.Status == "" {
			return Some(string(Unknown))
		}
		return Some(string(r.Outcome.Status))
	}},

	"stream":        boolField(func(r *Record) *Opt[bool] { return &r.Stream }),
	"gateway_cache": boolField(func(r *Record) *Opt[bool] { return &r.Outcome.GatewayCache }),

	"turn":             numberField(func(r *Record) *Opt[int32] { return &r.Turn }),
	"prompt_tokens":    numberField(func(r *Record) *Opt[int32] { return &r.PromptTokens }),
	"output_tokens":    numberField(func(r *Record) *Opt[int32] { return &r.OutputTokens }),
	"reasoning_tokens": numberField(func(r *Record) *Opt[int32] { return &r.ReasoningTokens }),
	"max_tokens":       numberField(func(r *Record) *Opt[int32] { return &r.MaxTokens }),
	"cached_tokens":    numberField(func(r *Record) *Opt[int32] { return &r.Outcome.CachedTokens }),
	"http_status":      numberField(func(r *Record) *Opt[int32] { return &r.Outcome.HTTPStatus }),
}

func fieldNames() string { return strings.Join(slices.Sorted(maps.Keys(fields)), ", ") }

// operators are sought in this order, so that >= is not read as >.
var operators = []string{"!=", ">=", "<=", "=", ">", "<"}

// Where keeps the rows that meet every condition of expr, which are parted by
// commas:
//
//	app=chat|rag, model=llama*, status!=ok, prompt_tokens>1000, session!=
//
// A condition is COLUMN OPERATOR VALUE. Texts are compared by = and !=, with |
// between alternatives and * for any characters; numbers also by < <= > >=. A row
// whose column is not known meets none of them, neither = nor !=. COLUMN= keeps the
// rows that do not know it, COLUMN!= those that do. There is no or beyond |, and no
// way to write a comma in a value.
func Where(r Reader, expr string) (*Edit, error) {
	var conditions []func(*Record) bool
	for i, text := range strings.Split(expr, ",") {
		c, err := parseCondition(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("condition %d, %q: %w", i+1, strings.TrimSpace(text), err)
		}
		conditions = append(conditions, c)
	}
	e := newEdit("where "+expr, "rows kept", "left out")
	return e.keep(r, func(rec *Record) bool {
		for _, holds := range conditions {
			if !holds(rec) {
				e.Counts[1].N++
				return false
			}
		}
		e.Counts[0].N++
		return true
	}), nil
}

func parseCondition(text string) (func(*Record) bool, error) {
	at := strings.IndexAny(text, "=!<>")
	if at < 0 {
		return nil, fmt.Errorf("must be COLUMN OPERATOR VALUE, such as app=chat or prompt_tokens>1000")
	}
	name := strings.TrimSpace(text[:at])
	f, ok := fields[name]
	if !ok {
		return nil, fmt.Errorf("there is no column %q to ask for; there are %s", name, fieldNames())
	}
	i := slices.IndexFunc(operators, func(op string) bool { return strings.HasPrefix(text[at:], op) })
	if i < 0 {
		return nil, fmt.Errorf("there is no operator %q; there are %s", text[at:at+1], strings.Join(operators, " "))
	}
	op := operators[i]
	value := strings.TrimSpace(text[at+len(op):])
	switch {
	case value == "" && (op == "=" || op == "!="):
		return f.knows(op == "!="), nil
	case f.text != nil:
		return f.compareText(op, value)
	}
	return f.compareNumber(op, value)
}

func (f field) knows(want bool) func(*Record) bool {
	if f.text != nil {
		return func(r *Record) bool { return f.text(r).Known == want }
	}
	return func(r *Record) bool { return f.number(r).Known == want }
}

func (f field) compareText(op, value string) (func(*Record) bool, error) {
	if op != "=" && op != "!=" {
		return nil, fmt.Errorf("the column is a text: compare it by = or !=, not by %s", op)
	}
	patterns := strings.Split(value, "|")
	return func(r *Record) bool {
		v := f.text(r)
		return v.Known && slices.ContainsFunc(patterns, func(p string) bool { return like(v.V, p) }) == (op == "=")
	}, nil
}

var comparisons = map[string]func(a, b int32) bool{
	"=":  func(a, b int32) bool { return a == b },
	"!=": func(a, b int32) bool { return a != b },
	"<":  func(a, b int32) bool { return a < b },
	"<=": func(a, b int32) bool { return a <= b },
	">":  func(a, b int32) bool { return a > b },
	">=": func(a, b int32) bool { return a >= b },
}

func (f field) compareNumber(op, value string) (func(*Record) bool, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("the column is a number, and %q is no whole number of 32 bits", value)
	}
	holds := comparisons[op]
	return func(r *Record) bool {
		v := f.number(r)
		return v.Known && holds(v.V, int32(n))
	}, nil
}

// like tells whether s is what the pattern says, in which * stands for any
// characters. Package path's patterns do not: there * ends at the slashes that
// names of models have.
func like(s, pattern string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return s == pattern
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	s = s[len(head):]
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], more
	}
}
