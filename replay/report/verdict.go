package report

import (
	"fmt"

	"wavetank/traces"
)

// A State says whether a run measured the server.
type State string

// The states of a verdict.
const (
	Valid   State = "VALID"
	Invalid State = "INVALID" // the generator, not the server, was measured
	NoState State = "n/a"     // nothing was replayed: no lag is known
)

// A Verdict says whether the generator kept its schedule, and how that was found.
type Verdict struct {
	State  State   `json:"state"`
	Reason string  `json:"reason"`
	Checks []Check `json:"checks"`
}

// A Check is one condition of a verdict.
type Check struct {
	ID    string `json:"id"`
	About string `json:"about"`
	Pass  bool   `json:"pass"`
	Value Num    `json:"value"`
	Limit Num    `json:"limit"`
	Unit  string `json:"unit"`
}

// The conditions of a verdict. A value must not be above its limit.
const (
	aboutLagP99  = "p99 of the lag, sent - due; the hf7 estimate, however few rows there are"
	aboutEarly   = "how long before its due the earliest row was sent"
	aboutDropped = "rows that the generator could not send"
	aboutSum     = "offered rows less the sum of all statuses"
)

func verdictOf(lag Stat, c Counts, o Options) Verdict {
	sum := c.Offered
	for _, n := range c.Statuses {
		sum -= n
	}
	limit := Num(millis(o.MaxLag))
	checks := []Check{
		{"dropped", aboutDropped, false, Num(c.Statuses[traces.Dropped]), 0, "rows"},
		{"accounted", aboutSum, false, max(Num(sum), Num(-sum)), 0, "rows"},
	}
	v := Verdict{State: NoState, Reason: "no row has a lag: nothing was replayed, or nothing was sent"}
	if lag.N > 0 {
		v.State, v.Reason = Valid, fmt.Sprintf("lag p99 of %d rows %s ms <= %s ms, no row dropped", lag.N, sig(Num(lag.p99)), sig(limit))
		checks = append([]Check{
			{"lag_p99", aboutLagP99, false, Num(lag.p99), limit, "ms"},
			{"lag_early", aboutEarly, false, max(0, -lag.Min), limit, "ms"},
		}, checks...)
	}
	v.Checks = checks
	for i := range checks {
		check := &checks[i]
		check.Pass = check.Value <= check.Limit
		if !check.Pass && v.State != Invalid {
			v.State = Invalid
			v.Reason = fmt.Sprintf("%s %s > %s %s: the generator, not the server, was measured", check.ID, sig(check.Value), sig(check.Limit), check.Unit)
		}
	}
	return v
}
