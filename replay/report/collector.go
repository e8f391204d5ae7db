package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"wavetank/traces"
)

// A tally counts rows by a name out of a file. What has more than tallyLimit
// names is not a class, and must not fill the memory.
type tally map[string]int64

const (
	tallyLimit = 1000
	appLimit   = 64 // apps that have columns of their own
	otherName  = "(others)"
)

func (t tally) add(name traces.Opt[string]) {
	if !name.Known {
		return
	}
	if _, seen := t[name.V]; !seen && len(t) >= tallyLimit {
		t[otherName]++
		return
	}
	t[name.V]++
}

// A collector is a summary in the making.
type collector struct {
	run    bool
	rows   int64
	groups map[string]*group // by app
	counts Counts
	models tally
	errors tally
	finish tally
	phases tally
	http   map[int32]int64
	tokens Tokens
	cached struct{ part, whole int64 }
	offer  span
	answer span
	starts chunks[int64]
	ends   chunks[int64]
}

func newCollector(kind traces.Kind) *collector {
	return &collector{
		run: kind == traces.KindRun, groups: map[string]*group{},
		models: tally{}, errors: tally{}, finish: tally{}, phases: tally{}, http: map[int32]int64{},
		tokens: Tokens{Basis: map[string]int64{}},
	}
}

func (c *collector) add(r *traces.Record) {
	c.rows++
	if r.Phase.V != "" {
		c.phases.add(r.Phase)
		return
	}
	c.group(r.App.V).add(r)
	o := &r.Outcome
	c.models.add(r.Model)
	c.errors.add(o.Error)
	c.finish.add(o.FinishReason)
	if o.HTTPStatus.Known {
		c.http[o.HTTPStatus.V]++
	}
	if o.RetryOf.Known {
		c.counts.Retries++
	}
	if o.GatewayCache.V {
		c.counts.GatewayCached++
	}
	c.addTimes(r)
	if OKRows.exclude(statusOf(r), o) == "" {
		c.addTokens(r)
	}
}

func (c *collector) group(app string) *group {
	g := c.groups[app]
	if g == nil && len(c.groups) >= appLimit {
		app = otherName
		g = c.groups[app]
	}
	if g == nil {
		g = newGroup()
		c.groups[app] = g
	}
	return g
}

func (c *collector) addTokens(r *traces.Record) {
	t, o := &c.tokens, &r.Outcome
	if seen := promptSeen(r); seen.Known && o.CachedTokens.Known {
		t.CachedRows++
		c.cached.part += int64(o.CachedTokens.V)
		c.cached.whole += int64(seen.V)
	}
	if r.OutputTokens.Known && o.OutputTokensSeen.Known {
		t.WantedRows++
		if r.OutputTokens == o.OutputTokensSeen {
			t.WantedGot++
		}
	}
	tally(t.Basis).add(o.TokenBasis)
	if outputSeen(r).Known && o.Events.Known && o.Events.V < tokensSent(r) {
		t.MultiTokenEvents++
	}
}

func (c *collector) summary(m traces.Meta, o Options) *Summary {
	groups := slices.Collect(maps.Values(c.groups))
	flight := c.inFlight(c.answer.seconds()) // first, since it frees its lists
	s := &Summary{
		Name: o.Name, Kind: m.Kind, Target: m.Target, Models: c.models, Partial: m.Partial, Notes: m.Notes,
		Counts: c.sumCounts(groups), Metrics: statsOf(groups...), Tokens: c.tokens, Apps: c.apps(),
	}
	s.Tokens.CachedShare = ratio(Num(c.cached.part), Num(c.cached.whole))
	s.Verdict = verdictOf(s.Metrics["lag"], s.Counts, o)
	s.Rates = c.rates(s, flight)
	return s
}

func (c *collector) sumCounts(groups []*group) Counts {
	n := c.counts
	n.Errors, n.Finish, n.Phases, n.HTTP = c.errors, c.finish, c.phases, map[string]int64{}
	for code, rows := range c.http {
		n.HTTP[strconv.Itoa(int(code))] = rows
	}
	n.Offered = c.rows
	for _, rows := range c.phases {
		n.Offered -= rows
	}
	n.Statuses = noStatuses()
	for _, g := range groups {
		for st, rows := range g.statuses {
			n.Statuses[st] += rows
			if statusAbout[st].failed {
				n.Failed += rows
			}
		}
	}
	return n
}

// appNames are the apps, most rows first.
func (c *collector) appNames() []string {
	return slices.SortedFunc(maps.Keys(c.groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.groups[b].offered, c.groups[a].offered), cmp.Compare(a, b))
	})
}

func (c *collector) apps() []App {
	apps := []App{}
	if len(c.groups) < 2 {
		return apps
	}
	for _, name := range c.appNames() {
		g := c.groups[name]
		apps = append(apps, App{name, g.offered, g.statuses, statsOf(g)})
	}
	return apps
}
