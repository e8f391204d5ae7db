package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// join makes one trace of several inputs, each as it was cured.
func (e *editing) join(inputs []input, readers []traces.Reader) traces.Reader {
	var ranges traces.BlockRanges
	var blocks blocksOfOneSize
	files, claude := make([]int, len(inputs)), 0 // of Claude Code, by input
	for i, in := range inputs {
		readers[i] = blocks.check(in, globalIfOfSessions(in, readers[i], &ranges))
		files[i] = -1
		if log, isLog := in.(*formats.Source); isLog && log.Meta().Sources[0].Format == "claude-code" {
			files[i] = claude
			claude++
		}
	}
	all := concat(inputs, readers)
	if claude < 2 {
		return all
	}
	return e.add(formats.Resumed(all, func(rec *traces.Record) int {
		return files[rec.Seq%uint64(len(inputs))] // as Concat numbers rows
	}))
}

// joined is the metadata of a trace made of inputs: what they say alike, and what
// each says of itself.
func joined(inputs []input) traces.Meta {
	m := inputs[0].Meta()
	m.Kind = traces.KindTrace
	if len(inputs) == 1 {
		return m
	}
	m.Sources, m.Notes, m.Edits, m.Seed, m.Target = nil, nil, nil, nil, nil
	for _, in := range inputs {
		of := in.Meta()
		m.Sources = append(m.Sources, of.Sources...)
		for _, note := range of.Notes {
			if !slices.Contains(m.Notes, note) {
				m.Notes = append(m.Notes, note)
			}
		}
		for _, edit := range of.Edits {
			m.Edits = append(m.Edits, in.Name()+": "+edit)
		}
		agree(&m.Tokenizer, of.Tokenizer)
		agree(&m.Vantage, of.Vantage)
		m.Partial = m.Partial || of.Partial
		m.BlockTokens = cmp.Or(m.BlockTokens, of.BlockTokens)
		m.BlockScope = cmp.Or(m.BlockScope, of.BlockScope)
	}
	if m.BlockScope == traces.ScopeSession {
		m.BlockScope = traces.ScopeGlobal // see globalIfOfSessions
	}
	return m
}

func agree(all *string, one string) {
	if *all != one {
		*all = ""
	}
}

// globalIfOfSessions moves block ids that hold within a session: joined with other
// inputs' they would mean other prompts. What a log's ids are is known once its
// first row has been read.
func globalIfOfSessions(in input, r traces.Reader, ranges *traces.BlockRanges) traces.Reader {
	ahead := &peeked{Reader: r}
	var moved traces.Reader
	return traces.ReaderFunc(func(rec *traces.Record) error {
		if moved == nil {
			ahead.fill()
			moved = ahead
			if in.Meta().BlockScope == traces.ScopeSession {
				moved = ranges.Global(ahead)
			}
		}
		return moved.Read(rec)
	})
}

// blocksOfOneSize holds joined inputs to one size of blocks: a trace tells one, and
// an id of a block of another size is of another prefix.
type blocksOfOneSize struct {
	known bool
	size  int32
	of    string // the input that has it
}

func (b *blocksOfOneSize) check(in input, r traces.Reader) traces.Reader {
	checked := false
	return traces.ReaderFunc(func(rec *traces.Record) error {
		err := r.Read(rec)
		if checked || err != nil || rec.Blocks == nil {
			return err
		}
		checked = true
		size := in.Meta().BlockTokens
		if !b.known {
			b.known, b.size, b.of = true, size, in.Name()
		}
		if size != b.size {
			return hint(fmt.Errorf("%s has blocks of %s tokens and %s of %s: their ids cannot stand in one trace", b.of, tokensOf(b.size), in.Name(), tokensOf(size)),
				"convert each by itself")
		}
		return nil
	})
}

func tokensOf(size int32) string {
	if size == 0 {
		return "nobody knows how many"
	}
	return fmt.Sprint(size)
}

// concat reads inputs one after the other as one trace that starts where the
// first does. Clocks are kept: an input that began an hour later starts an hour
// later, be that by the wall clock or by stamps that count on from shard to shard.
// Its rows are not in order, which the writer of a trace sees to.
func concat(inputs []input, readers []traces.Reader) traces.Reader {
	var first origin
	return traces.Concat(readers, func(i int) (time.Duration, error) {
		o := originOf(inputs[i])
		if i == 0 {
			first = o
		}
		if o.wall != first.wall {
			return 0, errors.New("some of the inputs have wall-clock times and some relative ones: they cannot be put on one clock")
		}
		return o.at - first.at, nil
	})
}

// An origin is when an input starts: since the Unix epoch, or on its own clock.
type origin struct {
	wall bool
	at   time.Duration
}

func originOf(in input) origin {
	if t0 := in.Meta().T0; t0 != nil {
		return origin{true, time.Duration(t0.UnixNano())}
	}
	if log, ok := in.(*formats.Source); ok {
		return origin{at: log.Origin()}
	}
	return origin{}
}
