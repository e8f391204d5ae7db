package report

import (
	"slices"
	"time"

	"wavetank/traces"
)

// A span is the time from the earliest of its instants to the latest.
type span struct {
	from, to time.Duration
	n        int64
}

func (s *span) add(t time.Duration) {
	if s.n == 0 {
		s.from, s.to = t, t
	}
	s.from, s.to, s.n = min(s.from, t), max(s.to, t), s.n+1
}

func (s span) seconds() Num {
	if s.n == 0 {
		return undefined
	}
	return Num((s.to - s.from).Seconds())
}

// addTimes keeps to one clock: a run's rows have a place on it only by due and
// sent (their arrival is the trace's), a production trace's by arrival.
func (c *collector) addTimes(r *traces.Record) {
	due, sent := r.Outcome.Due, r.Outcome.Sent
	if !c.run {
		due, sent = traces.Some(r.Arrival), traces.Some(r.Arrival)
	}
	if due.Known {
		c.offer.add(due.V)
	}
	if !sent.Known || !left(statusOf(r)) {
		return
	}
	c.answer.add(sent.V)
	end := r.Outcome.End
	if !end.Known {
		end = r.Outcome.LastToken
	}
	if end.Known {
		c.answer.add(sent.V + end.V)
		c.starts.add(int64(sent.V))
		c.ends.add(int64(sent.V + end.V))
	}
}

// rates needs the metrics and counts of s.
func (c *collector) rates(s *Summary, flight InFlight) Rates {
	offer, answer := c.offer.seconds(), c.answer.seconds()
	per := func(metric string, window Num) Num { return ratio(s.Metrics[metric].Sum, window) }
	return Rates{
		Offer: Offer{
			Window: offer, Requests: ratio(Num(c.offer.n), offer),
			PromptTokens: per("prompt_tokens_asked", offer), OutputTokens: per("output_tokens_asked", offer),
		},
		Answer: Answer{
			Window: answer, Requests: ratio(Num(s.Counts.Statuses[traces.OK]), answer),
			PromptTokens: per("prompt_tokens_seen", answer), OutputTokens: per("output_tokens_seen", answer),
		},
		InFlight: flight,
	}
}

// inFlight sweeps over the starts in order. A request is in flight from its
// start up to, not at, its end, so one that follows another at once does not
// overlap it. The lists of both are given up.
func (c *collector) inFlight(window Num) InFlight {
	starts, ends := c.starts.flat(), c.ends.flat()
	c.starts, c.ends = nil, nil
	slices.Sort(starts)
	slices.Sort(ends)
	f := InFlight{Rows: int64(len(starts))}
	var busy float64
	ended := 0
	for i, start := range starts {
		busy += float64(ends[i] - start)
		for ended < len(ends) && ends[ended] <= start {
			ended++
		}
		f.Max = max(f.Max, int64(i+1-ended))
	}
	f.Mean = ratio(Num(busy/float64(time.Second)), window)
	return f
}
