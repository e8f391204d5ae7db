package formats

import (
	"slices"
	"time"

	"wavetank/traces"
)

// A spanColumn fills a column from the first of its attributes that is known.
// The names are those of OpenTelemetry's semantic conventions for generative AI,
// today's first; then those of vLLM and SGLang, OpenLLMetry (llm.*, traceloop.*),
// OpenInference (llm.token_count.* and the like; Envoy AI Gateway writes these)
// and the Vercel AI SDK (ai.*).
type spanColumn struct {
	name  string
	unit  int64 // of a time, in nanoseconds
	attrs []string
}

var spanColumns = []spanColumn{
	{"id", 0, []string{"gen_ai.request.id", "gen_ai.response.id", "ai.response.id"}},
	{"model", 0, []string{"gen_ai.request.model", "llm.request.model", "llm.request.model_name", "llm.model_name", "embedding.model_name",
		"ai.model.id", "gen_ai.response.model", "llm.response.model", "llm.response.model_name"}},
	{"max_tokens", 0, []string{"gen_ai.request.max_tokens", "llm.request.max_tokens", invocation + "max_completion_tokens", invocation + "max_tokens",
		"ai.settings.maxOutputTokens", "ai.settings.maxTokens"}},
	{"stream", 0, []string{"gen_ai.request.stream", "llm.is_streaming", invocation + "stream"}},
	{"first_token", 1e9, []string{"gen_ai.response.time_to_first_chunk", "gen_ai.latency.time_to_first_token"}},
	{"first_token", 1e6, []string{"ai.response.msToFirstChunk", "ai.stream.msToFirstChunk"}},
	{"queue", 1e9, []string{"gen_ai.latency.time_in_queue"}},
	{"prefill", 1e9, []string{"gen_ai.latency.time_in_model_prefill"}},
	{"decode", 1e9, []string{"gen_ai.latency.time_in_model_decode"}},
	{"prompt_tokens", 0, []string{"gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens", "llm.token_count.prompt",
		"ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens"}},
	{"output_tokens", 0, []string{"gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens", "llm.token_count.completion",
		"ai.usage.outputTokens", "ai.usage.completionTokens"}},
	{"reasoning_tokens", 0, []string{"gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning",
		"ai.usage.reasoningTokens"}},
	{"cached_tokens", 0, []string{"gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cached_tokens",
		"llm.token_count.prompt_details.cache_read", "ai.usage.cachedInputTokens"}},
}

// identityColumns are known of a request if they are known of a span around it.
// The last names are not of a convention: a program chooses them, and these are
// what the tools' own documentation shows.
var identityColumns = []spanColumn{
	{"session", 0, []string{"gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id",
		"traceloop.association.properties.chat_id", "ai.telemetry.metadata.sessionId", "exgentic.session.id"}},
	{"user", 0, []string{"user.id", "enduser.id", "llm.user", "traceloop.association.properties.user_id", "ai.telemetry.metadata.userId"}},
}

// Counts that are no columns of their own.
var (
	totalAttrs = []string{"gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total", "ai.usage.totalTokens"}
	wroteAttrs = []string{"gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write"}
)

// mediaAttrs are the tokens of a prompt by their kind.
var mediaAttrs = []struct{ kind, attr string }{
	{"image", "gen_ai.usage.image.input_tokens"},
	{"audio", "gen_ai.usage.audio.input_tokens"},
	{"audio", "llm.token_count.prompt_details.audio"},
	{"video", "gen_ai.usage.video.input_tokens"},
}

// firstTokenEvents are the events that come with the first, or every, piece of an
// answer: of OpenInference, and of OpenLLMetry.
var firstTokenEvents = map[string]bool{
	"First Token Stream Event": true, "llm.content.completion.chunk": true, "gen_ai.content.completion.chunk": true,
}

var (
	appAttrs    = []string{"service.name"}
	workerAttrs = []string{"service.instance.id", "k8s.pod.name", "host.name", "service.name"}
	engineAttrs = slices.Concat(attrsOf("queue"), attrsOf("prefill"), attrsOf("decode")) // which nobody else can know
)

// genAI reads the attributes of spans.
type genAI struct {
	in       *input
	columns  []boundAttrs
	identity []boundAttrs
	who      traces.Record // to be filled by identity: a span that is no request needs no Record of its own
	words    words
}

// boundAttrs is a spanColumn with its column at hand.
type boundAttrs struct {
	spanColumn
	column *Column
	words  words
}

