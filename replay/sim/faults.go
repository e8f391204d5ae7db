package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"wavetank/traces"
)

// A Fault is a way in which servers are known to misbehave.
type Fault struct {
	Name  string
	Form  string // of its value: "" (it takes none), N, DURATION (as in 1.5s), N:DURATION or URL
	About string
	apply func(*manners, value)
}

// value is a fault's value; which fields count its Form says.
type value struct {
	n    int32
	d    time.Duration
	text string
}

// Faults lists every fault that Config.Faults and the header X-Sim-Fault know.
var Faults = []Fault{
	{"reject", "N", "HTTP 429 with Retry-After while N requests or more wait",
		func(m *manners, v value) { m.reject = traces.Some(v.n) }},
	{"error-500", "", "HTTP 500 at once",
		func(m *manners, _ value) { m.broken = true }},
	{"redirect", "URL", "HTTP 307 to URL",
		func(m *manners, v value) { m.redirect = v.text }},
	{"slow-start", "DURATION", "the response's head comes that much later",
		func(m *manners, v value) { m.delay = v.d }},
	{"cut-prompt", "N", "a prompt is silently cut to N tokens",
		func(m *manners, v value) { m.cut = traces.Some(max(v.n, 1)) }},
	{"ignore-ignore-eos", "", "ignore_eos and min_tokens are ignored",
		func(m *manners, _ value) { m.deafToEOS = true }},
	{"empty", "", "a finished answer without a token",
		func(m *manners, _ value) { m.empty = true }},
	{"stall", "N:DURATION", "a pause after N tokens",
		func(m *manners, v value) { m.after(v.n, func(a *answer) error { return a.pause(v.d) }) }},
	{"cut", "N", "the connection breaks after N tokens",
		func(m *manners, v value) { m.after(v.n, func(*answer) error { return errCut }) }},
	{"truncate", "N", "the response ends in good order after N tokens, without finish_reason and [DONE]",
		func(m *manners, v value) { m.after(v.n, func(*answer) error { return errTruncated }) }},
	{"stream-error", "N", "an error object inside the 200 stream after N tokens, then its end",
		func(m *manners, v value) { m.after(v.n, (*answer).sendError) }},
	{"garbage", "N", "an event that is not JSON after N tokens",
		func(m *manners, v value) { m.after(v.n, (*answer).sendGarbage) }},
	{"no-role", "", "no role-only chunk before the first token of a chat",
		func(m *manners, _ value) { m.noRole = true }},
	{"pings", "DURATION", "a comment \": ping\" every so often until the first token",
		func(m *manners, v value) { m.pings = max(v.d, time.Millisecond) }},
	{"tokens-per-event", "N", "N tokens in each event",
		func(m *manners, v value) { m.perEvent = v.n }},
	{"merge-frames", "N", "N events in each write",
		func(m *manners, v value) { m.merge = v.n }},
	{"split-frames", "N", "writes of N bytes",
		func(m *manners, v value) { m.split = v.n }},
	{"wrong-usage", "N", "usage counts N completion tokens too many (too few, if negative)",
		func(m *manners, v value) { m.miscount = v.n }},
	{"no-usage", "", "no usage, though asked for",
		func(m *manners, _ value) { m.noUsage = true }},
	{"no-done", "", "no [DONE] at the end",
		func(m *manners, _ value) { m.noDone = true }},
	{"idle-close", "", "the connection is closed after the answer, though keep-alive was announced (HTTP/1.1)",
		func(m *manners, _ value) { m.idleClose = true }},
}

var (
	errCut       = errors.New("sim: the connection is cut on purpose")
	errTruncated = errors.New("sim: the answer is truncated on purpose")
)

