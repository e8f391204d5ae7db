package formats

import "fmt"

// arrivals reads the arrivals of a log of any origin. The first decides for all
// whether they are dates or numbers, of which unit, and since when.
type arrivals struct {
	in      *input
	field   string
	unit    int64 // of numbers, in nanoseconds; 0: not decided
	decided bool
	numeric bool
}

// read returns an arrival in nanoseconds.
func (a *arrivals) read(v []byte) (int64, error) {
	numeric := isDecimal(v)
	if a.decided && numeric != a.numeric {
		return 0, rejectf(BadTime, "%q, where other rows have %s", clip(v), map[bool]string{true: "numbers", false: "dates"}[a.numeric])
	}
	ns, err := a.parse(v, numeric)
	if err != nil {
		return 0, err
	}
	if !a.decided {
		a.decide(ns, numeric)
	}
	// A 0 among wall clocks is a stamp that nobody set, and would open a hole of fifty years.
	if numeric && sinceEpoch(ns) != a.in.absolute {
		return 0, rejectf(BadTime, "%s %s is far from the other stamps", clip(v), unitName(a.unit))
	}
	return ns, nil
}

func (a *arrivals) parse(v []byte, numeric bool) (int64, error) {
	if !numeric {
		return a.in.clock.parse(v)
	}
	if a.unit == 0 {
		return a.guess(v)
	}
	return parseDecimal(v, a.unit)
}

// guess finds the one unit in which a number is a wall clock of this century. No
// number is that in two units; a small one is in none, and then only the user knows.
func (a *arrivals) guess(v []byte) (int64, error) {
	for _, u := range units {
		if ns, err := parseDecimal(v, u.ns); err == nil && sinceEpoch(ns) {
			a.unit = u.ns
			return ns, nil
		}
	}
	if _, err := parseDecimal(v, 1); err != nil {
		return 0, err
	}
	return 0, a.in.errorAt(a.field, fmt.Errorf("%s may be of any unit, and is no wall clock in any: tell it with --time-unit s, ms, us or ns", clip(v)))
}

func (a *arrivals) decide(ns int64, numeric bool) {
	a.decided, a.numeric = true, numeric
	a.in.absolute = !numeric || sinceEpoch(ns)
	if numeric {
		a.in.source.TimeUnit, a.in.source.Grammar = unitName(a.unit), decimalGrammar
	}
}

// isDecimal tells a number, negative ones included, from a date.
func isDecimal(v []byte) bool {
	for i, c := range v {
		if (c < '0' || c > '9') && c != '.' && (c != '-' || i > 0) {
			return false
		}
	}
	return len(v) > 0
}

// sinceEpoch tells whether a stamp in nanoseconds is a wall clock of this
// century: small numbers count from the start of something else.
func sinceEpoch(ns int64) bool {
	year2000, year2100 := int64(946_684_800e9), int64(4_102_444_800e9)
	return year2000 <= ns && ns < year2100
}