func newGenAI(in *input) *genAI {
	return &genAI{in: in, columns: bindAttrs(spanColumns), identity: bindAttrs(identityColumns)}
}

func bindAttrs(columns []spanColumn) (bound []boundAttrs) {
	for _, c := range columns {
		bound = append(bound, boundAttrs{spanColumn: c, column: columnNamed(c.name)})
	}
	return bound
}

// set fills the column of rec, if it is not known yet.
func (b *boundAttrs) set(rec *traces.Record, attrs attributes) error {
	text, name := attrs.text(b.attrs...)
	if name == "" {
		return nil
	}
	return inField(name, b.column.set(rec, value{b: []byte(text), unit: b.unit}, &b.words))
}

// identify fills in who asked, which spans that are no requests tell too.
func (g *genAI) identify(n *spanNode, sp *otelSpan) error {
	g.who.Session, g.who.User = traces.Opt[string]{}, traces.Opt[string]{}
	for i := range g.identity {
		if err := g.identity[i].set(&g.who, sp.attrs); err != nil {
			return err
		}
	}
	n.session, n.user = g.who.Session, g.who.User
	return nil
}

// record makes a request of its span.
func (g *genAI) record(sp *otelSpan, what spanKind) (traces.Record, error) {
	expandInvocation(sp.attrs)
	rec := traces.Record{}
	rec.Arrival = time.Duration(sp.start)
	rec.Stream = what.stream
	if what.endpoint != "" {
		rec.Endpoint = traces.Some(what.endpoint)
	}
	if sp.end != 0 {
		rec.Outcome.End = traces.Some(time.Duration(sp.end - sp.start))
	}
	for i := range g.columns {
		b := &g.columns[i]
		err := b.set(&rec, sp.attrs)
		if b.column.Kind == Duration && isRowError(err) {
			g.in.warn("a latency that is no time, read as unknown")
			err = nil
		}
		if err != nil {
			return rec, err
		}
	}
	if err := g.account(&rec, sp.attrs); err != nil {
		return rec, err
	}
	g.firstToken(&rec, sp)
	g.bound(&rec.Outcome)
	rec.Params = paramsOf(sp.attrs)
	setMedia(&rec, sp.attrs)
	setEnding(&rec, sp)
	if !rec.ID.Known && sp.id != "" {
		rec.ID = traces.Some(sp.id)
	}
	return rec, g.resource(&rec, sp)
}

// firstToken takes the time of the first event of an answer where no attribute
// tells it.
func (g *genAI) firstToken(rec *traces.Record, sp *otelSpan) {
	first := int64(0)
	for _, e := range sp.events {
		if firstTokenEvents[e.name] && e.at >= sp.start && (first == 0 || e.at < first) {
			first = e.at
		}
	}
	if first > 0 && !rec.Outcome.FirstToken.Known {
		rec.Outcome.FirstToken = traces.Some(time.Duration(first - sp.start))
	}
}

// bound forgets stages that are longer than their span. Not all who write these
// attributes count in seconds.
func (g *genAI) bound(o *traces.Outcome) {
	for _, stage := range []*traces.Opt[time.Duration]{&o.FirstToken, &o.Queue, &o.Prefill, &o.Decode} {
		if o.End.Known && stage.V > o.End.V {
			g.in.warn("a latency that is longer than its span, read as unknown")
			*stage = traces.Opt[time.Duration]{}
		}
	}
}

// resource tells what wrote the span: a server is one of the workers, and anybody
// else is the application that asks.
func (g *genAI) resource(rec *traces.Record, sp *otelSpan) error {
	into, names := &rec.App, appAttrs
	if isServer(sp) {
		into, names = &rec.Outcome.Worker, workerAttrs
	}
	text, name := sp.resource.text(names...)
	return inField(name, g.words.set(into, []byte(text)))
}

// isServer tells whether a span is of whoever was asked. SGLang's does not say so.
func isServer(sp *otelSpan) bool {
	_, engine := sp.attrs.text(engineAttrs...)
	return sp.server || engine != ""
}

func setMedia(rec *traces.Record, attrs attributes) {
	for _, m := range mediaAttrs {
		text, name := attrs.text(m.attr)
		if name == "" {
			continue
		}
		if n, err := parseTokens([]byte(text)); err == nil && n > 0 {
			rec.Media = append(rec.Media, traces.Media{Kind: m.kind, Tokens: traces.Some(n)})
		}
	}
}
