package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"wavetank/fit"
	"wavetank/replay/fidelity"
)

// A panel is one server at every load.
type panel struct {
	server   server
	settings []setting
	rows     []row
}

// A row is one generator's latencies.
type row struct {
	generator generator
	latencies [][]fidelity.Latencies // by setting, then by seed
}

// compare plays the real trace and what every generator, fitted to the given one, makes
// with every seed against every server at every load. The result depends on nothing but
// the arguments.
func compare(given, real trace, generators []generator, servers []server, loads []load, seeds int) ([]panel, error) {
	panels, err := newPanels(real, generators, servers, loads, seeds)
	if err != nil {
		return nil, err
	}
	for j, g := range generators {
		draw, err := g.fit(given)
		if err == nil {
			err = each(seeds, func(seed int) error { return play(panels, j, draw, seed) })
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return panels, nil
}

func newPanels(real trace, generators []generator, servers []server, loads []load, seeds int) ([]panel, error) {
	loaded, err := real.load()
	if err != nil {
		return nil, err
	}
	panels := make([]panel, len(servers))
	for i, s := range servers {
		settings, err := s.settings(loaded, loads)
		if err != nil {
			return nil, fmt.Errorf("server %s: %w", s.name, err)
		}
		panels[i] = panel{s, settings, make([]row, len(generators))}
		for j, g := range generators {
			panels[i].rows[j] = newRow(g, len(loads), seeds)
		}
	}
	return panels, nil
}

func newRow(g generator, settings, seeds int) row {
	r := row{g, make([][]fidelity.Latencies, settings)}
	for i := range r.latencies {
		r.latencies[i] = make([]fidelity.Latencies, seeds)
	}
	return r
}

func (t trace) load() (*fidelity.Trace, error) { return fidelity.Load(t.reader(), fit.ByNone) }

// play puts one seed's latencies of generator j into its place of each panel.
func play(panels []panel, j int, draw generate, seed int) error {
	made, err := draw(uint64(seed))
	if err != nil {
		return err
	}
	t, err := made.load()
	if err != nil {
		return err
	}
	for _, p := range panels {
		for k, s := range p.settings {
			if p.rows[j].latencies[k][seed], err = s.play(t); err != nil {
				return fmt.Errorf("server %s, %s load: %w", p.server.name, s.load.name, err)
			}
		}
	}
	return nil
}

// each calls f with 0..n-1 on every core.
func each(n int, f func(int) error) error {
	errs := make([]error, n)
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}

// A miss is how far the seeds' p99 is from the real one.
type miss struct {
	error  fidelity.Band // relative to the real one
	inside bool          // whether the real one lies in the seeds' band
}

func ttft(l fidelity.Latencies) time.Duration { return l.TTFT.P99 }
func tpot(l fidelity.Latencies) time.Duration { return l.TPOT.P99 }

// miss is that of setting k of p.
func (p panel) miss(r row, k int, of func(fidelity.Latencies) time.Duration) miss {
	real := float64(of(p.settings[k].real))
	var errs []float64
	for _, l := range r.latencies[k] {
		errs = append(errs, float64(of(l))/real-1)
	}
	band := fidelity.BandOf(errs)
	return miss{band, band.Contains(0)}
}
