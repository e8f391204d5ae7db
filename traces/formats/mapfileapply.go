package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"wavetank/traces"
	"wavetank/traces/jsonscan"
)

// A mapRow is a row that is being read by a map.
type mapRow struct {
	in      *input
	finder  *jsonscan.Finder // of what the paths of terms begin with, unless the log is csv
	inPlace bool             // the finder found all that there is of it in this row
	slots   []node           // of its values, by slot, as far as they were asked for
	root    node
	arena   []member
	found   []*node
	text    [][]byte
	digits  []byte
	params  map[string]json.RawMessage
	skip    bool
	broken  bool // a string that looked like an object was none
	forked  bool // another reads the log's first rows, and decides what its times are
}

// decimal returns n as text that is valid until the next call.
func (r *mapRow) decimal(n int64) []byte {
	r.digits = strconv.AppendInt(r.digits[:0], n, 10)
	return r.digits
}

// errUndecided hands a row back to the one that decides.
var errUndecided = errors.New("a time of which no row before it has told the kind")

// apply fills the mapping's column, and tells whether it is known.
func (b *mapping) apply(row *mapRow, rec *traces.Record) (known bool, err error) {
	for _, c := range b.choices {
		if ok, err := c.holds(row); err != nil {
			return false, err
		} else if !ok {
			continue
		}
		s := c.addends
		switch {
		case b.param != "":
			known, err = b.applyParam(s, row)
		case b.column.Kind == Stamp:
			known, err = b.applyArrival(s, row, rec)
		case b.column.Kind == Duration:
			known, err = b.applyDuration(s, row, rec)
		case b.column.Kind == Count:
			known, err = b.applyCount(s, row, rec)
		default:
			known, err = b.applyText(s, row, rec)
		}
		if known || err != nil {
			return known, err
		}
	}
	return false, nil
}

// holds tells whether what the choice depends on is so.
func (c *choice) holds(row *mapRow) (bool, error) {
	if c.when == nil || c.when.isContainer(row) {
		return true, nil
	}
	when, err := c.when.text(row, &paramColumn)
	if when == nil || err != nil {
		return false, err
	}
	if c.not == nil {
		is, isBool := bools[string(when)]
		return is || !isBool, nil
	}
	not, err := c.not.text(row, &paramColumn)
	return not != nil && string(not) != string(when), err
}

// isContainer tells whether the term is an object or a list, which is known
// whatever is in it.
func (t *term) isContainer(row *mapRow) bool {
	if t.constant {
		return false
	}
	found := row.find(t)
	if len(found) == 0 || !found[0].container() {
		return false
	}
	t.see()
	return true
}

func (b *mapping) applyText(s addends, row *mapRow, rec *traces.Record) (known bool, err error) {
	text, err := s[0].text(row, b.column)
	if text == nil || err != nil {
		return false, err
	}
	switch b.column {
	case &skipColumn:
		row.skip = bools[string(text)]
		return true, readTruth(value{b: text}, &b.words.cell)
	case &rateColumn:
		row.in.source.SamplingRate, err = strconv.ParseFloat(string(text), 64)
		return true, err
	}
	return true, b.column.set(rec, value{b: text}, &b.words)
}

// checkRate takes a share of all requests.
func checkRate(v value, _ *traces.Cell) error {
	rate, err := strconv.ParseFloat(string(v.b), 64)
	if err != nil || !(rate > 0 && rate <= 1) {
		return rejectf(BadValue, "%q is not a share above 0 and up to 1", clip(v.b))
	}
	return nil
}

func (b *mapping) applyParam(s addends, row *mapRow) (known bool, err error) {
	t := &s[0]
	if t.constant || t.table != nil {
		text, err := t.text(row, b.column)
		if text == nil || err != nil {
			return false, err
		}
		row.params[b.param], err = textNode(text).json()
		return true, err
	}
	found := row.find(t)
	if len(found) == 0 {
		return false, nil
	}
	t.see()
	if n := found[0]; n.container() || !isUnknown(n.Text()) {
		row.params[b.param], err = n.json()
		return true, err
	}
	return false, nil
}

