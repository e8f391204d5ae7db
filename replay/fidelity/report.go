package fidelity

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// SchemaVersion is that of the JSON. It rises when a field changes its meaning or
// goes; new fields do not raise it.
const SchemaVersion = 1

// The groups of figures, in the order of the report.
const (
	Marginals = "marginals"  // how long prompts and answers are, and of which app they are
	Joint     = "joint"      // how the two go together in a request
	Arrivals  = "arrivals"   // when requests come
	Order     = "order"      // which kind comes when
	Sessions  = "sessions"   // where both sides have them
	EndToEnd  = "end to end" // what an engine makes of all that
)

var groups = []string{Marginals, Joint, Arrivals, Order, Sessions, EndToEnd}

// A Verdict is of a figure, of a group or of a whole comparison: those of the worst
// figure, never an average.
type Verdict int

// The verdicts.
const (
	WithinNoise Verdict = iota // no further than A is from itself by chance
	Small                      // further, but within the tolerance or half again the floor
	Large                      // further than both
)

var verdicts = []string{"within noise", "small", "large"}

// String is what MarshalText writes.
func (v Verdict) String() string { return verdicts[v] }

// MarshalText writes the verdict in words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdicts, string(text))
	if i < 0 {
		return fmt.Errorf("no verdict %q; it is %s", text, strings.Join(verdicts, ", "))
	}
	*v = Verdict(i)
	return nil
}

const (
	// beyond is how many floors away a figure must be to be large: where a floor is
	// above the tolerance, one of very many figures is just above it by chance.
	beyond = 1.5

	// nothing is the share of the tolerance that no floor is below: a quantile that
	// stands on a spike does not move by chance, and one token is no finding.
	nothing = .1
)

func verdict(size, floor, tolerance float64) Verdict {
	switch {
	case size <= max(floor, nothing*tolerance):
		return WithinNoise
	case size <= max(tolerance, beyond*floor):
		return Small
	}
	return Large
}

// A Report says how far B is from A.
type Report struct {
	SchemaVersion int      `json:"schema_version"`
	A             Facts    `json:"a"`
	B             Facts    `json:"b"`
	Grade         Verdict  `json:"grade"` // the worst group's
	Groups        []Group  `json:"groups"`
	Engine        *Engine  `json:"engine,omitempty"`
	Method        Method   `json:"method"`
	Notes         []string `json:"notes,omitempty"`
}

// Facts are of one side.
type Facts struct {
	Name     string        `json:"name"`
	Kind     string        `json:"kind"` // trace or profile
	Requests int           `json:"requests"`
	Span     time.Duration `json:"span_ns"`
	Rate     float64       `json:"requests_per_second"`
	Seeds    int           `json:"seeds,omitempty"` // syntheses, over which Requests is the median
}

// A Method says how the noise was found.
type Method struct {
	Resamples  int           `json:"resamples"`
	Block      time.Duration `json:"block_ns"`
	Confidence float64       `json:"confidence"` // that all of a group are within their floors
	Beyond     float64       `json:"beyond"`     // floors
	Seed       uint64        `json:"seed"`
}

// A Group is figures of one kind.
type Group struct {
	Name    string   `json:"name"`
	Verdict Verdict  `json:"verdict"` // its worst figure's
	Figures []Figure `json:"figures"`
}

// A Figure is one number of both loads.
type Figure struct {
	Name      string   `json:"name"`
	App       string   `json:"app,omitempty"` // empty: of all requests
	At        string   `json:"at,omitempty"`  // the point, where Name is a curve
	Unit      string   `json:"unit,omitempty"`
	Kind      Kind     `json:"kind"`
	A         *float64 `json:"a,omitempty"` // none of a distance
	B         *float64 `json:"b,omitempty"` // of a profile, the median over its seeds
	Diff      float64  `json:"diff"`        // as Kind says
	Floor     *float64 `json:"floor,omitempty"`
	Band      *Band    `json:"band,omitempty"` // in place of a floor: of B's seeds, or of A's resamples
	Tolerance float64  `json:"tolerance"`
	Verdict   Verdict  `json:"verdict"`

	badness float64 // the order inside a verdict
}

