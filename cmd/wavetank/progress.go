package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"wavetank/traces"
)

// A progress tells on stderr how far something is: on a terminal in one line that
// is written over, elsewhere in a line every ten seconds.
type progress struct{ done, ended chan struct{} }

// tell begins to print what line returns, given the time since. line is called by
// another goroutine.
func (e *env) tell(line func(since time.Duration) string) *progress {
	p := &progress{done: make(chan struct{}), ended: make(chan struct{})}
	every, format, clean := 10*time.Second, "wavetank: %s\n", ""
	if isTerminal(e.stderr) {
		every, format, clean = time.Second/4, "\r\x1b[Kwavetank: %s", "\r\x1b[K"
	}
	start := time.Now()
	go func() {
		defer close(p.ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-p.done:
				fmt.Fprint(e.stderr, clean)
				return
			case <-tick.C:
				fmt.Fprintf(e.stderr, format, line(time.Since(start)))
			}
		}
	}()
	return p
}

func (p *progress) stop() {
	close(p.done)
	<-p.ended
}

// An endings is a Writer that counts the rows of a run by how they ended.
type endings struct {
	traces.Writer
	*progress
	mu     sync.Mutex
	counts map[traces.Status]int
	total  int
}

// watch tells of the rows written to w, until stop.
func (e *env) watch(w traces.Writer) *endings {
	n := &endings{Writer: w, counts: make(map[traces.Status]int)}
	n.progress = e.tell(n.line)
	return n
}

// Write counts the row.
func (n *endings) Write(rec *traces.Record) error {
	n.mu.Lock()
	n.total++
	n.counts[rec.Outcome.Status]++
	n.mu.Unlock()
	return n.Writer.Write(rec)
}

func (n *endings) line(since time.Duration) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	line := fmt.Sprintf("%v: %d requests ended", since.Round(time.Second), n.total)
	for _, s := range traces.Statuses {
		if c := n.counts[s]; c > 0 {
			line += fmt.Sprintf(", %d %s", c, s)
		}
	}
	return line
}

// A reading is a Reader that counts its rows, beside the bytes they are read from.
type reading struct {
	checked
	*progress
	rows   atomic.Int64
	stored func() int64
	total  int64
}

// watchReading tells of the rows read from r, until stop. stored returns how many of
// the total bytes have been read, and may be called at any time; a total of 0 is
// unknown.
func (e *env) watchReading(r traces.Reader, stored func() int64, total int64) *reading {
	n := &reading{stored: stored, total: total}
	n.checked = checked{r, n.count}
	n.progress = e.tell(n.line)
	return n
}

func (n *reading) count(rows int, err error) error {
	if err == nil {
		n.rows.Add(int64(rows))
	}
	return err
}

func (n *reading) line(since time.Duration) string {
	rows, stored := n.rows.Load(), n.stored()
	line := fmt.Sprintf("%v: %d rows, %.0f rows/s, %.1f", since.Round(time.Second), rows, float64(rows)/since.Seconds(), float64(stored)/1e6)
	if n.total == 0 || stored == 0 {
		return line + " MB read"
	}
	share := min(1, float64(stored)/float64(n.total))
	left := time.Duration(float64(since) * (1 - share) / share)
	return line + fmt.Sprintf(" of %.1f MB read (%.0f %%), %v left", float64(n.total)/1e6, 100*share, left.Round(time.Second))
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