func (b *mapping) applyCount(s addends, row *mapRow, rec *traces.Record) (known bool, err error) {
	if len(s) == 1 && !s[0].sums() {
		text, err := s[0].text(row, b.column)
		if text == nil || err != nil {
			return false, err
		}
		return true, b.column.set(rec, value{b: text}, &b.words)
	}
	total, known, err := s.add(row, b.column, func(_ *term, text []byte) (int64, error) {
		n, err := parseCount(text)
		return int64(n), err
	})
	if !known || err != nil {
		return false, err
	}
	if total < 0 {
		return false, rejectf(Negative, "the sum is negative: %d", total)
	}
	return true, b.column.set(rec, value{b: row.decimal(total)}, &b.words)
}

// applyDuration takes a difference that is negative for unknown: two clocks, or
// one that was set, and the request came all the same.
func (b *mapping) applyDuration(s addends, row *mapRow, rec *traces.Record) (known bool, err error) {
	dates := 0
	ns, known, err := s.add(row, b.column, func(t *term, text []byte) (int64, error) {
		ns, isDate, err := t.nanoseconds(row, text)
		switch {
		case isDate && t.minus:
			dates--
		case isDate:
			dates++
		}
		return ns, err
	})
	switch {
	case err != nil || !known:
		return false, err
	case dates != 0:
		return false, rejectf(BadTime, "a date where a duration must be")
	case ns < 0:
		row.in.warn(fmt.Sprintf("%s would be negative and was read as unknown", b.name()))
		return false, nil
	}
	return true, b.column.set(rec, value{b: row.decimal(ns), unit: 1}, &b.words)
}

func (b *mapping) applyArrival(s addends, row *mapRow, rec *traces.Record) (known bool, err error) {
	first := &s[0]
	text, err := first.text(row, b.column)
	if text == nil || err != nil {
		return false, err
	}
	var rest int64
	if len(s) > 1 {
		rest, known, err = s[1:].add(row, b.column, func(t *term, text []byte) (int64, error) {
			ns, isDate, err := t.nanoseconds(row, text)
			if isDate {
				return 0, rejectf(BadTime, "%q: a date where a duration must be", clip(text))
			}
			return ns, err
		})
		if err != nil || !known && !s[1:].optional() {
			return false, err
		}
	}
	if first.arrival == nil && row.forked {
		return false, errUndecided
	}
	if first.arrival == nil {
		first.arrival = &arrivals{in: row.in, field: first.name, unit: first.unit}
	}
	ns, err := first.arrival.read(plainDecimal(text))
	rec.Arrival = time.Duration(ns + rest)
	return err == nil, err
}

func (s addends) optional() bool {
	for i := range s {
		if !s[i].optional {
			return false
		}
	}
	return true
}

// add adds up what number makes of the terms' texts. The sum is unknown if a term
// is that need not be there, or all are. -1 is the usual way to say unknown.
func (s addends) add(row *mapRow, c *Column, number func(*term, []byte) (int64, error)) (total int64, known bool, err error) {
	for i := range s {
		t := &s[i]
		texts, err := t.texts(row, c)
		if err != nil {
			return 0, false, err
		}
		if len(texts) == 0 && !t.optional {
			return 0, false, nil
		}
		for _, text := range texts {
			if text == nil || string(text) == "-1" {
				if t.optional || t.sums() && c.Kind == Count {
					continue
				}
				return 0, false, nil
			}
			n, err := number(t, text)
			if err != nil {
				return 0, false, inField(t.name, err)
			}
			if t.minus {
				n = -n
			}
			total, known = total+n, true
		}
	}
	return total, known, nil
}

// see notes that some row had the term. It is shared by all that read the log.
func (t *term) see() {
	if !t.seen.Load() {
		t.seen.Store(true)
	}
}
