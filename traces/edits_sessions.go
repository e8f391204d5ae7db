package traces

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"io"
	"math"
	"time"
)

// Thin keeps a share of the sessions, each whole; a row without a session goes by
// itself. It is what a part of the users sends: each of them as before, and the
// rate is less. Whether a session stays is drawn by its name and the seed, so a
// smaller share keeps a part of what a larger one keeps, and shards of a trace may
// be thinned apart. What a row points at (After, RetryOf) may be gone.
func Thin(r Reader, share float64, seed uint64) (*Edit, error) {
	if !(share > 0 && share <= 1) {
		return nil, fmt.Errorf("thin to %v of the sessions: must be above 0 and at most 1", share)
	}
	e := newEdit(fmt.Sprintf("thin to %v of the sessions, seed %d", share, seed), "rows kept", "left out")
	return e.keep(r, func(rec *Record) bool {
		kept := uniform(seed, "thin", rec) < share
		if kept {
			e.Counts[0].N++
		} else {
			e.Counts[1].N++
		}
		return kept
	}), nil
}

// uniform draws from [0, 1) for a row's session, or for the row where it has none.
func uniform(seed uint64, purpose string, rec *Record) float64 {
	h := fnv.New64a()
	io.WriteString(h, "traces/"+purpose)
	h.Write(binary.LittleEndian.AppendUint64(nil, seed))
	if rec.Session.Known {
		io.WriteString(h, "s"+rec.Session.V)
	} else {
		h.Write(binary.LittleEndian.AppendUint64([]byte("r"), rec.Seq))
	}
	return float64(mix(h.Sum64())>>11) / (1 << 53)
}

// mix spreads a sum over all of its bits, which FNV leaves to the next bytes: the
// finalizer of splitmix64 (Steele, Lea and Flood, Fast splittable pseudorandom
// number generators, OOPSLA 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// WindowSessions keeps the sessions that start in [from, to), each to its end, and
// starts the trace at from; to 0 is open. A row without a session goes by itself.
// Rows must come in the order of arrival. It keeps some 16 bytes a session.
func WindowSessions(r Reader, from, to time.Duration) *Edit {
	end := to
	if to == 0 {
		end = math.MaxInt64
	}
	e := newEdit(fmt.Sprintf("sessions that start from %v to %v", from, to), "rows kept", "left out", "kept sessions")
	e.Start = from
	starts, seed := make(map[uint64]bool), maphash.MakeSeed()
	kept := Filter(InOrder(r), func(rec *Record) bool {
		in := rec.Arrival >= from && rec.Arrival < end
		if rec.Session.Known {
			name := maphash.String(seed, rec.Session.V)
			started, old := starts[name]
			switch {
			case old:
				in = started
			case in:
				e.Counts[2].N++
			}
			starts[name] = in
		}
		if in {
			e.Counts[0].N++
		} else {
			e.Counts[1].N++
		}
		return in
	})
	return e.each(kept, func(rec *Record) { rec.Arrival -= from })
}

// PhasePreroll is the Request.Phase of a row that was in flight when the main part began.
const PhasePreroll = "preroll"

// Preroll keeps the rows that arrive in [from, to), as Window does, and those from
// before that were still in flight at from, in phase preroll: without them the
// window would begin on an idle server. The trace starts with the first of them
// (Edit.Start). Of a row from before without a known End nobody knows: it is left
// out and counted. Rows must come in the order of arrival.
func Preroll(r Reader, from, to time.Duration) *Edit {
	end := to
	if to == 0 {
		end = math.MaxInt64
	}
	e := newEdit(fmt.Sprintf("window %v to %v with what was in flight", from, to), "rows in the window", "in flight before it", "before it without a known end")
	e.Start = from
	first := true
	kept := Filter(InOrder(r), func(rec *Record) bool {
		switch {
		case rec.Arrival >= end:
			return false
		case rec.Arrival >= from:
			e.Counts[0].N++
		case !rec.Outcome.End.Known:
			e.Counts[2].N++
			return false
		case rec.Arrival+rec.Outcome.End.V <= from:
			return false
		default:
			e.Counts[1].N++
			rec.Phase = Some(PhasePreroll)
		}
		if first {
			first, e.Start = false, min(from, rec.Arrival)
		}
		return true
	})
	return e.each(kept, func(rec *Record) { rec.Arrival -= e.Start })
}

// DropBodies leaves the original request bodies out.
func DropBodies(r Reader) *Edit {
	e := newEdit("drop bodies", "bodies", "bytes")
	return e.each(r, func(rec *Record) {
		if rec.Body != nil {
			e.Counts[0].N++
			e.Counts[1].N += int64(len(rec.Body))
			rec.Body = nil
		}
	})
}
