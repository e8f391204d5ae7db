package traces

import (
	"fmt"
	"reflect"
	"time"
)

// EndStamped makes arrivals of stamps that are the ends of their requests: it
// takes each row's End off its Arrival. Rows without a known End stay at their
// stamp and are counted. The rows then want sorting, and some may be earlier than 0.
func EndStamped(r Reader) *Edit {
	e := newEdit("arrival is stamp less end", "rows moved", "without a known end")
	return e.each(r, func(rec *Record) {
		if !rec.Outcome.End.Known {
			e.Counts[1].N++
			return
		}
		rec.Arrival -= rec.Outcome.End.V
		e.Counts[0].N++
	})
}

// unwrapRows before a fall and after it must agree on it: requests that were
// logged late, or a clock that was set, make no part of their own.
const unwrapRows = 64

// Unwrap puts the parts of a log whose clock began anew behind one another. The
// clock began anew where it falls by more than half of the span of the part so far,
// which must have 64 rows, and none of the next 64 rows is back above that. With a
// period (a week, where two weeks were glued together) a part moves by the least
// whole number of periods that puts it behind the one before. With period 0 it goes
// on one mean gap behind it: how long the pause was is not in the log then.
//
// It must see the rows in the order of the source, before they are sorted.
func Unwrap(r Reader, period time.Duration) *Edit {
	name := "unwrap"
	if period > 0 {
		name += fmt.Sprintf(", period %v", period)
	}
	u := &unwrap{src: r, period: period, e: newEdit(name, "times the clock began anew", "rows moved")}
	u.e.Reader = u
	return u.e
}

type unwrap struct {
	src    Reader
	period time.Duration
	e      *Edit

	ahead     []Record
	err       error
	rows      int64 // of the part
	low, high time.Duration
	shift     time.Duration
}

// Read fills rec with the next row.
func (u *unwrap) Read(rec *Record) error {
	for u.err == nil && len(u.ahead) < unwrapRows {
		var next Record
		if u.err = u.src.Read(&next); u.err == nil {
			u.ahead = append(u.ahead, next)
		}
	}
	if len(u.ahead) == 0 {
		return u.err
	}
	if u.anew() {
		u.begin()
	}
	*rec, u.ahead = u.ahead[0], u.ahead[1:]
	if u.rows == 0 {
		u.low, u.high = rec.Arrival, rec.Arrival
	}
	u.low, u.high, u.rows = min(u.low, rec.Arrival), max(u.high, rec.Arrival), u.rows+1
	if u.shift != 0 {
		rec.Arrival += u.shift
		u.e.Counts[1].N++
	}
	return nil
}

func (u *unwrap) anew() bool {
	if u.rows < unwrapRows {
		return false
	}
	half := u.high - (u.high-u.low)/2
	for i := range u.ahead {
		if u.ahead[i].Arrival >= half {
			return false
		}
	}
	return true
}

// begin starts a part at the row ahead.
func (u *unwrap) begin() {
	gap := (u.high - u.low) / time.Duration(u.rows-1)
	fall := u.high - u.ahead[0].Arrival
	if u.period > 0 {
		u.shift += (fall + u.period - 1) / u.period * u.period
	} else {
		u.shift += fall + gap
	}
	u.rows = 0
	u.e.Counts[0].N++
}

// A Repeat says what of an earlier row a row repeats.
type Repeat int

// The repeats.
const (
	NoRepeat  Repeat = iota
	SameRow          // everything but Seq and SourceRow
	SameUsage        // ID, prompt and output tokens, and it is no retry: one answer that was logged in parts
)

// repeatRows are the rows that a Repeats remembers.
const repeatRows = 4096

// Repeats finds rows that are there twice. It remembers the last 4,096 rows: in a
// trace, which is sorted, equal rows are neighbours. The zero value is ready.
type Repeats struct {
	ring   []Record
	rows   int
	likely map[uint64]int // where the last row of a likeness is
	usage  map[string]int
}

// likeness is a hash of what equal rows have in common and few others do.
func likeness(rec *Record) uint64 {
	return mix(uint64(rec.Arrival) ^ mix(uint64(rec.PromptTokens.V)<<32|uint64(uint32(rec.OutputTokens.V))))
}

// Next tells whether rec repeats an earlier row, and remembers it.
func (p *Repeats) Next(rec *Record) Repeat {
	if p.ring == nil {
		p.ring = make([]Record, repeatRows)
		p.likely, p.usage = make(map[uint64]int), make(map[string]int)
	}
	repeat := p.find(rec)
	at := p.rows % repeatRows
	if p.rows >= repeatRows {
		p.forget(at)
	}
	p.ring[at] = *rec
	p.likely[likeness(rec)] = at
	if rec.ID.Known {
		p.usage[rec.ID.V] = at
	}
	p.rows++
	return repeat
}

func (p *Repeats) find(rec *Record) Repeat {
	if at, ok := p.likely[likeness(rec)]; ok {
		old := p.ring[at]
		old.Seq, old.SourceRow = rec.Seq, rec.SourceRow
		if reflect.DeepEqual(&old, rec) {
			return SameRow
		}
	}
	if !rec.ID.Known || rec.OutputTokens.V == 0 || rec.Outcome.RetryOf.Known {
		return NoRepeat
	}
	at, ok := p.usage[rec.ID.V]
	if !ok {
		return NoRepeat
	}
	old := &p.ring[at]
	if old.PromptTokens == rec.PromptTokens && old.OutputTokens == rec.OutputTokens && old.Outcome.Attempt == rec.Outcome.Attempt {
		return SameUsage
	}
	return NoRepeat
}

func (p *Repeats) forget(at int) {
	old := &p.ring[at]
	if k := likeness(old); p.likely[k] == at {
		delete(p.likely, k)
	}
	if old.ID.Known && p.usage[old.ID.V] == at {
		delete(p.usage, old.ID.V)
	}
}

// Dedupe leaves out rows that repeat one of the 4,096 before them, as Repeats finds
// them. Where a coarse clock stamps two requests alike that are alike in all else,
// and nothing names them, one is lost.
func Dedupe(r Reader) *Edit {
	e := newEdit("dedupe", "rows kept", "equal to an earlier row", "with an earlier row's id and usage")
	var repeats Repeats
	return e.keep(r, func(rec *Record) bool {
		repeat := repeats.Next(rec)
		e.Counts[repeat].N++
		return repeat == NoRepeat
	})
}
