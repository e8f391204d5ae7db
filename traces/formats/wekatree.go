package formats

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"wavetank/traces"
)

// wekaTick is the resolution of a top-level request's time: what ended within it
// may have ended before.
const wekaTick = int64(time.Second)

// A wekaNode is a request of a session, before anybody knows its Seq.
type wekaNode struct {
	rec   traces.Record
	start int64
	think traces.Opt[time.Duration] // as recorded: since the last request that has an api_time
	after []int                     // nodes that ended before it
}

// end tells when the answer was whole, if anybody knows.
func (n *wekaNode) end() (int64, bool) {
	return n.start + int64(n.rec.Outcome.End.V), n.rec.Outcome.End.Known
}

// endedBy tells whether n can have ended by a time, an unknown end included.
func (n *wekaNode) endedBy(t int64) bool {
	end, known := n.end()
	return n.start <= t && (!known || end <= t+wekaTick)
}

// A wekaTree is a session: a main line of requests, and those of subagents that a
// request started and a later one may have waited for.
type wekaTree struct {
	log     *wekaLog
	out     *outlet
	nodes   []wekaNode
	awaited []int // last requests of subagents whose answers the main line has not had
}

// A wekaLine is requests of which each follows on another.
type wekaLine struct {
	zero  int64 // what their times count from
	nodes []int
	joins bool // the main line, which gets the answers of subagents
}

func (s *wekaTree) main(requests []json.RawMessage) error {
	line := wekaLine{joins: true}
	for _, raw := range requests {
		v, err := s.decode(raw)
		if err != nil {
			return err
		}
		switch v.Type {
		case "subagent":
			err = s.subagent(v, raw, &line)
		case "n", "s":
			err = s.add(raw, v, &line)
		case "":
		default:
			err = s.out.reject(raw, inField("type", rejectf(BadValue, "%q is not n, s or subagent", clip(v.Type))))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decode reads a request, or rejects it and returns one of no type.
func (s *wekaTree) decode(raw json.RawMessage) (*wekaRequest, error) {
	v := new(wekaRequest)
	err := decodeRow(raw, v)
	if err == nil && v.Type == "" {
		err = inField("type", rejectf(MissingField, "a request of no type"))
	}
	if err != nil {
		return new(wekaRequest), s.out.reject(raw, err)
	}
	return v, nil
}

// add appends a request to a line of them.
func (s *wekaTree) add(raw json.RawMessage, v *wekaRequest, line *wekaLine) error {
	n, err := s.log.request(v, line.zero)
	if err != nil {
		return s.out.reject(raw, err)
	}
	if i := s.lastEnded(line, n.start); i >= 0 {
		n.after = append(n.after, i)
	}
	if line.joins {
		n.after = append(n.after, s.join(n.start)...)
	}
	s.setThink(&n, line)
	line.nodes = append(line.nodes, len(s.nodes))
	s.nodes = append(s.nodes, n)
	return nil
}

// lastEnded returns the last request of a line that can have ended by t, or -1.
func (s *wekaTree) lastEnded(line *wekaLine, t int64) int {
	for _, i := range slices.Backward(line.nodes) {
		if s.nodes[i].endedBy(t) {
			return i
		}
	}
	return -1
}

// join returns the subagents' last requests that had ended by t, which are
// awaited no more.
func (s *wekaTree) join(t int64) (joined []int) {
	s.awaited = slices.DeleteFunc(s.awaited, func(i int) bool {
		ended := s.nodes[i].endedBy(t)
		if ended {
			joined = append(joined, i)
		}
		return ended
	})
	return joined
}

// setThink tells how long a request waited for nothing but its client. The recorded
// pause is since the last request with an api_time: it is that pause only if this
// is the one request waited for; else the times of what was waited for tell.
func (s *wekaTree) setThink(n *wekaNode, line *wekaLine) {
	if len(n.after) == 0 {
		return
	}
	last := int64(-1)
	for _, i := range n.after {
		end, known := s.nodes[i].end()
		if !known {
			s.log.in.warn("no think time is known, since what they wait for has no api_time")
			return
		}
		last = max(last, end)
	}
	if follows := len(line.nodes) > 0 && n.after[0] == line.nodes[len(line.nodes)-1]; follows && len(n.after) == 1 && n.think.Known {
		n.rec.Think = n.think
		return
	}
	n.rec.Think = traces.Some(time.Duration(max(0, n.start-last)))
}

// subagent adds a subagent's requests, the first of which waits for the main line's
// last answer before it. Their times count from the subagent's start; in some
// corpora they count from the session's, and then none is less than its start.
func (s *wekaTree) subagent(v *wekaRequest, raw json.RawMessage, parent *wekaLine) error {
	zero, err := parseRounded(unquote(v.T), 1e9)
	if err != nil {
		return s.out.reject(raw, inField("t", err))
	}
	s.out.skip(1)
	line := wekaLine{zero: zero}
	for i, raw := range v.Requests {
		r, err := s.decode(raw)
		if err != nil {
			return err
		}
		if r.Type == "" {
			continue
		}
		if t, err := parseRounded(unquote(r.T), 1e9); i == 0 && err == nil && t >= zero && zero > 0 {
			s.log.in.warn("a subagent's times count from the session's start")
			line.zero = 0
		}
		if err := s.add(raw, r, &line); err != nil {
			return err
		}
	}
	if len(line.nodes) == 0 {
		return nil
	}
	first := &s.nodes[line.nodes[0]]
	if i := s.lastEnded(parent, first.start); i >= 0 {
		first.after = []int{i}
		s.setThink(first, &wekaLine{})
	}
	if v.Status != "async_launched" {
		s.awaited = append(s.awaited, line.nodes[len(line.nodes)-1])
	}
	return nil
}

// ordered returns the records by arrival, as they are to be emitted from seq on.
func (s *wekaTree) ordered(seq uint64) []traces.Record {
	order := make([]int, len(s.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.nodes[a].start, s.nodes[b].start) })
	at := make([]uint64, len(order))
	for pos, i := range order {
		at[i] = seq + uint64(pos)
	}
	recs := make([]traces.Record, len(order))
	for pos, i := range order {
		n := &s.nodes[i]
		n.rec.After = noPredecessor
		for _, j := range n.after {
			n.rec.After = append(n.rec.After, at[j])
		}
		recs[pos] = n.rec
	}
	return recs
}
