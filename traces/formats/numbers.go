package formats

import (
	"bytes"
	"math"
)

// maxTokens is the largest token count that is believed: a hundred times the
// longest context of today's models.
const maxTokens = 100_000_000

// isUnknown tells the words by which logs say that a value is not known.
func isUnknown(b []byte) bool {
	switch string(b) {
	case "", "-", "null", "None", "NaN", "nan":
		return true
	}
	return false
}

// parseTokens reads a token count: digits, perhaps with a fraction of zeros
// ("19.0") or with thousands separators ("1,234").
func parseTokens(b []byte) (int32, error) {
	if n, ok := digits(b); ok && n <= maxTokens {
		return int32(n), nil
	}
	n, err := parseCount(b)
	if err == nil && n > maxTokens {
		return 0, rejectf(TooLarge, "%d is over the limit of %d tokens", n, maxTokens)
	}
	return n, err
}

// parseCount reads a whole number from 0 to 2^31-1.
func parseCount(b []byte) (int32, error) {
	if n, ok := digits(b); ok && len(b) <= 9 {
		return int32(n), nil
	}
	n, err := parseWhole(b)
	if err == nil && n > math.MaxInt32 {
		return 0, rejectf(TooLarge, "%d is out of range", n)
	}
	return int32(n), err
}

// digits reads b if it is 1 to 19 digits and nothing else, and fits.
func digits(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	if len(b) <= 8 {
		word := wordAt(b, 0)
		if leadingDigits(word) < len(b) {
			return 0, false
		}
		return eightDigits(word, len(b)), true
	}
	var n uint64 // holds any 19 digits
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return int64(n), n <= math.MaxInt64
}

func parseWhole(b []byte) (int64, error) {
	b = bytes.TrimSpace(b)
	if isUnknown(b) {
		return 0, rejectf(MissingField, "%q where a number must be", b)
	}
	whole, fraction, _ := bytes.Cut(ungroup(b), []byte("."))
	if len(bytes.Trim(fraction, "0")) > 0 {
		return 0, rejectf(BadNumber, "%q is not a whole number", clip(b))
	}
	if n, ok := digits(whole); ok {
		return n, nil
	}
	if len(whole) > 1 && whole[0] == '-' && allDigits(whole[1:]) {
		return 0, rejectf(Negative, "%s is negative", clip(b))
	}
	if allDigits(whole) {
		return 0, rejectf(TooLarge, "%s is out of range", clip(b))
	}
	return 0, rejectf(BadNumber, "%q is not a number", clip(b))
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// ungroup removes the commas of 1,234,567 and leaves all else as it is.
func ungroup(b []byte) []byte {
	groups := bytes.Split(b, []byte(","))
	if len(groups) == 1 || len(groups[0]) == 0 || len(groups[0]) > 3 {
		return b
	}
	for i, g := range groups {
		if g, _, _ := bytes.Cut(g, []byte(".")); i > 0 && len(g) != 3 {
			return b
		}
	}
	return bytes.Join(groups, nil)
}

// parseDecimal reads a decimal number of units of unit nanoseconds as
// nanoseconds. It works on digits: a float64 has 53 bits and a wall clock in
// nanoseconds needs 61. Digits below a nanosecond are dropped.
func parseDecimal(b []byte, unit int64) (int64, error) {
	if n, ok := digits(b); ok && n <= math.MaxInt64/unit-1 {
		return n * unit, nil
	}
	b = bytes.TrimSpace(b)
	whole, fraction, dot := bytes.Cut(b, []byte("."))
	switch {
	case isUnknown(b):
		return 0, rejectf(MissingField, "%q where a time must be", b)
	case len(whole) > 1 && whole[0] == '-' && allDigits(whole[1:]):
		return 0, rejectf(Negative, "%s is negative", clip(b))
	case !allDigits(whole) || dot && len(fraction) > 0 && !allDigits(fraction):
		return 0, rejectf(BadTime, "%q is not a number", clip(b))
	}
	n, ok := digits(whole)
	if !ok || n > math.MaxInt64/unit-1 {
		return 0, rejectf(TooLarge, "%s is out of range", clip(b))
	}
	ns := n * unit
	for _, c := range fraction {
		unit /= 10
		ns += int64(c-'0') * unit
	}
	return ns, nil
}

// units are the time units by name, in nanoseconds.
var units = []struct {
	name string
	ns   int64
}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}

// unitNamed returns a unit in nanoseconds, or 0.
func unitNamed(name string) int64 {
	for _, u := range units {
		if u.name == name {
			return u.ns
		}
	}
	return 0
}

func unitName(ns int64) string {
	for _, u := range units {
		if u.ns == ns {
			return u.name
		}
	}
	return ""
}
