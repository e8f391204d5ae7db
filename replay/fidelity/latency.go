package fidelity

import (
	"fmt"
	"slices"
	"time"

	"wavetank/replay/sim"
	"wavetank/traces"
)

// Quantiles are of a latency.
type Quantiles struct{ P50, P90, P99 time.Duration }

// Latencies are what an engine did with a trace.
type Latencies struct {
	TTFT, TPOT Quantiles
	Played     int64
	Skipped    int64 // without both lengths, or longer than the engine takes
}

// A Capacity is what an engine can do of the requests of a trace.
type Capacity struct {
	Rate  float64       `json:"rate"`     // requests a second
	Drain time.Duration `json:"drain_ns"` // of the whole trace at that rate
}

// leastQueue fills the batch of an engine and leaves a queue.
const leastQueue = 1024

// Saturate finds how many requests of t the engine of c answers in a second at most.
// All of them wait at time 0, and then all of them twice: the second half takes what
// a trace takes where there is always a queue, for what the engine does last with a
// batch that empties is in both. Short traces are queued more often.
func Saturate(t *Trace, c sim.Config) (Capacity, error) {
	copies := 1 + (leastQueue-1)/max(len(t.rows), 1)
	once, played, err := drain(t, copies, c)
	if err != nil {
		return Capacity{}, err
	}
	twice, _, err := drain(t, 2*copies, c)
	if err != nil {
		return Capacity{}, err
	}
	if played == 0 || twice <= once {
		return Capacity{}, fmt.Errorf("none of %d requests can be played: they lack a length, or the engine takes none so long", len(t.rows))
	}
	d := (twice - once) / time.Duration(copies)
	return Capacity{float64(played) / float64(copies) / d.Seconds(), d}, nil
}

func drain(t *Trace, copies int, c sim.Config) (time.Duration, int64, error) {
	var readers []traces.Reader
	for range copies {
		readers = append(readers, t.Reader(1))
	}
	all := traces.Concat(readers, func(int) (time.Duration, error) { return 0, nil })
	queued := traces.ReaderFunc(func(rec *traces.Record) error {
		err := all.Read(rec)
		rec.Arrival = 0
		return err
	})
	res, err := sim.Run(queued, traces.WriterFunc(func(*traces.Record) error { return nil }), c, 0)
	return res.End, res.Finished, err
}

// Latency plays t that many times as fast against the engine of c, in virtual time
// and open loop. Prompts are computed whole: a Trace keeps no block ids.
//
// A trace that is played k times as fast meets the same queues as at its own speed
// an engine does whose every step takes k times as long, and waits a k-th of the time.
func Latency(t *Trace, speed float64, c sim.Config) (Latencies, error) {
	var ttft, tpot []time.Duration
	var l Latencies
	_, err := sim.Run(t.Reader(speed), traces.WriterFunc(func(rec *traces.Record) error {
		o := &rec.Outcome
		if o.Status != traces.OK {
			l.Skipped++
			return nil
		}
		l.Played++
		ttft = append(ttft, o.FirstToken.V)
		if n := rec.OutputTokens.V; n > 1 {
			tpot = append(tpot, (o.LastToken.V-o.FirstToken.V)/time.Duration(n-1))
		}
		return nil
	}), c, 0)
	l.TTFT, l.TPOT = quantilesOf(ttft), quantilesOf(tpot)
	return l, err
}

func quantilesOf(ds []time.Duration) Quantiles {
	slices.Sort(ds)
	return Quantiles{ofSorted(ds, .5), ofSorted(ds, .9), ofSorted(ds, .99)}
}

// ofSorted is a quantile by rank; 0 of none.
func ofSorted(ds []time.Duration, p float64) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	return ds[int(p*float64(len(ds)-1)+.5)]
}

// A Band is where a figure lies from draw to draw: in 9 of 10 between Lo and Hi.
type Band struct {
	Lo  float64 `json:"lo"`  // 5 % quantile
	Mid float64 `json:"mid"` // median
	Hi  float64 `json:"hi"`  // 95 % quantile
}

// BandOf is the band of values, by linear interpolation of their order statistics.
func BandOf(values []float64) Band {
	sorted := slices.Sorted(slices.Values(values))
	return Band{quantile(sorted, .05), quantile(sorted, .5), quantile(sorted, .95)}
}

// Contains says whether v is in the band.
func (b Band) Contains(v float64) bool { return b.Lo <= v && v <= b.Hi }
