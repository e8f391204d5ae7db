package fit

import (
	"cmp"
	"slices"
	"time"
)

const (
	clientRanks  = 50 // weights of their own; the rest are merged
	clientMerged = 5  // at least, or there is no tail
	clientCell   = time.Minute
	clientCells  = 1 << 20 // counts kept in all
	clientKeep   = 1000    // clients whose counts are kept when there are too many
)

// Clients says how the requests are divided among those who send them: few send most.
// Weights are shares of the requests in descending order, and none is named.
type Clients struct {
	Field   string    `yaml:"field"`        // tenant or user
	Count   int64     `yaml:"count"`        // clients in all
	Weights []float64 `yaml:"weights,flow"` // the heaviest, each on its own
	Tail    float64   `yaml:"tail"`         // of all the others together
	// Burst is how much the share of each, and last that of the tail, moves beyond
	// chance: its standard deviation over its mean. 0 is steady, or too few to tell.
	Burst []float64 `yaml:"burst,flow"`
	// Memory is the correlation time of that movement.
	Memory []time.Duration `yaml:"memory,flow"`
}

// A clientTally counts the requests of each client, a minute at a time. It forgets the
// minutes, never the totals, of all but the heaviest where there are too many.
type clientTally struct {
	clients map[string]*clientCounts
	all     clientCounts
	kept    int // counts of minutes
	most    int // of them
}

type clientCounts struct {
	n      int64
	series []minuteCount
	forgot bool
}

type minuteCount struct {
	minute int32
	n      int32
}

func newClientTally() *clientTally {
	return &clientTally{clients: make(map[string]*clientCounts), most: clientCells}
}

// add counts a request at time t, which never decreases.
func (c *clientTally) add(client string, t time.Duration) {
	k := c.clients[client]
	if k == nil {
		k = &clientCounts{}
		c.clients[client] = k
	}
	minute := int32(t / clientCell)
	c.all.add(minute)
	if c.kept += k.add(minute); c.kept > c.most {
		c.forget()
	}
}

// add returns how many counts it had to begin.
func (k *clientCounts) add(minute int32) int {
	k.n++
	if k.forgot {
		return 0
	}
	if last := len(k.series) - 1; last >= 0 && k.series[last].minute == minute {
		k.series[last].n++
		return 0
	}
	k.series = append(k.series, minuteCount{minute, 1})
	return 1
}

// ranked returns the clients from the heaviest to the lightest. Names break ties, so
// that no map has a say.
func (c *clientTally) ranked() []*clientCounts {
	type named struct {
		name string
		*clientCounts
	}
	var all []named
	for name, k := range c.clients {
		all = append(all, named{name, k})
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.name, b.name)) })
	out := make([]*clientCounts, len(all))
	for i, k := range all {
		out[i] = k.clientCounts
	}
	return out
}

func (c *clientTally) forget() {
	c.kept = 0
	for i, k := range c.ranked() {
		if i >= clientKeep {
			k.series, k.forgot = nil, true
		}
		c.kept += len(k.series)
	}
}

// fit returns the weights and the burstiness of the clients. It is nil where there are
// not two of them.
func (c *clientTally) fit(field string) *Clients {
	all := c.ranked()
	own := len(all)
	if own < 2 {
		return nil
	}
	if own >= clientRanks+clientMerged {
		own = clientRanks
	}
	out := &Clients{Field: field, Count: int64(len(all))}
	line := newMinutes(c.all.series)
	total := line.cells(&c.all)
	rest := slices.Clone(total)
	for _, k := range all[:own] {
		out.Weights = append(out.Weights, round(float64(k.n)/float64(c.all.n)))
		cells := line.cells(k)
		for i := range rest {
			rest[i] -= cells[i]
		}
		out.burst(k.n, k.forgot, cells, total, line.width)
	}
	if own < len(all) {
		var n int64
		for _, k := range all[own:] {
			n += k.n
		}
		out.Tail = round(float64(n) / float64(c.all.n))
		// What the tail sent is what the others did not, unless one of them was forgotten.
		forgot := slices.ContainsFunc(all[:own], func(k *clientCounts) bool { return k.forgot })
		out.burst(n, forgot, rest, total, line.width)
	}
	return out
}
