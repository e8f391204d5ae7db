package synth

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"wavetank/traces"
)

// Tokens says how long the prompts or the answers of a plain workload are. The zero
// value says nothing and is refused.
type Tokens struct {
	Grid     []int32 // taken in turn; one value is a fixed length
	Min, Max int32   // where there is no Grid: uniform, both included
}

// ParseTokens reads "128", "100-200" (uniform) or "128,512,2048" (a grid).
func ParseTokens(s string) (Tokens, error) {
	var t Tokens
	if from, to, ok := strings.Cut(s, "-"); ok {
		lo, err1 := parseLength(from)
		hi, err2 := parseLength(to)
		if errors.Join(err1, err2) != nil || lo > hi {
			return t, fmt.Errorf("tokens %q: a range is like 100-200, from 1 up", s)
		}
		return Tokens{Min: lo, Max: hi}, nil
	}
	for field := range strings.SplitSeq(s, ",") {
		n, err := parseLength(field)
		if err != nil {
			return t, fmt.Errorf("tokens %q: must be like 128, 100-200 or 128,512,2048, from 1 up", s)
		}
		t.Grid = append(t.Grid, n)
	}
	return t, nil
}

func parseLength(s string) (int32, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err == nil && n < 1 {
		err = strconv.ErrRange
	}
	return int32(n), err
}

// String is what ParseTokens reads.
func (t Tokens) String() string {
	if len(t.Grid) == 0 {
		return fmt.Sprintf("%d-%d", t.Min, t.Max)
	}
	fields := make([]string, len(t.Grid))
	for i, n := range t.Grid {
		fields[i] = strconv.Itoa(int(n))
	}
	return strings.Join(fields, ",")
}

func (t Tokens) check(of string) error {
	for _, n := range t.Grid {
		if n < 1 {
			return fmt.Errorf("%s of %d tokens: the least is 1", of, n)
		}
	}
	if len(t.Grid) == 0 && (t.Min < 1 || t.Max < t.Min) {
		return fmt.Errorf("%s of %d to %d tokens: say a grid, or a range from 1 up", of, t.Min, t.Max)
	}
	return nil
}

// period is after how many requests a grid begins again.
func (t Tokens) period() uint64 { return uint64(max(1, len(t.Grid))) }

// length is the i-th length, which draws where it is random.
func (t Tokens) length(i uint64, d *draws) int32 {
	if len(t.Grid) > 0 {
		return t.Grid[i%t.period()]
	}
	return t.Min + int32(d.next()*(float64(t.Max)-float64(t.Min)+1))
}

// Pace says when the requests of a plain workload come.
type Pace string

// The paces. The empty one is Poisson.
const (
	Poisson  Pace = "poisson"  // independently of each other, at a rate
	Constant Pace = "constant" // with equal gaps; the first one at once
	AtOnce   Pace = "at-once"  // all at the start
)

// Plain is a workload of given lengths at a given pace, for which nobody needs a
// profile: it measures a server at one point. It is not like anybody's traffic.
//
// Where both lengths are grids, all pairs come in turn: the first prompt with each
// answer, then the second, and from the start again.
type Plain struct {
	Prompt, Output Tokens
	Pace           Pace
	Rate           float64       // requests a second; none AtOnce
	Count          int64         // requests at most; 0: no limit
	For            time.Duration // every arrival lies before it; 0: no limit
	Seed           uint64
}

// String says what p is, but not how much of it.
func (p Plain) String() string {
	pace := cmp.Or(p.Pace, Poisson)
	if p.Rate > 0 {
		pace += Pace(fmt.Sprintf(" at %g requests/s", p.Rate))
	}
	return fmt.Sprintf("a plain workload: prompts of %s tokens, answers of %s, %s", p.Prompt, p.Output, pace)
}

func (p Plain) check() error {
	errs := []error{p.Prompt.check("prompts"), p.Output.check("answers")}
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	timed := p.Pace == Poisson || p.Pace == Constant
	bad(!timed && p.Pace != AtOnce, "the pace %q is none of %s, %s and %s", p.Pace, Poisson, Constant, AtOnce)
	bad(timed && (!(p.Rate > 0) || math.IsInf(p.Rate, 0)), "%s arrivals at %g requests a second: the rate must be above 0", p.Pace, p.Rate)
	bad(p.Pace == AtOnce && p.Rate != 0, "requests that come all at once have no rate")
	bad(p.Count < 0 || p.For < 0, "a trace cannot have %d requests or last %v", p.Count, p.For)
	bad(p.Count == 0 && (p.For == 0 || p.Pace == AtOnce), "a workload without an end: say how many requests, or how long they come")
	return errors.Join(errs...)
}

// Reader makes the workload's requests one by one, in constant memory. Equal
// workloads give equal requests.
func (p Plain) Reader() (traces.Reader, error) {
	p.Pace = cmp.Or(p.Pace, Poisson)
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Count == 0 {
		p.Count = math.MaxInt64
	}
	if p.For == 0 {
		p.For = math.MaxInt64
	}
	stream := func(purpose string) *draws { return newDraws(p.Seed, "plain", purpose) }
	return &plain{Plain: p, gaps: stream("arrivals"), prompts: stream("prompt"), outputs: stream("output")}, nil
}

// plain is a Plain under way.
type plain struct {
	Plain
	made                   uint64
	elapsed                float64 // of a Poisson process, in mean gaps
	gaps, prompts, outputs *draws
}

// Read makes the next request. It returns io.EOF after the last.
func (p *plain) Read(rec *traces.Record) error {
	if p.made == uint64(p.Count) {
		return io.EOF
	}
	at := p.arrival()
	if at >= p.For {
		return io.EOF
	}
	*rec = traces.Record{Outcome: traces.Outcome{Status: traces.Unknown}}
	rec.Seq, rec.Arrival, rec.Stream = p.made, at, traces.Some(true)
	rec.PromptTokens = traces.Some(p.Prompt.length(p.made/p.Output.period(), p.prompts))
	rec.OutputTokens = traces.Some(p.Output.length(p.made, p.outputs))
	p.made++
	return nil
}

// arrival is that of the next request. A constant pace is multiplied, not added up:
// the last request of a day is as exact as the first.
func (p *plain) arrival() time.Duration {
	switch p.Pace {
	case AtOnce:
		return 0
	case Constant:
		return instant(float64(p.made) * float64(time.Second) / p.Rate)
	}
	p.elapsed -= math.Log(p.gaps.next())
	return instant(p.elapsed * float64(time.Second) / p.Rate)
}

// instant rounds to a nanosecond, and to the end of time where that is later.
func instant(ns float64) time.Duration {
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(ns))
}
