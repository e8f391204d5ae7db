// Package sim is a simulated inference engine: a pure step function with
// continuous batching, paged KV memory and a prefix cache, driven in virtual
// time, in process or behind HTTP.
package sim

import (
	"errors"
	"fmt"
	"time"
)

// Picoseconds is a duration in 10⁻¹² s. The constants of a step need it, because
// one token of context costs some fifty nanoseconds; and being integers they
// give the same answer on every machine.
type Picoseconds int64

// Duration rounds p to the nearest nanosecond, halves up.
func (p Picoseconds) Duration() time.Duration { return time.Duration((p + 500) / 1000) }

// Cost holds the constants of one step's duration:
//
//	t = C0 + C1·prefill tokens + C2·decoding requests + C3·Σ context of decoding + C4·Σ (prefill tokens × context before them)
//
// The context of a decoding request is all that its token attends to: prompt
// and output so far. The zero Cost stands for that of the default preset.
type Cost struct {
	C0 Picoseconds // a step: reading the weights, and the scheduler's own time
	C1 Picoseconds // a token of prefill
	C2 Picoseconds // a decoding request
	C3 Picoseconds // a token of context of a decoding request
	C4 Picoseconds // a token of prefill times a token before its chunk
}

// load is what one step has to do.
type load struct {
	prefill, decoding, context, attended int64
}

// of returns how long a step with load l lasts: never nothing, so that time goes on.
func (c *Cost) of(l *load) time.Duration {
	p := c.C0 + c.C1*Picoseconds(l.prefill) + c.C2*Picoseconds(l.decoding) +
		c.C3*Picoseconds(l.context) + c.C4*Picoseconds(l.attended)
	return max(p.Duration(), 1)
}

// Cache says whether the engine finds blocks that it has computed before.
type Cache int

// The settings of the prefix cache.
const (
	PrefixCache   Cache = iota // whole blocks are found again until their memory is needed
	NoPrefixCache              // every prompt is computed
)

// Config is the engine and its HTTP face. Its zero value is the engine of
// Preset(DefaultModel, DefaultGPU) at real speed, without faults.
type Config struct {
	MaxBatchedTokens int32 // tokens a step; 0: 8192
	MaxSeqs          int   // requests that run at once; 0: 256
	BlockTokens      int32 // tokens a KV block; 0: 16
	Blocks           int32 // KV blocks in memory; 0: as the default preset
	MaxModelLen      int32 // tokens of prompt and output together; 0: 131072
	Cost             Cost  // duration of a step
	Cache            Cache // of prefixes

	Model          string  // name that the HTTP server serves; "": sim
	TemplateTokens int32   // tokens that the HTTP server's chat template puts before a chat prompt
	MeanOutput     float64 // mean of the geometric natural answer length, in tokens; 0: 200
	Speed          float64 // engine seconds a second in real time; 0: 1
	Faults         string  // of HTTP answers: name, name=value or name=value@share of Faults, with commas between; every request where no share is given
	Seed           uint64  // of answer lengths and fault shares
}

// WithDefaults returns c with every zero replaced by the default that it stands
// for, or an error that names the value which is out of range.
func (c Config) WithDefaults() (Config, error) {
	base, err := Preset(DefaultModel, DefaultGPU)
	if err != nil {
		return c, err
	}
	if c.Cost == (Cost{}) {
		c.Cost = base.Cost
	}
	setDefault(&c.MaxBatchedTokens, 8192)
	setDefault(&c.MaxSeqs, 256)
	setDefault(&c.BlockTokens, presetBlockTokens)
	setDefault(&c.Blocks, base.Blocks)
	setDefault(&c.MaxModelLen, base.MaxModelLen)
	setDefault(&c.Model, "sim")
	setDefault(&c.MeanOutput, 200)
	setDefault(&c.Speed, 1)
	return c, c.check()
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// The bounds keep every product in Cost.of inside 63 bits: a step of 10⁶ tokens
// over 10⁶ tokens of context at a microsecond a pair is 10¹⁸ ps.
const (
	maxTokens   = 1_000_000
	maxUnitCost = 1_000_000          // ps: a microsecond
	maxStepCost = 60 * 1_000_000_000 // ps: 60 ms, of C1 and C2
)

func (c *Config) check() error {
	var errs []error
	bound := func(name string, v, lo, hi float64) {
		if !(v >= lo && v <= hi) {
			errs = append(errs, fmt.Errorf("sim: %s is %v; it must be between %v and %v", name, v, lo, hi))
		}
	}
	bound("MaxBatchedTokens", float64(c.MaxBatchedTokens), 1, maxTokens)
	bound("MaxSeqs", float64(c.MaxSeqs), 1, 65536)
	bound("BlockTokens", float64(c.BlockTokens), 1, 4096)
	bound("Blocks", float64(c.Blocks), 1, 1<<26)
	bound("MaxModelLen", float64(c.MaxModelLen), 2, maxTokens)
	bound("C0", float64(c.Cost.C0), 0, 1e15)
	bound("C1", float64(c.Cost.C1), 0, maxStepCost)
	bound("C2", float64(c.Cost.C2), 0, maxStepCost)
	bound("C3", float64(c.Cost.C3), 0, maxUnitCost)
	bound("C4", float64(c.Cost.C4), 0, maxUnitCost)
	bound("Cache", float64(c.Cache), float64(PrefixCache), float64(NoPrefixCache))
	bound("TemplateTokens", float64(c.TemplateTokens), 0, float64(c.MaxModelLen))
	bound("MeanOutput", c.MeanOutput, 1, maxTokens)
	bound("Speed", c.Speed, 1e-6, 1e6)
	return errors.Join(errs...)
}
