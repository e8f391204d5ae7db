package fidelity

import (
	"math"
	"testing"
	"time"

	"wavetank/replay/sim"
	"wavetank/traces"
)

func engine(t *testing.T) sim.Config {
	t.Helper()
	c, err := sim.Preset(sim.DefaultModel, sim.DefaultGPU)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The nearer to saturation, the longer everything waits; and beyond it the last
// request waits for the whole excess.
func TestSaturate(t *testing.T) {
	tr, c := loaded(t, requests(3000, 1)), engine(t)
	capacity, err := Saturate(tr, c)
	if err != nil {
		t.Fatal(err)
	}
	var before Latencies
	for _, share := range []float64{.3, .5, .75, .9} {
		l, err := Latency(tr, share*tr.span.Seconds()/capacity.Drain.Seconds(), c)
		if err != nil {
			t.Fatal(err)
		}
		if l.TTFT.P90 <= before.TTFT.P90 || l.TPOT.P90 <= before.TPOT.P90 {
			t.Errorf("at %g: %+v after %+v", share, l, before)
		}
		if l.TTFT.P50 > 3*time.Second {
			t.Errorf("at %g the median waits %v", share, l.TTFT.P50)
		}
		before = l
	}
	over, err := Latency(tr, 2*tr.span.Seconds()/capacity.Drain.Seconds(), c)
	if err != nil {
		t.Fatal(err)
	}
	if excess := capacity.Drain / 2; math.Abs(over.TTFT.P99.Seconds()/excess.Seconds()-1) > .25 {
		t.Errorf("at twice the saturation the p99 waits %v, the excess is %v", over.TTFT.P99, excess)
	}
}

// What an engine can do does not depend on how often it is asked to, nor much on
// how many requests there are to tell it from.
func TestSaturateScales(t *testing.T) {
	c := engine(t)
	long, err := Saturate(loaded(t, requests(3000, 2)), c)
	if err != nil {
		t.Fatal(err)
	}
	short, err := Saturate(loaded(t, requests(300, 2)), c)
	if err != nil {
		t.Fatal(err)
	}
	if r := short.Rate / long.Rate; r < .8 || r > 1.25 {
		t.Errorf("%g a second by 300 requests, %g by 3000", short.Rate, long.Rate)
	}
	if got := long.Rate * long.Drain.Seconds(); math.Abs(got-3000) > 1 {
		t.Errorf("it drains %g requests", got)
	}
	if _, err := Saturate(&Trace{rows: make([]row, 50)}, c); err == nil {
		t.Error("no error for requests without lengths")
	}
}

// Twice as fast is the same as an engine of half the speed, in half the time.
func TestSpeedIsCost(t *testing.T) {
	tr, fast := loaded(t, requests(1000, 3)), engine(t)
	for i := range tr.rows {
		tr.rows[i].at &^= 1 // so that half of it is whole
	}
	slow := fast
	slow.Cost.C0, slow.Cost.C1, slow.Cost.C2 = 2*fast.Cost.C0, 2*fast.Cost.C1, 2*fast.Cost.C2
	slow.Cost.C3, slow.Cost.C4 = 2*fast.Cost.C3, 2*fast.Cost.C4
	a, err := Latency(tr, 4, fast)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Latency(tr, 2, slow)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range [][2]time.Duration{{a.TTFT.P50, b.TTFT.P50}, {a.TTFT.P99, b.TTFT.P99}, {a.TPOT.P90, b.TPOT.P90}} {
		near(t, "ratio", q[1].Seconds()/q[0].Seconds(), 2, .02)
	}
}

// Rows that cannot be played are counted.
func TestLatencySkips(t *testing.T) {
	recs := requests(100, 4)
	recs[3].OutputTokens = traces.Opt[int32]{}
	recs[5].PromptTokens.V = 1 << 20
	l, err := Latency(loaded(t, recs), 1, engine(t))
	if err != nil || l.Played != 98 || l.Skipped != 2 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestBand(t *testing.T) {
	var v []float64
	for i := range 21 {
		v = append(v, float64(20-i))
	}
	b := BandOf(v)
	if b != (Band{1, 10, 19}) || !b.Contains(1) || b.Contains(.5) || b.Contains(19.5) {
		t.Errorf("band is %+v", b)
	}
}
