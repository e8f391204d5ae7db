package fidelity

import (
	"errors"
	"fmt"
	"time"
)

// loads are shares of the saturation of A. What a burst does shows at half of it,
// what a drift does near it.
var loads = [...]float64{.5, .75, .9}

// An Engine says what both loads were played against, and how.
type Engine struct {
	Model    string   `json:"model"`
	Capacity Capacity `json:"saturation_of_a"`
	Loads    []Pace   `json:"loads"`
}

// A Pace is a share of the saturation of A, and how many times as fast both sides
// are played so that A is that share.
type Pace struct {
	Share float64 `json:"share"`
	Speed float64 `json:"speed"`
}

// saturate finds the speeds. Without both lengths there is nothing to play.
func (c *comparison) saturate() error {
	if c.NoSim {
		return nil
	}
	for _, t := range []*Trace{c.ref, c.first} {
		if !t.playable() {
			c.note("end to end left out: fewer than %d requests have both lengths", minRows)
			return nil
		}
	}
	capacity, err := Saturate(c.ref, c.Engine)
	if err != nil {
		return fmt.Errorf("%s: %w", c.a.Name, err)
	}
	c.engine = &Engine{Model: c.Engine.Model, Capacity: capacity}
	for _, share := range loads {
		c.engine.Loads = append(c.engine.Loads, Pace{share, share * c.ref.span.Seconds() / capacity.Drain.Seconds()})
	}
	if c.own, err = c.play(c.ref); err != nil {
		return err
	}
	if n := c.own[0].Skipped; n > 0 {
		c.note("end to end without %d requests of A, which lack a length or are longer than the engine takes", n)
	}
	if c.b.Trace == nil {
		return nil
	}
	return c.playResamples()
}

func (t *Trace) playable() bool {
	n := 0
	for _, q := range t.rows {
		if q.prompt > 0 && q.output > 0 {
			n++
		}
	}
	return n >= minRows
}

// play plays t at every load.
func (c *comparison) play(t *Trace) (ls [len(loads)]Latencies, err error) {
	if c.engine == nil {
		return ls, nil
	}
	for i, l := range c.engine.Loads {
		if ls[i], err = Latency(t, l.Speed, c.Engine); err != nil {
			return ls, err
		}
	}
	return ls, nil
}

// playResamples finds how far A's own latencies are from draw to draw.
func (c *comparison) playResamples() error {
	draws, errs := make([][len(loads)]Latencies, c.Seeds), make([]error, c.Seeds)
	parallel(c.Seeds, func(i int) {
		draws[i], errs[i] = c.play(c.ref.redraw(min(c.ref.span, c.first.span), c.block, newRand(c.Seed, "latency", uint64(i))))
	})
	for _, d := range draws {
		for i := range loads {
			c.resamples[i] = append(c.resamples[i], d[i])
		}
	}
	return errors.Join(errs...)
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

var latencies = []struct {
	name, at string
	of       func(*Latencies) float64 // ms
}{
	{"ttft", "p50", func(l *Latencies) float64 { return ms(l.TTFT.P50) }},
	{"ttft", "p90", func(l *Latencies) float64 { return ms(l.TTFT.P90) }},
	{"ttft", "p99", func(l *Latencies) float64 { return ms(l.TTFT.P99) }},
	{"tpot", "p50", func(l *Latencies) float64 { return ms(l.TPOT.P50) }},
	{"tpot", "p90", func(l *Latencies) float64 { return ms(l.TPOT.P90) }},
	{"tpot", "p99", func(l *Latencies) float64 { return ms(l.TPOT.P99) }},
}

// latencyTolerance is of the median over the seeds.
const latencyTolerance = 1.25

// endToEnd are the figures of the latencies. What neither side has, such as a TPOT
// of answers of one token, is none.
func (c *comparison) endToEnd() (fs []Figure) {
	if c.engine == nil {
		return nil
	}
	for i, pace := range c.engine.Loads {
		for _, l := range latencies {
			m := measure{name: fmt.Sprintf("%s at %g %%", l.name, 100*pace.Share), at: l.at, unit: "ms", kind: Ratio, tolerance: latencyTolerance}
			a, draws := l.of(&c.own[i]), make([]float64, len(c.draws))
			for j := range c.draws {
				draws[j] = l.of(&c.draws[j].latencies[i])
			}
			if b := median(draws); a > 0 || b > 0 {
				fs = append(fs, m.banded(a, b, c.band(i, a, draws, l.of)))
			}
		}
	}
	return fs
}

// band is where chance puts B's latency if the loads are alike: where its seeds do
// or, if it is one trace, where those drawn from A do, and A itself.
func (c *comparison) band(load int, a float64, draws []float64, of func(*Latencies) float64) Band {
	if c.b.Profile != nil {
		return BandOf(draws)
	}
	var own []float64
	for j := range c.resamples[load] {
		own = append(own, of(&c.resamples[load][j]))
	}
	band := BandOf(own)
	band.Lo, band.Hi = min(band.Lo, a), max(band.Hi, a)
	return band
}

// banded is a figure with a band in place of a floor: that of a profile must hold A,
// that of a trace B.
func (m *measure) banded(a, b float64, band Band) Figure {
	f := m.figure(a, b, m.between(a, b), 0)
	f.Floor, f.Band = nil, &band
	if band.Contains(a) && band.Contains(b) {
		f.Verdict = WithinNoise
	}
	return f
}
