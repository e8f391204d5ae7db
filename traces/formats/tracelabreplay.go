package formats

import (
	"slices"
	"time"

	"wavetank/traces"
)

// tracelabReplay reads the workloads of TraceLab's session runner: rounds that keep
// so many tokens of the context before them and add so many. That tells exactly
// which prompts share a prefix, so that blocks are made of it, 16 tokens each.
// Memory grows with sessions.
var tracelabReplay = Format{
	Name:     "tracelab-replay",
	About:    "workloads of TraceLab's session runner (CSV)",
	Sniff:    sniffHeader(tracelabColumns...),
	document: openTracelabReplay,
}

var tracelabColumns = []string{"round_idx", "prefix_len", "input_len", "output_len", "tool_wait_after_ms"}

const madeBlock = 16 // tokens a block where we make them

type tracelabRounds struct {
	in               *input
	table            *table
	at               []int // of tracelabColumns
	session, arrival int
	threads          threads
	next             uint64
}

func openTracelabReplay(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("tracelab-replay"); err != nil {
		return document{}, err
	}
	t, err := readTable(in)
	if err != nil {
		return document{}, err
	}
	at, err := t.columns(in, tracelabColumns...)
	if err != nil {
		return document{}, err
	}
	r := &tracelabRounds{in: in, table: t, at: at, threads: make(threads), arrival: t.find("arrival_time")}
	if r.session = t.find("session_id"); r.session < 0 {
		if at, err = t.columns(in, "id"); err != nil {
			return document{}, err
		}
		r.session = at[0]
	}
	in.meta.BlockTokens, in.meta.BlockScope = madeBlock, traces.ScopeGlobal
	in.meta.Notes = []string{noteThreads, "blocks are made of prefix_len, 16 tokens each"}
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "ms", decimalGrammar
	return document{parse: r.parse}, nil
}

func (r *tracelabRounds) parse(row []byte, out *outlet) error {
	f, err := r.table.split(row)
	if err != nil {
		return err
	}
	var n [4]int32 // round, prefix, input, output
	for i := range n {
		if n[i], err = parseTokens(f[r.at[i]]); err != nil {
			return inField(tracelabColumns[i], err)
		}
	}
	if n[1] > maxTokens-n[2] {
		return inField("input_len", rejectf(TooLarge, "a prompt of %d and %d tokens is over the limit of %d", n[1], n[2], maxTokens))
	}
	wait, err := parseRounded(f[r.at[4]], 1e6)
	if err != nil {
		return inField(tracelabColumns[4], err)
	}
	var session traces.Opt[string]
	if err := setText(&session, f[r.session]); err != nil || !session.Known {
		return inField(r.table.header[r.session], rejectf(MissingField, "no session"))
	}
	arrival, err := r.arrivalOf(f, session.V)
	if err != nil {
		return err
	}
	var rec traces.Record
	var think traces.Opt[time.Duration]
	if t := r.threads[session.V]; t != nil {
		think = t.pause
	}
	t := r.threads.turn(&rec, session.V, arrival, think)
	t.pause = traces.Some(time.Duration(wait))
	if t.turns-1 != n[0] {
		r.in.warn("round_idx is not the next in its session")
	}
	r.setTokens(&rec, t, n[1], n[2], n[3])
	out.emit(rec)
	return nil
}

// arrivalOf returns when a session arrives, for its first round.
func (r *tracelabRounds) arrivalOf(f [][]byte, session string) (traces.Opt[int64], error) {
	switch {
	case r.threads[session] != nil:
		return traces.Opt[int64]{}, nil
	case r.arrival < 0 || isUnknown(f[r.arrival]):
		r.in.warn("their session has no arrival, and starts at 0")
		return traces.Some[int64](0), nil
	}
	ns, err := parseRounded(f[r.arrival], 1e6)
	return traces.Some(ns), inField("arrival_time", err)
}

func (r *tracelabRounds) setTokens(rec *traces.Record, t *thread, prefix, input, output int32) {
	if prefix > t.prompt.tokens && t.turns > 1 {
		r.in.warn("prefix_len is more than the context before it")
	}
	t.prompt.keep(prefix, madeBlock)
	t.prompt.add(prefix-t.prompt.tokens+input, madeBlock, &r.next)
	rec.PromptTokens, rec.OutputTokens = traces.Some(prefix+input), traces.Some(output)
	rec.App, rec.Blocks = traces.Some("coding-agent"), slices.Clone(t.prompt.runs)
	t.prompt.add(output, madeBlock, &r.next)
}
