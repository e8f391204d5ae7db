package fit

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"wavetank/traces"
)

// arriving makes requests of those arrivals.
func arriving(arrivals []time.Duration) []traces.Record {
	var recs []traces.Record
	for i, a := range arrivals {
		recs = append(recs, traces.Record{Request: traces.Request{Seq: uint64(i), Arrival: a}})
	}
	return recs
}

// A tide of rate does not disguise the gaps: in operational time they are what they
// were made as.
func TestGapsAreFittedInOperationalTime(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	gaps := gammaDist{.5, 2}
	var arrivals []time.Duration
	var now float64
	for now < 900 {
		arrivals = append(arrivals, time.Duration(now*1e9))
		rate := 20 + 15*math.Sin(now/300)
		now += gaps.Quantile(r.Float64()) / rate
	}
	a := mustFit(t, arriving(arrivals), Options{Width: time.Minute}).Apps["default"].Arrivals.Curve.Classes[0].Gaps
	if a.Family != "gamma" || math.Abs(a.Params[0]-.5) > .04 {
		t.Errorf("got %s%v, want gamma of .5: %s", a.Family, a.Params, a.Closest)
	}
	if math.Abs(a.CV-math.Sqrt2) > .06 {
		t.Errorf("CV is %g, want 1.414", a.CV)
	}
}

// Stamps on a jittering 3 s grid (Mooncake's) are spread, and the profile says so.
// Unspread, nine gaps of ten would be 0.
func TestTicksAreSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	var stamps []time.Duration
	for tick := range 1000 {
		jitter := time.Duration(r.IntN(3)) * time.Millisecond
		for range 2 + r.IntN(10) {
			stamps = append(stamps, time.Duration(tick)*3*time.Second+jitter)
		}
	}
	p := mustFit(t, arriving(stamps), Options{})
	if p.Source.TimeResolution != 3*time.Second {
		t.Errorf("resolution is %v", p.Source.TimeResolution)
	}
	if cv := p.Apps["default"].Arrivals.Curve.Classes[0].Gaps.CV; cv > 1 {
		t.Errorf("gaps of spread stamps have CV %g", cv)
	}
	if got := p.Source.Window; got < 2997*time.Second || got > 3000*time.Second {
		t.Errorf("the window is %v", got)
	}
}

// Whole seconds are a grid too, even if most are empty.
func TestWholeSeconds(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	var now float64
	var stamps []time.Duration
	for range 2000 {
		now += exponentialDist(4).Quantile(r.Float64())
		stamps = append(stamps, time.Duration(now)*time.Second)
	}
	if p := mustFit(t, arriving(stamps), Options{}); p.Source.TimeResolution != time.Second {
		t.Errorf("resolution is %v", p.Source.TimeResolution)
	}
}

// Spreading keeps every request and its order, inside its tick, for any grid.
func TestSpreadKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	tick := 700 * time.Millisecond
	var stamps []time.Duration
	for i := range 500 {
		stamps = append(stamps, time.Duration(i/(1+r.IntN(3)))*tick)
	}
	for i := 1; i < len(stamps); i++ {
		stamps[i] = max(stamps[i], stamps[i-1])
	}
	out, err := traces.Collect(spreadTicks(traces.FromSlice(arriving(stamps)), tick))
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range out {
		if rec.Seq != uint64(i) || rec.Arrival < stamps[i] || rec.Arrival >= stamps[i]+tick {
			t.Fatalf("request %d went from %v to %v", rec.Seq, stamps[i], rec.Arrival)
		}
		if i > 0 && rec.Arrival < out[i-1].Arrival {
			t.Fatalf("request %d overtakes", i)
		}
	}
	if len(out) != len(stamps) {
		t.Errorf("%d of %d are left", len(out), len(stamps))
	}
}

// Fine stamps and equal intervals are left alone.
func TestNoTick(t *testing.T) {
	var steady []time.Duration
	for i := range 200 {
		steady = append(steady, time.Duration(i)*3*time.Second)
	}
	for name, recs := range map[string][]traces.Record{"poisson": records(500, time.Second), "steady": arriving(steady)} {
		if tick := findTick(recs); tick != 0 {
			t.Errorf("%s has a tick of %v", name, tick)
		}
	}
}

// The curve has the mean 1 over the window, and cells enough to follow, but none so
// thin that it is noise.
func TestCurve(t *testing.T) {
	for _, c := range []struct {
		n     int
		mean  time.Duration
		o     Options
		width time.Duration
	}{
		{5000, 200 * time.Millisecond, Options{Width: 7 * time.Second}, 7 * time.Second},
		{500, 40 * time.Second, Options{Width: time.Minute}, time.Minute},
		{3000, 24 * time.Hour, Options{}, 0}, // eight years
	} {
		p := mustFit(t, bare(records(c.n, c.mean)), c.o)
		r := p.Apps["default"].Arrivals.Curve
		if c.width > 0 && r.Width != c.width {
			t.Errorf("%d requests a %v: width %v, want %v", c.n, c.mean, r.Width, c.width)
		}
		if len(r.Classes[0].Relative) > maxCells {
			t.Errorf("%d cells", len(r.Classes[0].Relative))
		}
		if cv := p.Apps["default"].Arrivals.Curve.Classes[0].Gaps.CV; c.o.Width != time.Minute && math.Abs(cv-1) > .1 {
			t.Errorf("%d requests a %v: CV %g of exponential gaps", c.n, c.mean, cv)
		}
	}
}

// A last arrival exactly on the edge of a cell is in the window.
func TestArrivalOnTheEdge(t *testing.T) {
	var arrivals []time.Duration
	for i := range 121 {
		arrivals = append(arrivals, time.Duration(i)*time.Second)
	}
	p := mustFit(t, arriving(arrivals), Options{Width: time.Minute})
	if r := p.Apps["default"].Arrivals.Curve; len(r.Classes[0].Relative) != 2 || p.Source.Window != 2*time.Minute {
		t.Errorf("window %v, curve %v", p.Source.Window, r.Classes[0].Relative)
	}
}

// An app that starts late or stops early is fitted over the whole window.
func TestQuietEnds(t *testing.T) {
	recs := bare(records(2000, time.Second))
	for i := range recs {
		recs[i].App = traces.Some("all day")
		if i > 800 && i < 1200 && i%2 == 0 {
			recs[i].App = traces.Some("noon")
		}
	}
	p := mustFit(t, recs, Options{})
	if r := p.Apps["noon"].Arrivals.Curve.Classes[0]; r.Relative[0] != 0 || r.Relative[len(r.Relative)-1] != 0 {
		t.Errorf("noon has rates %g at the start and %g at the end", r.Relative[0], r.Relative[len(r.Relative)-1])
	}
}
