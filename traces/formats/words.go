package formats

import (
	"hash/maphash"
	"unicode/utf8"

	"wavetank/traces"
)

// words keeps one string for each word of a column that came lately. Some columns
// have few words, others come in runs, and of those in which every word is new a
// table that stays in a core's cache loses little time.
type words struct {
	kept []hashedWord
	cell traces.Cell // that is on its way into a Record
}

type hashedWord struct {
	hash uint64
	text string
}

var wordSeed = maphash.MakeSeed()

// set fills a column of text.
func (w *words) set(o *traces.Opt[string], b []byte) error {
	err := readText(value{b: b}, &w.cell)
	if err == nil && w.cell.Known {
		*o = traces.Some(w.keep(b))
	}
	return err
}

// keep returns b as a string.
func (w *words) keep(b []byte) string {
	const many, long = 256, 128
	if len(b) > long {
		return string(b)
	}
	if w.kept == nil {
		w.kept = make([]hashedWord, many)
	}
	hash := maphash.Bytes(wordSeed, b)
	last := &w.kept[hash%many]
	if last.hash != hash || last.text != string(b) {
		*last = hashedWord{hash, string(b)}
	}
	return last.text
}

// turns numbers the requests of each session in the order of the log. One entry
// a session stays in memory.
type turns map[string]*lastTurn

type lastTurn struct {
	session string
	turns   int32
}

// count gives a record its turn; the records come in the order of the log.
func (t turns) count(rec *traces.Record) {
	if !rec.Session.Known {
		return
	}
	last := t[rec.Session.V]
	if last == nil {
		last = &lastTurn{session: rec.Session.V}
		t[last.session] = last
	}
	rec.Session.V = last.session // one string for all turns
	rec.Turn = traces.Some(last.turns)
	last.turns++
}

// set is count for a session that is still bytes.
func (t turns) set(rec *traces.Record, session []byte) error {
	if !utf8.Valid(session) {
		return rejectf(BadValue, "%q is not UTF-8", clip(session))
	}
	rec.Session = traces.Some(string(session))
	t.count(rec)
	return nil
}
