package formats

import (
	"time"

	"wavetank/traces"
)

// burstgpt reads BurstGPT, versions 1 to 3. Its times are whole seconds from a
// midnight in a zone that nobody named, so they stay relative. Token counts of a
// conversation's prompt include its history. Memory grows with the number of
// sessions, whose turns are counted.
var burstgpt = Format{
	Name:  "burstgpt",
	About: "BurstGPT traces, with or without Session ID and Elapsed time (CSV)",
	Sniff: sniffHeader(burstColumns...),
	open:  openBurst,
}

var burstColumns = []string{"Timestamp", "Model", "Request tokens", "Response tokens", "Log Type"}

// ErrorFailed is the class of a failure of which the log says no more than that
// it happened.
const ErrorFailed = "failed"

// logTypes are the application classes by BurstGPT's words for them.
var logTypes = map[string]string{"Conversation log": "chat", "API log": "api"}

// burst is the parser's state: where the columns stand, or -1.
type burst struct {
	in                                 *input
	table                              *table
	stamp, model, prompt, output, kind int
	session, elapsed, total            int
	words, sessions                    words
}

func openBurst(in *input, o *Options) (parser, error) {
	if err := o.onlyGeneric("burstgpt"); err != nil {
		return nil, err
	}
	t, err := readTable(in)
	if err != nil {
		return nil, err
	}
	at, err := t.columns(in, burstColumns...)
	if err != nil {
		return nil, err
	}
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "s", decimalGrammar
	in.inOrder = make(turns).count
	in.fork = func(in *input) parser {
		b := &burst{in: in, table: t.fork(in),
			stamp: at[0], model: at[1], prompt: at[2], output: at[3], kind: at[4],
			session: t.find("Session ID"), elapsed: t.find("Elapsed time"), total: t.find("Total tokens")}
		return b.parse
	}
	return in.fork(in), nil
}

func (b *burst) parse(row []byte, rec *traces.Record) error {
	f, err := b.table.split(row)
	if err != nil {
		return err
	}
	ns, err := parseDecimal(f[b.stamp], 1e9)
	if err != nil {
		return inField("Timestamp", err)
	}
	rec.Arrival = time.Duration(ns)
	if err := setTokens(&rec.PromptTokens, f[b.prompt]); err != nil {
		return inField("Request tokens", err)
	}
	if err := setTokens(&rec.OutputTokens, f[b.output]); err != nil {
		return inField("Response tokens", err)
	}
	if err := b.setElapsed(rec, f); err != nil {
		return inField("Elapsed time", err)
	}
	if err := b.words.set(&rec.Model, f[b.model]); err != nil {
		return inField("Model", err)
	}
	b.checkTotal(rec, f)
	b.setKind(rec, f[b.kind])
	setEnd(rec)
	if b.session < 0 {
		return nil
	}
	return inField("Session ID", b.sessions.set(&rec.Session, f[b.session]))
}

// setEnd tells failures from answers: the log marks a failure by no output, and
// sometimes loses its prompt as well.
func setEnd(rec *traces.Record) {
	rec.Outcome.Status = traces.OK
	if rec.OutputTokens.V == 0 {
		rec.Outcome.Status = traces.Error
		rec.Outcome.Error = traces.Some(ErrorFailed)
	}
	if rec.PromptTokens.V == 0 {
		rec.PromptTokens = traces.Opt[int32]{}
	}
}

// setElapsed reads how long the request took, in whole seconds. A 0 is anything
// under a second: nobody measured a response of no time at all.
func (b *burst) setElapsed(rec *traces.Record, f [][]byte) error {
	if b.elapsed < 0 || isUnknown(f[b.elapsed]) {
		return nil
	}
	ns, err := parseDecimal(f[b.elapsed], 1e9)
	if err != nil {
		return err
	}
	if ns == 0 {
		b.in.warn("an elapsed time of 0, which is under a second and was read as unknown")
		return nil
	}
	rec.Outcome.End = traces.Some(time.Duration(ns))
	return nil
}

func (b *burst) checkTotal(rec *traces.Record, f [][]byte) {
	if b.total < 0 {
		return
	}
	total, err := parseCount(f[b.total])
	if err != nil || total != rec.PromptTokens.V+rec.OutputTokens.V {
		b.in.warn("total tokens are not the sum of request and response tokens")
	}
}

func (b *burst) setKind(rec *traces.Record, kind []byte) {
	app, ok := logTypes[string(kind)]
	if !ok {
		b.in.warn("a log type other than Conversation log and API log, read as an unknown application")
		return
	}
	rec.App = traces.Some(app)
}