// forms says how a value of each form is read.
var forms = map[string]func(string) (value, error){
	"": func(s string) (value, error) {
		if s != "" {
			return value{}, errors.New("takes no value")
		}
		return value{}, nil
	},
	"N": func(s string) (value, error) {
		n, err := strconv.ParseInt(s, 10, 32)
		return value{n: int32(n)}, err
	},
	"DURATION": func(s string) (value, error) {
		d, err := time.ParseDuration(s)
		return value{d: d}, err
	},
	"N:DURATION": func(s string) (value, error) {
		count, pause, _ := strings.Cut(s, ":")
		n, err1 := strconv.ParseInt(count, 10, 32)
		d, err2 := time.ParseDuration(pause)
		return value{n: int32(n), d: d}, errors.Join(err1, err2)
	},
	"URL": func(s string) (value, error) { return value{text: s}, nil },
}

// An order is a fault with its value and the share of requests it befalls.
type order struct {
	fault Fault
	value value
	share float64
}

// parseFaults reads the list of Config.Faults.
func parseFaults(list string) (orders []order, err error) {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		o, err := parseOrder(item)
		if err != nil {
			return nil, fmt.Errorf("sim: fault %q: %w", item, err)
		}
		orders = append(orders, o)
	}
	return orders, nil
}

func parseOrder(item string) (o order, err error) {
	o.share = 1
	if at := strings.LastIndexByte(item, '@'); at >= 0 {
		o.share, err = strconv.ParseFloat(item[at+1:], 64)
		if err != nil || !(o.share >= 0 && o.share <= 1) {
			return o, errors.New("the share after @ must be between 0 and 1")
		}
		item = item[:at]
	}
	name, text, _ := strings.Cut(item, "=")
	o.fault, err = lookup("fault", name, Faults, func(f Fault) string { return f.Name })
	if err != nil {
		return o, err
	}
	o.value, err = forms[o.fault.Form](text)
	if err != nil {
		return o, fmt.Errorf("its value has the form %q: %w", o.fault.Form, err)
	}
	return o, nil
}

// manners is how one answer is given; the zero value is the good one.
type manners struct {
	reject    traces.Opt[int32]
	broken    bool
	redirect  string
	delay     time.Duration
	cut       traces.Opt[int32]
	deafToEOS bool
	empty     bool
	noRole    bool
	pings     time.Duration
	perEvent  int32
	merge     int32
	split     int32
	miscount  int32
	noUsage   bool
	noDone    bool
	idleClose bool
	mishaps   []mishap
}

// A mishap befalls an answer once it has given so many tokens. Its error ends the answer.
type mishap struct {
	tokens int32
	act    func(*answer) error
}

func (m *manners) after(tokens int32, act func(*answer) error) {
	m.mishaps = append(m.mishaps, mishap{tokens, act})
}

// manners draws the faults of one request.
func (s *Server) manners(r *http.Request, serial uint64) (m manners, err error) {
	own, err := parseFaults(r.Header.Get("X-Sim-Fault"))
	if err != nil {
		return m, err
	}
	for _, list := range [][]order{s.orders, own} {
		for _, o := range list {
			if o.befalls(stream(s.cfg.Seed, "fault "+o.fault.Name, serial)) {
				o.fault.apply(&m, o.value)
			}
		}
	}
	return m, nil
}

func (o *order) befalls(rng *rand.Rand) bool { return rng.Float64() < o.share }

// forestalls answers r without the engine, if m wants that.
func (m *manners) forestalls(s *Server, w http.ResponseWriter, r *http.Request) bool {
	switch {
	case m.broken:
		writeError(w, http.StatusInternalServerError, "internal_error", "broken on purpose")
	case m.redirect != "":
		w.Header().Set("Location", m.redirect)
		w.WriteHeader(http.StatusTemporaryRedirect)
	case m.reject.Known && s.live.counters().Waiting >= int(m.reject.V):
		w.Header().Set("Retry-After", "1")
		writeError(w, http.StatusTooManyRequests, "rate_limit_error", "the queue is full")
	default:
		return false
	}
	return true
}
