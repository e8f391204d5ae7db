package openai

import (
	"fmt"
	"strings"
)

// A Secret is a key that no way of printing shows. It hides behind a function
// because fmt looks into unexported fields of a struct without asking for their
// methods. The zero Secret is no key.
type Secret struct{ reveal func() string }

// NewSecret hides key, without the white space around it that a file or a shell
// leaves.
func NewSecret(key string) Secret {
	if key = strings.TrimSpace(key); key == "" {
		return Secret{}
	}
	return Secret{func() string { return key }}
}

const stars = "***"

// String returns "***".
func (Secret) String() string { return stars }

// GoString returns "***".
func (Secret) GoString() string { return stars }

// Format prints "***" for every verb.
func (Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, stars) }

// MarshalText returns "***", for JSON, YAML and logs.
func (Secret) MarshalText() ([]byte, error) { return []byte(stars), nil }

// hide replaces the key in what a server said.
func (s Secret) hide(text string) string {
	if s.reveal == nil {
		return text
	}
	return strings.ReplaceAll(text, s.reveal(), stars)
}
