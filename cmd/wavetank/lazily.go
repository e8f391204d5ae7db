package main

import (
	"time"

	"wavetank/traces"
)

// lazily makes an edit when the first row is asked for: what it needs to know of
// the trace, such as its wall clock, is known of a log only once it is being read.
func (e *editing) lazily(r traces.Reader, begin func(traces.Reader, traces.Meta) (*traces.Edit, error)) traces.Reader {
	ahead := &peeked{Reader: r}
	var edit *traces.Edit
	e.done = append(e.done, late{&edit})
	e.start = append(e.start, func() time.Duration {
		if edit == nil {
			return 0
		}
		return edit.Start
	})
	return traces.ReaderFunc(func(rec *traces.Record) error {
		if edit == nil {
			ahead.fill()
			var err error
			if edit, err = begin(ahead, e.meta()); err != nil {
				return err
			}
		}
		return edit.Read(rec)
	})
}

type late struct{ edit **traces.Edit }

// String implements fmt.Stringer.
func (l late) String() string {
	if *l.edit == nil {
		return ""
	}
	return (*l.edit).String()
}

// peeked reads its first row before it is asked for it.
type peeked struct {
	traces.Reader
	rec  traces.Record
	err  error
	full bool
}

func (p *peeked) fill() { p.err, p.full = p.Reader.Read(&p.rec), true }

// Read fills rec with the next row.
func (p *peeked) Read(rec *traces.Record) error {
	if p.full {
		p.full = false
		*rec = p.rec
		return p.err
	}
	return p.Reader.Read(rec)
}
