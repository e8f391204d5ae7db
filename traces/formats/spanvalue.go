package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
)

// attrText returns a value of an attribute as text, that of a list as its first
// element's, and "" where it is unknown.
func attrText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return plainNumber(v)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		if len(v) > 0 {
			return attrText(v[0])
		}
	}
	return ""
}

// plainNumber writes a number without an exponent, which is how the times of
// short stages come.
func plainNumber(n json.Number) string {
	if _, ok := digits([]byte(n)); ok {
		return string(n)
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return string(n)
	}
	return floatText(f)
}

// floatText returns "", which is unknown, for what is no number.
func floatText(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// attrJSON returns a value that is known as JSON, or nil. A number that came as
// text is a number again.
func attrJSON(v any) json.RawMessage {
	if _, isList := v.([]any); !isList {
		if text := attrText(v); isWord([]byte(text)) {
			return json.RawMessage(text)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}

// isWanted tells whether an attribute means something here. All the others, which
// may be whole conversations, are left undecoded.
func isWanted(name string) bool { return wantedAttributes[name] }

// plainValue reads an attribute that is written as plain JSON. Objects, and lists
// of them, stay text.
func plainValue(raw json.RawMessage) (any, error) {
	var v any
	if err := decodeJSON(raw, &v); err != nil {
		return nil, err
	}
	if list, ok := v.([]any); ok && !hasObjects(list) {
		return v, nil
	}
	switch v.(type) {
	case []any, map[string]any:
		return string(raw), nil
	}
	return v, nil
}

func hasObjects(list []any) bool {
	for _, v := range list {
		if _, ok := v.(map[string]any); ok {
			return true
		}
	}
	return false
}

// eachJSON takes the objects of JSON text one by one. They may stand one after
// the other, or in a list.
func eachJSON(text []byte, take func(json.RawMessage) error) error {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '{' && json.Valid(text) {
		return take(text) // the usual line, without another copy of it
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return rejectf(BadJSON, "%w", err)
		}
		list := []json.RawMessage{raw}
		if raw[0] == '[' {
			if err := unmarshal(raw, &list); err != nil {
				return err
			}
		}
		for _, object := range list {
			if err := take(object); err != nil {
				return err
			}
		}
	}
}

// unmarshal is json.Unmarshal whose errors reject the row.
func unmarshal(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return inField(kind.Field, rejectf(BadValue, "a %s where it must be of another type", kind.Value))
	}
	if err != nil {
		return rejectf(BadJSON, "%w", err)
	}
	return nil
}

// decodeJSON reads a value whose numbers stay text: a float64 does not hold 64 bits.
func decodeJSON(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return rejectf(BadJSON, "%w", err)
	}
	return nil
}