// figure makes the Figure of a measure from its values, its diff and its floor.
func (m *measure) figure(a, b, diff, floor float64) Figure {
	f := Figure{
		Name: m.name, App: m.app, At: m.at, Unit: m.unit, Kind: m.kind, Tolerance: m.tolerance, Diff: m.shown(diff),
		Verdict: verdict(math.Abs(diff), floor, m.limit()), badness: math.Abs(diff) / max(m.limit(), beyond*floor),
	}
	shown := m.shown(floor)
	f.Floor = &shown
	if m.kind != Distance {
		f.A, f.B = &a, &b
	}
	return f
}

// judge makes figures of what was measured.
func (c *comparison) judge() error {
	byGroup := map[string][]Figure{EndToEnd: c.endToEnd()}
	own := c.values(c.left)
	for i := range c.measures {
		m := &c.measures[i]
		var values, diffs []float64
		for _, d := range c.draws {
			if isFinite(d.diffs[i]) {
				values, diffs = append(values, d.values[i]), append(diffs, d.diffs[i])
			}
		}
		byGroup[m.group] = append(byGroup[m.group], m.figure(own[i], median(values), median(diffs), c.floors[i]))
	}
	for _, name := range groups {
		if fs := byGroup[name]; len(fs) > 0 {
			worst := slices.MaxFunc(fs, func(a, b Figure) int { return int(a.Verdict - b.Verdict) })
			c.groups = append(c.groups, Group{name, worst.Verdict, fs})
		}
	}
	return nil
}

func (c *comparison) report() *Report {
	var rows []float64
	for _, d := range c.draws {
		rows = append(rows, float64(d.rows))
	}
	r := &Report{
		SchemaVersion: SchemaVersion,
		A:             factsOf(c.a, c.ref, len(c.ref.rows)),
		B:             factsOf(c.b, c.first, int(median(rows))),
		Groups:        c.groups, Engine: c.engine, Notes: c.notes,
		Method: Method{c.Resamples, c.block, confidence, beyond, c.Seed},
	}
	if c.a.Profile != nil {
		r.A.Seeds = 1
	}
	if c.b.Profile != nil {
		r.B.Seeds = len(c.draws)
	}
	for _, g := range r.Groups {
		r.Grade = max(r.Grade, g.Verdict)
	}
	return r
}

func factsOf(s Side, t *Trace, rows int) Facts {
	kind := "trace"
	if s.Profile != nil {
		kind = "profile"
	}
	return Facts{Name: s.Name, Kind: kind, Requests: rows, Span: t.span, Rate: float64(rows) / t.span.Seconds()}
}

// explain says what a reader must know, and what is not compared.
func (c *comparison) explain(right *summary) {
	if a, b := c.ref.span, c.first.span; !sameSpan(a, b) {
		c.note("B is %.3g times as long as A: the floors are those of the shorter one", b.Seconds()/a.Seconds())
	}
	if c.tick > 0 {
		c.note("a clock of %v stamped the arrivals of a side: both are spread over its ticks, and nothing finer is compared", c.tick.Round(time.Millisecond))
	}
	if c.b.Profile != nil && c.Seeds < 20 && !c.NoSim {
		c.note("%d seeds are too few for a band: 20 have one outside on either side", c.Seeds)
	}
	if len(c.survey.apps) > 0 {
		c.noteAlone("A", c.ref, c.first)
		c.noteAlone("B", c.first, c.ref)
	}
	if a, b := c.ref.apps, c.first.apps; len(a) == 1 && len(b) == 1 && a[0] != b[0] {
		c.note("the only app of A is %s and that of B %s: they are taken for one", a[0], b[0])
	}
	if a, b := len(c.left.turns) > 0, len(right.turns) > 0; a != b {
		c.note("sessions not compared: only %s has them", map[bool]string{true: "A", false: "B"}[a])
	}
	if c.ref.blocks || c.first.blocks {
		c.note("prefixes not compared, and prompts computed whole end to end: of block ids no account is taken")
	}
	for i, n := range []int64{c.ref.leftOut, c.first.leftOut} {
		if n > 0 {
			c.note("%d rows of %s left out: warm-ups, retries, answers of a gateway's cache", n, "AB"[i:i+1])
		}
	}
}

// noteAlone names apps that are missing on the other side, which no figure of an app
// may show.
func (c *comparison) noteAlone(side string, t, other *Trace) {
	alone := slices.DeleteFunc(t.largestApps(), func(name string) bool {
		_, has := other.appID(name)
		return has
	})
	if len(alone) > 0 {
		c.note("in %s alone: app %s", side, strings.Join(alone, ", "))
	}
}
