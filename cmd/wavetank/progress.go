package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"wavetank/traces"
)

// A progress counts the rows that go through it and tells of them on stderr: on
// a terminal in one line that is written over, elsewhere in a line every ten
// seconds.
type progress struct {
	traces.Writer
	mu     sync.Mutex
	counts map[traces.Status]int
	total  int
	done   chan struct{}
	ended  chan struct{}
}

func (e *env) watch(w traces.Writer) *progress {
	p := &progress{Writer: w, counts: make(map[traces.Status]int), done: make(chan struct{}), ended: make(chan struct{})}
	every, format := 10*time.Second, "wavetank: %s\n"
	terminal := isTerminal(e.stderr)
	if terminal {
		every, format = time.Second/4, "\r\x1b[Kwavetank: %s"
	}
	start := time.Now()
	go func() {
		defer close(p.ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-p.done:
				if terminal {
					fmt.Fprint(e.stderr, "\r\x1b[K")
				}
				return
			case <-tick.C:
				fmt.Fprintf(e.stderr, format, p.line(time.Since(start)))
			}
		}
	}()
	return p
}

// Write counts the row.
func (p *progress) Write(rec *traces.Record) error {
	p.mu.Lock()
	p.total++
	p.counts[rec.Outcome.Status]++
	p.mu.Unlock()
	return p.Writer.Write(rec)
}

func (p *progress) line(since time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf("%v: %d requests ended", since.Round(time.Second), p.total)
	for _, s := range traces.Statuses {
		if n := p.counts[s]; n > 0 {
			line += fmt.Sprintf(", %d %s", n, s)
		}
	}
	return line
}

func (p *progress) stop() {
	close(p.done)
	<-p.ended
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
