package formats

import (
	"slices"
	"strings"

	"wavetank/traces"
)

// A spanKind says whether a span is a request, and of which endpoint.
type spanKind struct {
	request  bool
	endpoint string // may be empty
	stream   traces.Opt[bool]
}

var (
	chatSpan       = spanKind{request: true, endpoint: "chat"}
	completionSpan = spanKind{request: true, endpoint: "completions"}
	embeddingSpan  = spanKind{request: true, endpoint: "embeddings"}
	wholeSpan      = spanKind{request: true, endpoint: "chat", stream: traces.Some(false)}
	streamSpan     = spanKind{request: true, endpoint: "chat", stream: traces.Some(true)}
	someRequest    = spanKind{request: true}
	noRequest      = spanKind{}
)

// kindAttrs are the attributes that tell what a span is. The first that knows its
// value decides; one that is closed decides about all values.
var kindAttrs = []struct {
	name   string
	closed bool
	kinds  map[string]spanKind
}{
	// The Vercel AI SDK: a call's own span holds the sum of its steps, and each step is a request.
	{"ai.operationId", true, map[string]spanKind{
		"ai.generateText.doGenerate": wholeSpan, "ai.generateObject.doGenerate": wholeSpan,
		"ai.streamText.doStream": streamSpan, "ai.streamObject.doStream": streamSpan,
		"ai.embed.doEmbed": embeddingSpan, "ai.embedMany.doEmbed": embeddingSpan,
	}},
	{"gen_ai.operation.name", false, operations},
	{"openinference.span.kind", true, map[string]spanKind{"LLM": someRequest, "EMBEDDING": embeddingSpan}},
	{"traceloop.span.kind", false, map[string]spanKind{"workflow": noRequest, "task": noRequest, "agent": noRequest, "tool": noRequest}},
	{"llm.request.type", false, map[string]spanKind{"chat": chatSpan, "completion": completionSpan, "embedding": embeddingSpan, "rerank": noRequest}},
}

// operations are the values of gen_ai.operation.name; a span's name begins with it.
var operations = map[string]spanKind{
	"chat": chatSpan, "generate_content": chatSpan, "text_completion": completionSpan, "embeddings": embeddingSpan,

	"invoke_agent": noRequest, "create_agent": noRequest, "agent_step": noRequest, "execute_tool": noRequest, "invoke_workflow": noRequest,
	"plan": noRequest, "retrieval": noRequest, "search_memory": noRequest, "create_memory": noRequest, "update_memory": noRequest,
	"upsert_memory": noRequest, "delete_memory": noRequest, "create_memory_store": noRequest, "delete_memory_store": noRequest,
}

// usageAttrs are those without which a span that does not say what it is, as of
// vLLM and SGLang, is no request.
var usageAttrs = slices.Concat(attrsOf("prompt_tokens"), attrsOf("output_tokens"))

// whatIs tells what a span is.
func (g *genAI) whatIs(sp *otelSpan) spanKind {
	for _, attr := range kindAttrs {
		word, name := sp.attrs.text(attr.name)
		if name == "" {
			continue
		}
		if kind, ok := attr.kinds[word]; ok || attr.closed {
			return kind
		}
	}
	operation, _, _ := strings.Cut(sp.name, " ")
	if kind, ok := operations[operation]; ok && !kind.request {
		return noRequest
	}
	if _, name := sp.attrs.text(usageAttrs...); name != "" {
		return someRequest
	}
	return noRequest
}

// attrsOf returns the attributes that fill a column.
func attrsOf(column string) (names []string) {
	for _, c := range spanColumns {
		if c.name == column {
			names = append(names, c.attrs...)
		}
	}
	return names
}

// wantedAttributes holds the name of every attribute that is read.
var wantedAttributes = wanted()

func wanted() map[string]bool {
	names := slices.Concat(totalAttrs, wroteAttrs, appAttrs, workerAttrs, endingAttrs, messageAttrs, []string{invocationAttr})
	for _, c := range slices.Concat(spanColumns, identityColumns) {
		names = append(names, c.attrs...)
	}
	for _, p := range params {
		names = append(names, p.attrs...)
	}
	for _, m := range mediaAttrs {
		names = append(names, m.attr)
	}
	for _, k := range kindAttrs {
		names = append(names, k.name)
	}
	set := make(map[string]bool)
	for _, name := range names {
		set[name] = true
	}
	return set
}
