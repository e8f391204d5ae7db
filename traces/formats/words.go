package formats

import (
	"unicode/utf8"

	"wavetank/traces"
)

// words keeps one string for each of the few words of a column, and is skipped
// when there are many.
type words map[string]string

func (w words) set(o *traces.Opt[string], b []byte) error {
	if isUnknown(b) {
		return nil
	}
	s, ok := w[string(b)]
	if !ok {
		if !utf8.Valid(b) {
			return rejectf(BadValue, "%q is not UTF-8", clip(b))
		}
		s = string(b)
		const many = 4096
		if len(w) < many && len(s) < many {
			w[s] = s
		}
	}
	*o = traces.Some(s)
	return nil
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
