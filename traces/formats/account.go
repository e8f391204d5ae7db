package formats

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"wavetank/traces"
)

// Meta returns what is known of the log as a trace, with one entry in Sources. It
// is whole once Read has returned io.EOF; SHA256 and licence are unknown before
// that. T0 is the wall clock of the first row emitted, or nil if the log's times
// are relative. The source's name is without its folders, which are nobody else's
// business. The resolution is the coarsest of 1 s, 100 ms, 10 ms, ... 1 ns on
// which every stamp falls, whatever number of digits is printed.
func (s *Source) Meta() traces.Meta {
	m := s.in.meta
	m.Kind = traces.KindTrace
	if s.in.absolute && s.emitted > 0 {
		t0 := time.Unix(0, s.base).UTC()
		m.T0 = &t0
	}
	if s.in.clock.sawNaive() {
		m.TimeZone = s.opts.TimeZone.String()
	}
	m.Sources = []traces.Source{s.account()}
	return m
}

func (s *Source) account() traces.Source {
	src := s.in.source
	src.Name, src.Format = filepath.Base(s.name), s.format.Name
	if g := s.in.clock.grammar(); g != "" {
		src.Grammar = g
	}
	src.Read, src.Emitted, src.Merged, src.Rejected = s.read, s.emitted, s.merged, maps.Clone(s.rejected)
	src.Bytes = s.Stored()
	if s.emitted > 0 {
		src.Resolution = time.Duration(s.grid)
	}
	if errors.Is(s.err, io.EOF) {
		src.SHA256 = s.stored.sum()
		w := known[s.plain.sum()]
		src.Licence, src.Attribution = w.licence, w.attribution
	}
	for _, kind := range slices.Sorted(maps.Keys(s.in.warnings)) {
		src.Warnings = append(src.Warnings, fmt.Sprintf("%d rows: %s", s.in.warnings[kind], kind))
	}
	if s.read == 0 && s.err != nil {
		src.Warnings = append(src.Warnings, "the log has no rows")
	}
	return src
}

// A digest counts and hashes what is read through it.
type digest struct {
	r    io.Reader
	hash hash.Hash
	n    atomic.Int64
}

func newDigest(r io.Reader) *digest { return &digest{r: r, hash: sha256.New()} }

// Read implements io.Reader.
func (d *digest) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.hash.Write(p[:n])
	d.n.Add(int64(n))
	return n, err
}

func (d *digest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }
