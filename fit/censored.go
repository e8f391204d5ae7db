package fit

import "fmt"

// Censored says which limits cut the lengths: an answer of exactly max_tokens, or one
// that ended for its length, would have been at least that long.
type Censored struct {
	Share float64 `yaml:"share"` // of the lengths that were cut
	At    []Limit `yaml:"at"`    // ascending
}

// A Limit is one that some of the requests have, whether it cuts them or not.
type Limit struct {
	Value int32   `yaml:"value"` // tokens
	Share float64 `yaml:"share"` // of the requests with this limit
}

const maxLimits = 20 // more of them are joined to that many, of equal shares

// limits estimates how many requests have each limit, after Kaplan and Meier (1958)
// with the parts changed: a length that ends before a limit hides the limit. It is nil
// where nothing was cut.
func (s Sample) limits() *Censored {
	if len(s.Over) == 0 {
		return nil
	}
	n := s.N()
	c := &Censored{Share: round(s.cut() / n)}
	risk, hidden, j := n, 1., 0
	var found []Limit
	for _, o := range s.Over {
		for ; j < len(s.Bins) && s.Bins[j].Hi <= o.Above; j++ {
			risk -= s.Bins[j].N
		}
		share := hidden * o.N / risk
		found = append(found, Limit{int32(o.Above + .5), share})
		hidden -= share
		risk -= o.N
	}
	for _, l := range joinLimits(found, 1-hidden) {
		l.Share = round(l.Share)
		c.At = append(c.At, l)
	}
	return c
}

// joinLimits joins neighbours, at the greatest of them.
func joinLimits(found []Limit, all float64) []Limit {
	if len(found) <= maxLimits {
		return found
	}
	var out []Limit
	var open float64
	for i, l := range found {
		open += l.Share
		if open >= all/maxLimits || i == len(found)-1 {
			out = append(out, Limit{l.Value, open})
			open = 0
		}
	}
	return out
}

func (c *Censored) validate() error {
	if c == nil {
		return nil
	}
	if !(c.Share >= 0 && c.Share <= 1) {
		return fmt.Errorf("share: %g does not lie in 0..1", c.Share)
	}
	if len(c.At) == 0 || len(c.At) > mostListed {
		return fmt.Errorf("at: there are %d limits; it may be 1 to %d", len(c.At), mostListed)
	}
	var sum float64
	for i, l := range c.At {
		if l.Value < 1 || i > 0 && l.Value <= c.At[i-1].Value {
			return fmt.Errorf("at[%d].value: %d is below 1 or does not ascend", i, l.Value)
		}
		if !(l.Share > 0) {
			return fmt.Errorf("at[%d].share: must be above 0", i)
		}
		sum += l.Share
	}
	if sum > 1+shareSlack {
		return fmt.Errorf("at: the shares add up to %g, more than 1", sum)
	}
	return nil
}
