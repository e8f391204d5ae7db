package fit

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Limits of what a profile may ask for: a stranger's must not keep a program busy for ever.
const (
	leastMean       = 1e-12 // requests a second: 30 in three centuries are more
	maxMean         = 1e12
	maxSpanRequests = 1e5 // that a span is judged by
	maxBursts       = 40000
	maxRegimes      = 1024
	maxWaves        = 16 // of a rate; a fit has 3
	regimeSlack     = 2  // times the mean that the regimes may have, or a part of it
)

// validate says what is wrong with a, fitted on that window and to that many classes, by its path in
// the YAML.
func (a *Arrivals) validate(window time.Duration, classes int) error {
	if !(a.Mean >= leastMean && a.Mean <= maxMean) {
		return fmt.Errorf("mean: %g requests a second does not lie in %g..%g", a.Mean, leastMean, maxMean)
	}
	if a.Select < 0 || a.Select > selectSpans {
		return fmt.Errorf("select: %d does not lie in 0..%d", a.Select, selectSpans)
	}
	if a.Kind == KindCurve {
		return under("curve", a.Curve.check(window, classes))
	}
	if a.model() == nil {
		return fmt.Errorf("kind: %q is not curve, onoff, regimes or gamma_ou, or its part is missing", a.Kind)
	}
	if a.Span <= 0 {
		return fmt.Errorf("span: %v is not a time span", a.Span)
	}
	c := &spanContext{window: a.Span.Seconds(), mean: a.Mean, shares: make([]float64, classes)}
	if err := a.model().check(c); err != nil {
		return under(a.Kind, err)
	}
	if err := a.Season.check(); err != nil {
		return under("season", err)
	}
	return under("fingerprint", a.Fingerprint.check(a.Mean, a.Span, classes))
}

func under(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s.%w", key, err)
}

// A limit is what a number must lie in.
type limit struct {
	name      string
	x, lo, hi float64
}

func inside(bounds ...limit) error {
	for _, b := range bounds {
		if !(b.x >= b.lo && b.x <= b.hi) {
			return fmt.Errorf("%s: %g does not lie in %g..%g", b.name, b.x, b.lo, b.hi)
		}
	}
	return nil
}

func gapShape(x float64) limit { return limit{"shape", x, limits["shape"][0], limits["shape"][1]} }

func (w Wave) check(name string) error {
	return inside(limit{name + ".sigma", w.Sigma, 0, 5}, limit{name + ".tau", w.Tau, 1e-6, 1e9})
}

func (d LogNormal) check(name string) error {
	return inside(limit{name + ".mu", d.Mu, -30, 30}, limit{name + ".sigma", d.Sigma, 0, 5})
}

func (c *Curve) check(window time.Duration, classes int) error {
	if c == nil {
		return errors.New("kind: the curve is missing")
	}
	if c.Width <= 0 {
		return fmt.Errorf("width: %v is not a time span", c.Width)
	}
	if len(c.Classes) != classes {
		return fmt.Errorf("classes: there are %d, but %d classes of lengths", len(c.Classes), classes)
	}
	var shares float64
	for k := range c.Classes {
		if err := c.Classes[k].check(window, c.Width); err != nil {
			return fmt.Errorf("classes[%d].%w", k, err)
		}
		shares += c.Classes[k].Share
	}
	return inside(limit{"classes: sum of shares", shares, 1 - shareSlack, 1 + shareSlack})
}

func (c *ClassCurve) check(window, width time.Duration) error {
	if len(c.Relative) > maxCells+1 {
		return fmt.Errorf("relative: there are %d cells; it may be %d", len(c.Relative), maxCells+1)
	}
	if cells := int64((window-1)/width) + 1; int64(len(c.Relative)) != cells {
		return fmt.Errorf("relative: a window of %v has %d cells of %v, not %d", window, cells, width, len(c.Relative))
	}
	for i, v := range c.Relative {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("relative[%d]: %g is no rate", i, v)
		}
	}
	w := newRateWalk(width, window, c.Relative, 1/window.Seconds())
	err := inside(limit{"share", c.Share, 0, 1}, limit{"relative: mean", w.total, 1 - shareSlack, 1 + shareSlack})
	if err != nil && c.Share > 0 {
		return err
	}
	return under("gaps", valid(GapFamilies, c.Gaps.Family, c.Gaps.Params))
}

func (m *OnOff) check(c *spanContext) error {
	var round float64 // seconds of all bursts and silences, about
	for i, params := range [][]float64{m.Silence, m.Length} {
		if err := lognormalMix.Check(params); err != nil {
			return under([]string{"silence", "length"}[i], err)
		}
		for k := 0; k < len(params); k += 3 {
			round += float64(m.Bursts) * params[k] * math.Exp(params[k+1])
		}
	}
	return errors.Join(
		inside(limit{"bursts", float64(m.Bursts), 1, maxBursts}, limit{"corr", m.Corr, -.99, .99}, gapShape(m.Shape),
			limit{"bursts: seconds of bursts and silences", round, c.window / 100, math.Inf(1)}),
		m.Rate.check("rate"), m.Jitter.check("jitter"))
}

