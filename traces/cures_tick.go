package traces

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	tickHead  = 8192                   // rows that Dequantize looks for a tick in
	tickGap   = 250 * time.Millisecond // a tick is longer; what is shorter is jitter inside one
	tickGaps  = 20                     // that a statement on them needs
	tickShare = .9                     // of the gaps that must be on the tick
	tickSlack = .01                    // of a tick, that a gap may be off a multiple
	tickRows  = 1.1                    // a stamp: a grid without ties may be a client that sends at equal intervals
)

// Tick returns the period of the clock that stamped rows, and the share of the gaps
// that are on its multiples; 0 where it had none. The gaps are those between the
// distinct arrivals of that many rows. At least 90 % of at least 20 of them must be
// over 250 ms and within 1 % of a multiple, with 1.1 rows a stamp or more.
//
// Jitter adds up over a silence of many ticks (Mooncake's stamps are 2999, 3000 or
// 3001 ms apart), so the period is first guessed as the 10 % quantile of the gaps
// and then taken from all of them.
func Tick(gaps []time.Duration, rows int64) (period time.Duration, share float64) {
	if len(gaps) < tickGaps || float64(rows) < tickRows*float64(len(gaps)+1) {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(gaps))
	short, _ := slices.BinarySearch(sorted, tickGap)
	long := sorted[short:]
	if float64(len(long)) < tickShare*float64(len(sorted)) {
		return 0, 0
	}
	guess := float64(long[len(long)/10])
	var sum, ticks float64
	for _, d := range long {
		sum += float64(d)
		ticks += math.Round(float64(d) / guess)
	}
	g := sum / ticks
	on := 0
	for _, d := range long {
		if k := float64(d) / g; math.Abs(k-math.Round(k)) <= tickSlack {
			on++
		}
	}
	if share = float64(on) / float64(len(sorted)); share < tickShare {
		return 0, 0
	}
	return time.Duration(g), share
}

// ErrNoTick is wrapped by Dequantize's error.
var ErrNoTick = errors.New("the arrivals stand on no tick")

// Dequantize spreads the requests of a tick over it, where the log's clock ticks
// and each tick would be replayed as a burst: those of one stamp, and of stamps
// less than half a tick behind it, come at independent uniform times between that
// stamp and the end of the tick, or the next stamp if that is sooner. Their order
// stays. tick 0 is what Tick finds in the first 8,192 rows; where it finds none, an
// error ends the reading. Rows must come in the order of arrival. It holds the rows
// of one tick.
//
// The gaps inside a tick are then those of a Poisson process with the tick's rate:
// an assumption that the log can neither confirm nor deny.
func Dequantize(r Reader, tick time.Duration, seed uint64) *Edit {
	h := fnv.New64a()
	io.WriteString(h, "traces/dequantize")
	d := &dequantize{src: InOrder(r), tick: tick, rng: rand.New(rand.NewPCG(seed, h.Sum64()))}
	d.e = newEdit("", "rows", "ticks")
	d.e.Reader, d.seed = d, seed
	return d.e
}

type dequantize struct {
	src  Reader
	tick time.Duration
	seed uint64
	rng  *rand.Rand
	e    *Edit

	begun bool
	next  Record // behind group
	err   error  // of reading next
	group []Record
}

// Read fills rec with the next row.
func (d *dequantize) Read(rec *Record) error {
	if !d.begun {
		d.begun = true
		d.err = d.begin()
	}
	if len(d.group) == 0 {
		if d.err != nil {
			return d.err
		}
		d.spread()
	}
	*rec, d.group = d.group[0], d.group[1:]
	d.e.Counts[0].N++
	return nil
}

// begin finds the tick and reads the first row.
func (d *dequantize) begin() error {
	if d.tick <= 0 {
		head, err := d.find()
		if err != nil {
			return err
		}
		d.src = ReaderFunc(chain(head, d.src))
	}
	d.e.Name = fmt.Sprintf("dequantize, uniform in ticks of %v, seed %d", d.tick.Round(time.Microsecond), d.seed)
	return d.src.Read(&d.next)
}

func (d *dequantize) find() (head []Record, err error) {
	var gaps []time.Duration
	for len(head) < tickHead {
		var rec Record
		if err := d.src.Read(&rec); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if n := len(head); n > 0 && rec.Arrival > head[n-1].Arrival {
			gaps = append(gaps, rec.Arrival-head[n-1].Arrival)
		}
		head = append(head, rec)
	}
	if d.tick, _ = Tick(gaps, int64(len(head))); d.tick == 0 {
		return nil, fmt.Errorf("the first %d rows: %w; say how long it is", len(head), ErrNoTick)
	}
	return head, nil
}

// chain reads head and then r.
func chain(head []Record, r Reader) func(*Record) error {
	first := FromSlice(head)
	return func(rec *Record) error {
		if err := first.Read(rec); !errors.Is(err, io.EOF) {
			return err
		}
		return r.Read(rec)
	}
}

// spread reads the rows of the next tick and places them.
func (d *dequantize) spread() {
	start := d.next.Arrival
	d.group = d.group[:0]
	for more := true; more; more = d.err == nil && d.next.Arrival-start < d.tick/2 {
		d.group = append(d.group, d.next)
		d.err = d.src.Read(&d.next)
	}
	width := d.tick
	if d.err == nil {
		width = min(width, d.next.Arrival-start)
	}
	at := make([]time.Duration, len(d.group))
	for i := range at {
		at[i] = start + time.Duration(d.rng.Float64()*float64(width))
	}
	slices.Sort(at)
	for i := range d.group {
		d.group[i].Arrival = at[i]
	}
	d.e.Counts[1].N++
}
