package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

var (
	errIsJSON  = errors.New("the first line is a JSON object and not a CSV header")
	errNotJSON = errors.New("the first line is not a JSON object")
)

// sniffHeader takes CSV files whose header has all of the named columns.
func sniffHeader(names ...string) func([]byte) error {
	return func(head []byte) error {
		header, err := sniffColumns(head)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.Contains(header, name) {
				return fmt.Errorf("the first line lacks the column %q", name)
			}
		}
		return nil
	}
}

func sniffColumns(head []byte) ([]string, error) {
	if looksLikeJSON(head) {
		return nil, errIsJSON
	}
	return splitHeader(&table{lines: new(lines)}, firstLine(head))
}

// sniffKeys returns the keys of the JSON object that is, or begins, the first line.
func sniffKeys(head []byte) (map[string]json.Token, error) {
	return keysOf(firstLine(head))
}

// keysOf returns the keys of the JSON object that text begins with, each with the
// first token of its value. The object may be longer than text.
func keysOf(text []byte) (map[string]json.Token, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotJSON
	}
	keys := make(map[string]json.Token)
	for depth := 1; depth > 0; {
		t, err := d.Token()
		if err != nil {
			break
		}
		key, isText := t.(string)
		if depth > 1 || !isText {
			depth += nesting(t)
			continue
		}
		value, err := d.Token()
		if err != nil {
			break
		}
		keys[key] = value
		depth += nesting(value)
	}
	return keys, nil
}

// nesting returns by how much a token changes the depth.
func nesting(t json.Token) int {
	switch t {
	case json.Delim('{'), json.Delim('['):
		return 1
	case json.Delim('}'), json.Delim(']'):
		return -1
	}
	return 0
}
