package formats

import (
	"strings"
	"time"
)

// A clock reads the date-and-time stamps of a log and remembers their grammar.
type clock struct {
	zone     *time.Location // of stamps that name none
	minute   [17]byte       // the last one, up to its colon, and its start in UTC:
	minuteNS int64          // rows of one minute are many
	dayNS    int64          // the start of its day
	seen     grammarSet
}

type grammarSet [len(grammars)]bool

const (
	naive = iota
	zulu
	offset
)

// grammars holds, for each kind of zone, the grammar with a space and with a T.
var grammars = [...]string{
	2 * naive:    "2006-01-02 15:04:05 without zone",
	2*naive + 1:  "2006-01-02T15:04:05 without zone",
	2 * zulu:     "2006-01-02 15:04:05Z",
	2*zulu + 1:   "2006-01-02T15:04:05Z",
	2 * offset:   "2006-01-02 15:04:05+00:00",
	2*offset + 1: "2006-01-02T15:04:05+00:00",
}

// parse reads YYYY-MM-DD hh:mm:ss (or with a T between), any number of decimals,
// and perhaps a zone: Z, UTC, +hh:mm, +hhmm or +hh. It returns nanoseconds since
// the Unix epoch, without passing through a float; digits below a nanosecond are
// dropped. A stamp without a zone is of c.zone; where that zone sets its clocks
// back, the hour that comes twice is read as package time chooses.
func (c *clock) parse(b []byte) (int64, error) {
	const whole = len("2006-01-02 15:04:05")
	if len(b) < whole || string(b[:len(c.minute)]) != string(c.minute[:]) && !c.turn(b) {
		return 0, badStamp(b)
	}
	second := twoDigits(b[17:])
	if second < 0 || second > 60 {
		return 0, badStamp(b)
	}
	fraction, rest := parseFraction(b[whole:])
	kind, east, ok := parseZone(rest)
	if !ok {
		return 0, badStamp(b)
	}
	grammar := 2 * kind
	if b[10] == 'T' {
		grammar++
	}
	c.seen[grammar] = true
	ns := c.minuteNS + int64(second-east)*1e9 + fraction
	if kind == naive && c.zone != time.UTC {
		return c.inZone(ns), nil
	}
	return ns, nil
}

func badStamp(b []byte) error {
	return rejectf(BadTime, "%q is not a time like 2006-01-02 15:04:05.999", clip(b))
}

// turn moves to another minute. The years are those that nanoseconds since 1970
// reach on both sides of any zone.
func (c *clock) turn(b []byte) bool {
	hour, minute := twoDigits(b[11:]), twoDigits(b[14:])
	if b[10] != ' ' && b[10] != 'T' || b[13] != ':' || b[16] != ':' || hour|minute < 0 || hour > 23 || minute > 59 {
		return false
	}
	if string(b[:10]) != string(c.minute[:10]) {
		t, err := time.Parse(time.DateOnly, string(b[:10]))
		if err != nil || t.Year() < 1970 || t.Year() > 2260 {
			return false
		}
		c.dayNS = t.Unix() * 1e9
	}
	copy(c.minute[:], b)
	c.minuteNS = c.dayNS + int64(hour*60+minute)*60e9
	return true
}

// inZone takes a wall clock that was read as UTC for one of c.zone.
func (c *clock) inZone(ns int64) int64 {
	t := time.Unix(0, ns).UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), c.zone).UnixNano()
}

// grammar names what was seen, for the trace's metadata.
func (c *clock) grammar() string {
	var names []string
	for i, seen := range c.seen {
		if seen {
			names = append(names, grammars[i])
		}
	}
	return strings.Join(names, "; ")
}

// sawNaive tells whether any stamp came without a zone.
func (c *clock) sawNaive() bool { return c.seen[2*naive] || c.seen[2*naive+1] }

// twoDigits reads the first two bytes of b, or returns -1.
func twoDigits(b []byte) int {
	tens, ones := b[0]-'0', b[1]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return int(tens)*10 + int(ones)
}

// tenths holds the nanoseconds of one in the last of so many decimals of a second.
var tenths = [...]int64{1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 100, 10, 1}

func parseFraction(b []byte) (ns int64, rest []byte) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || b[1]-'0' > 9 {
		return 0, b
	}
	word := wordAt(b, 1)
	if n := leadingDigits(word); n < 8 {
		return eightDigits(word, n) * tenths[n], b[1+n:]
	}
	i := 1
	for ; i < min(len(b), len(tenths)) && b[i]-'0' <= 9; i++ {
		ns = 10*ns + int64(b[i]-'0')
	}
	ns *= tenths[i-1]
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return ns, b[i:]
}

// parseZone reads what follows the seconds; east is in seconds.
func parseZone(b []byte) (kind, east int, ok bool) {
	switch string(b) {
	case "":
		return naive, 0, true
	case "Z", "z", " UTC":
		return zulu, 0, true
	}
	if len(b) < 3 || b[0] != '+' && b[0] != '-' {
		return 0, 0, false
	}
	hours, minutes := twoDigits(b[1:]), 0
	switch {
	case len(b) == 5:
		minutes = twoDigits(b[3:])
	case len(b) == 6 && b[3] == ':':
		minutes = twoDigits(b[4:])
	case len(b) != 3:
		return 0, 0, false
	}
	if hours|minutes < 0 || hours > 23 || minutes > 59 {
		return 0, 0, false
	}
	east = (hours*60 + minutes) * 60
	if b[0] == '-' {
		east = -east
	}
	return offset, east, true
}