func (m *Regimes) check(c *spanContext) error {
	if n := len(m.Sojourn); n == 0 || n > maxRegimes || n != len(m.Rates) {
		return fmt.Errorf("sojourn: %d regimes, but rates of %d", n, len(m.Rates))
	}
	var seconds, due float64
	for i, row := range m.Rates {
		if len(row) != len(c.shares) {
			return fmt.Errorf("rates[%d]: there are %d, but %d classes", i, len(row), len(c.shares))
		}
		for k, r := range row {
			if !(r >= 0) || math.IsInf(r, 1) {
				return fmt.Errorf("rates[%d][%d]: %g is no rate", i, k, r)
			}
			due += r * m.Sojourn[i].Seconds() / c.window
		}
		seconds += m.Sojourn[i].Seconds()
	}
	slack := max(1, c.window/100)
	return errors.Join(
		inside(limit{"sojourn: seconds", seconds, c.window - slack, c.window + slack},
			limit{"rates: their mean", due, c.mean / regimeSlack, c.mean * regimeSlack},
			limit{"common", m.Common, 0, 1}, gapShape(m.Shape)),
		m.Residual.check("residual"))
}

func (m *GammaOU) check(*spanContext) error {
	if n := len(m.Tau); n == 0 || n != len(m.Weight) || n > maxWaves {
		return fmt.Errorf("tau: %d times, but %d weights", n, len(m.Weight))
	}
	var sum float64
	for i, w := range m.Weight {
		if err := inside(limit{"weight", w, 0, 1}, limit{"tau", m.Tau[i], 1e-6, 1e9}); err != nil {
			return err
		}
		sum += w
	}
	rate := gapShape(m.Rate)
	rate.name = "rate"
	return inside(limit{"weight: sum", sum, .95, 1.05}, rate, gapShape(m.Shape))
}

func (s *Season) check() error {
	if s == nil {
		return nil
	}
	if n := len(s.Relative); n == 0 || n > 168 || s.Period != time.Duration(n)*seasonWidth {
		return fmt.Errorf("relative: %d hours, but a period of %v", len(s.Relative), s.Period)
	}
	var sum float64
	for i, v := range s.Relative {
		if err := inside(limit{fmt.Sprintf("relative[%d]", i), v, 1e-6, 168}); err != nil {
			return err
		}
		sum += v / float64(len(s.Relative))
	}
	if s.Level != nil {
		if err := s.Level.check("level"); err != nil {
			return err
		}
	}
	return inside(limit{"relative: mean", sum, .99, 1.01})
}

func (f *Fingerprint) check(mean float64, window time.Duration, classes int) error {
	if f == nil {
		return errors.New("rate: the fingerprint is missing")
	}
	if len(f.IDC) != len(f.Scales) || len(f.Requests) != len(f.Loads) {
		return fmt.Errorf("idc: %d figures for %d scales, %d for %d loads",
			len(f.IDC), len(f.Scales), len(f.Requests), len(f.Loads))
	}
	for i, s := range f.Scales {
		if s <= 0 || s > window || !(f.IDC[i] > 0) {
			return fmt.Errorf("idc[%d]: %g at a scale of %v", i, f.IDC[i], s)
		}
	}
	for i, l := range f.Loads {
		if !(l > 0) {
			return fmt.Errorf("loads[%d]: %g is not above 0", i, l)
		}
	}
	for _, side := range [][]Backlog{f.Requests, f.Prompt, f.Output} {
		if side != nil && len(side) != len(f.Loads) {
			return fmt.Errorf("loads: there are %d, but %d backlogs", len(f.Loads), len(side))
		}
		for i, b := range side {
			for _, q := range b {
				if !(q >= 0) || math.IsInf(q, 1) {
					return fmt.Errorf("loads[%d]: a backlog of %g", i, q)
				}
			}
		}
	}
	if (f.Prompt != nil || f.Output != nil) && len(f.Work) != classes {
		return fmt.Errorf("work: of %d classes, not %d", len(f.Work), classes)
	}
	if len(f.Empty) != 0 && len(f.Empty) != len(emptyWidths) {
		return fmt.Errorf("empty: %d shares, not %d", len(f.Empty), len(emptyWidths))
	}
	return inside(limit{"rate", f.Rate, mean * 1e-6, mean * 1.01},
		limit{"rate: requests in a span", f.Rate * window.Seconds(), 0, maxSpanRequests})
}
