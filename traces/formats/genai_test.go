package formats

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"wavetank/traces"
)

// attrsWith makes the attributes of a chat from pairs of names and values.
func attrsWith(pairs ...any) map[string]any {
	attrs := map[string]any{"gen_ai.operation.name": "chat"}
	for i := 0; i < len(pairs); i += 2 {
		attrs[pairs[i].(string)] = pairs[i+1]
	}
	return attrs
}

// oneSpan reads a span of a second.
func oneSpan(t testing.TB, attrs map[string]any) (traces.Record, traces.Source) {
	t.Helper()
	recs, src := spans(t, testSpan{id: "0a", name: "x", ms: 1000, attrs: attrs})
	if len(recs) != 1 {
		t.Fatalf("%v: %d requests", attrs, len(recs))
	}
	return recs[0], src
}

// Every name in the tables fills its column, alone.
func TestEveryAttribute(t *testing.T) {
	plain, _ := oneSpan(t, attrsWith())
	seen := map[string]string{}
	for _, c := range append(append([]spanColumn{}, spanColumns...), identityColumns...) {
		for _, attr := range c.attrs {
			if other, twice := seen[attr]; twice {
				t.Errorf("%s fills %s and %s", attr, other, c.name)
			}
			seen[attr] = c.name
			values := map[Kind]any{Count: 7, Text: "w", Bool: true, Duration: 500 / float64(c.unit/1e6+1)}
			attrs := attrsWith(attr, values[columnNamed(c.name).Kind])
			if key, ok := strings.CutPrefix(attr, invocation); ok {
				attrs = attrsWith(invocationAttr, fmt.Sprintf(`{"model": "m", %q: %v}`, key, values[columnNamed(c.name).Kind]))
			}
			rec, _ := oneSpan(t, attrs)
			if reflect.DeepEqual(rec, plain) {
				t.Errorf("%s does not fill %s", attr, c.name)
			}
		}
	}
}

// A span is a request if it says so, by any of the conventions, and nothing else is.
func TestWhatIs(t *testing.T) {
	usage := func(pairs ...any) map[string]any {
		attrs := attrsWith(append(pairs, "gen_ai.usage.input_tokens", 5)...)
		if len(pairs) > 0 {
			delete(attrs, "gen_ai.operation.name")
			attrs[pairs[0].(string)] = pairs[1]
		}
		return attrs
	}
	for _, tt := range []struct {
		name     string
		attrs    map[string]any
		endpoint string // "-": no request
	}{
		{"chat m", usage(), "chat"},
		{"x", usage("gen_ai.operation.name", "generate_content"), "chat"},
		{"x", usage("gen_ai.operation.name", "text_completion"), "completions"},
		{"x", usage("gen_ai.operation.name", "embeddings"), "embeddings"},
		{"x", usage("gen_ai.operation.name", "invoke_agent"), "-"},
		{"x", usage("gen_ai.operation.name", "execute_tool"), "-"},
		{"x", usage("gen_ai.operation.name", "invoke_workflow"), "-"},
		{"x", usage("gen_ai.operation.name", "a_new_one"), ""},
		{"x", usage("openinference.span.kind", "LLM"), ""},
		{"x", usage("openinference.span.kind", "EMBEDDING"), "embeddings"},
		{"x", usage("openinference.span.kind", "AGENT"), "-"},
		{"x", usage("openinference.span.kind", "RERANKER"), "-"},
		{"x", usage("traceloop.span.kind", "workflow"), "-"},
		{"x", usage("traceloop.span.kind", "unknown"), ""},
		{"x", usage("llm.request.type", "completion"), "completions"},
		{"x", usage("llm.request.type", "rerank"), "-"},
		{"x", usage("ai.operationId", "ai.streamText.doStream"), "chat"},
		{"x", usage("ai.operationId", "ai.embedMany.doEmbed"), "embeddings"},
		{"x", usage("ai.operationId", "ai.streamText"), "-"},
		{"x", usage("ai.operationId", "ai.toolCall"), "-"},
		{"llm_request", map[string]any{"gen_ai.usage.prompt_tokens": 5}, ""},
		{"invoke_agent desk", map[string]any{"gen_ai.usage.input_tokens": 5}, "-"},
		{"chat m", map[string]any{"gen_ai.request.model": "m"}, "-"},
		{"POST /v1/chat/completions", map[string]any{"http.response.status_code": 200}, "-"},
	} {
		recs, src := spans(t, testSpan{id: "0a", name: tt.name, ms: 1, attrs: tt.attrs})
		got := "-"
		if len(recs) == 1 {
			got = recs[0].Endpoint.V
		}
		if got != tt.endpoint || src.Read != 1 || (src.Rejected[NotARequest] == 1) != (got == "-") {
			t.Errorf("%s %v: %q, want %q; %+v", tt.name, tt.attrs, got, tt.endpoint, src)
		}
	}
}

// The prompt holds what came from a cache, and the output the reasoning, whatever
// a provider counts in and what beside.
func TestSpanAccounting(t *testing.T) {
	const in, out, total = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.total_tokens"
	const read, wrote, thought = "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.reasoning.output_tokens"
	for name, tt := range map[string]struct {
		attrs          map[string]any
		prompt, output int32
		warning        string
	}{
		"all is in the whole":               {attrsWith(in, 1000, read, 800, out, 50, thought, 20, total, 1050), 1000, 50, ""},
		"no total":                          {attrsWith(in, 1000, read, 800, out, 50, thought, 20), 1000, 50, ""},
		"the cache is beside, by the total": {attrsWith(in, 2892, read, 29000, wrote, 380, out, 77, total, 32349), 32272, 77, ""},
		"a small cache beside":              {attrsWith(in, 2892, read, 100, out, 77, total, 3069), 2992, 77, ""},
		"the cache is beside, by its size":  {attrsWith(in, 12, read, 29000, out, 77), 29012, 77, "cached tokens"},
		"reasoning is beside":               {attrsWith(in, 24, out, 378, thought, 1029, total, 1431), 24, 1407, ""},
		"reasoning is beside, by its size":  {attrsWith(in, 24, out, 378, thought, 1029), 24, 1407, "reasoning tokens"},
		"both are beside":                   {attrsWith(in, 10, read, 5, out, 20, thought, 7, total, 42), 15, 27, ""},
		"a total of something else":         {attrsWith(in, 10, out, 20, total, 99), 10, 20, "total tokens"},
	} {
		rec, src := oneSpan(t, tt.attrs)
		if rec.PromptTokens.V != tt.prompt || rec.OutputTokens.V != tt.output || rec.Outcome.OutputTokensSeen.V != tt.output {
			t.Errorf("%s: %d in, %d out; want %d, %d", name, rec.PromptTokens.V, rec.OutputTokens.V, tt.prompt, tt.output)
		}
		if warnings := strings.Join(src.Warnings, ";"); !strings.Contains(warnings, tt.warning) || (tt.warning == "") != (warnings == "") {
			t.Errorf("%s: warnings %q, want %q", name, warnings, tt.warning)
		}
	}
	if rec, _ := oneSpan(t, attrsWith(in, -1, out, "-", "gen_ai.request.max_tokens", "None")); rec.PromptTokens.Known || rec.OutputTokens.Known || rec.MaxTokens.Known {
		t.Errorf("words for unknown: %+v", rec)
	}
}

// How a request ended is in its status code, its error's name, or its finish.
func TestSpanEndings(t *testing.T) {
	const finish, errType, code = "gen_ai.response.finish_reasons", "error.type", "http.response.status_code"
	for _, tt := range []struct {
		attrs  map[string]any
		status traces.Status
		class  string
		finish string
	}{
		{attrsWith(), traces.OK, "", ""},
		{attrsWith(code, 200, finish, []any{"stop", "length"}), traces.OK, "", "stop"},
		{attrsWith(finish, []any{"end_turn"}), traces.OK, "", "stop"},
		{attrsWith(finish, `["tool_use"]`), traces.OK, "", "tool_calls"},
		{attrsWith("ai.response.finishReason", "content-filter"), traces.OK, "", "content_filter"},
		{attrsWith(finish, "abort"), traces.Cancelled, "", "abort"},
		{attrsWith("gen_ai.usage.input_tokens", 5, "gen_ai.usage.output_tokens", 0), traces.Empty, "", ""},
		{attrsWith("gen_ai.usage.input_tokens", 0, "gen_ai.usage.output_tokens", 0), traces.OK, "", ""},
		{attrsWith(errType, "429"), traces.Rejected, "http_429", ""},
		{attrsWith(errType, "500"), traces.Error, "http_5xx", ""},
		{attrsWith(code, 404), traces.Error, "http_4xx", ""},
		{attrsWith(code, 499), traces.Cancelled, "", ""},
		{attrsWith(errType, "openai.RateLimitError"), traces.Rejected, "http_429", ""},
		{attrsWith(errType, "java.net.SocketTimeoutException"), traces.Timeout, "timeout", ""},
		{attrsWith(errType, "context canceled"), traces.Cancelled, "", ""},
		{attrsWith(errType, "httpx.ConnectError"), traces.Error, "connect", ""},
		{attrsWith(errType, "_OTHER"), traces.Error, ErrorFailed, ""},
		{attrsWith(errType, "ValueError"), traces.Error, "ValueError", ""},
	} {
		rec, _ := oneSpan(t, tt.attrs)
		if o := rec.Outcome; o.Status != tt.status || o.Error.V != tt.class || o.FinishReason.V != tt.finish {
			t.Errorf("%v: %s %q %q, want %+v", tt.attrs, o.Status, o.Error.V, o.FinishReason.V, tt)
		}
	}
	rec, _ := oneSpan(t, attrsWith(errType, "500", "gen_ai.usage.input_tokens", 0, "gen_ai.usage.output_tokens", 0))
	if rec.PromptTokens.Known || rec.OutputTokens.Known || rec.Outcome.TokenBasis.Known {
		t.Errorf("a failure that counted nothing: %+v", rec)
	}
}

// Parameters keep their types, and go by the API's own names.
func TestSpanParams(t *testing.T) {
	for _, tt := range []struct {
		attrs map[string]any
		want  string
	}{
		{attrsWith(), ""},
		{attrsWith("gen_ai.request.temperature", 0.7, "gen_ai.request.seed", 7, "gen_ai.request.choice.count", 2), `{"n":2,"seed":7,"temperature":0.7}`},
		{attrsWith("gen_ai.request.stop_sequences", []any{"a\"b", "c"}), `{"stop":["a\"b","c"]}`},
		{attrsWith("ai.settings.topP", "0.25", "ai.settings.maxRetries", 2), `{"top_p":0.25}`},
		{attrsWith(invocationAttr, `{"model": "m", "messages": [{"content": "secret"}], "temperature": 1e-2, "stop": ["x"], "max_tokens": 9}`), `{"stop":["x"],"temperature":0.01}`},
		{attrsWith(invocationAttr, `no JSON`), ""},
		{attrsWith("gen_ai.request.temperature", 0.5, invocationAttr, `{"temperature": 1}`), `{"temperature":0.5}`},
	} {
		rec, _ := oneSpan(t, tt.attrs)
		if rec.Params.V != tt.want || rec.Params.Known != (tt.want != "") {
			t.Errorf("%v: %s, want %s", tt.attrs, rec.Params.V, tt.want)
		}
	}
}

// Seconds with an exponent are seconds; what cannot be a stage of its span is not.
func TestSpanLatencies(t *testing.T) {
	const queue, decode, first = "gen_ai.latency.time_in_queue", "gen_ai.latency.time_in_model_decode", "gen_ai.response.time_to_first_chunk"
	rec, src := oneSpan(t, attrsWith(decode, 4.4e-05, queue, 0.0, first, "0.25"))
	if o := rec.Outcome; o.Decode.V != 44*time.Microsecond || o.Queue != traces.Some(time.Duration(0)) || o.FirstToken.V != 250*time.Millisecond || len(src.Warnings) > 0 {
		t.Errorf("%+v, %q", o, src.Warnings)
	}
	rec, src = oneSpan(t, attrsWith(decode, 1.001, queue, -0.5, first, "soon"))
	if o := rec.Outcome; o.Decode.Known || o.Queue.Known || o.FirstToken.Known || len(src.Warnings) != 2 {
		t.Errorf("%+v, %q", o, src.Warnings)
	}
}

// A service that asks is an application, one that is asked is a worker.
func TestSpanVantage(t *testing.T) {
	const span = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s"}},{"key":"service.instance.id","value":{"stringValue":"i"}}]},` +
		`"scopeSpans":[{"spans":[{"traceId":"01","spanId":"02","kind":%s,"startTimeUnixNano":"1760000000000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}]}]}]}`
	for kind, want := range map[string][3]string{"3": {"s", "", "client"}, `"SPAN_KIND_CLIENT"`: {"s", "", "client"}, "2": {"", "i", "server"}, `"SPAN_KIND_SERVER"`: {"", "i", "server"}} {
		recs, meta, err := read(fmt.Sprintf(span, kind), Options{})
		if err != nil || len(recs) != 1 {
			t.Fatal(recs, err)
		}
		if got := [3]string{recs[0].App.V, recs[0].Outcome.Worker.V, meta.Vantage}; got != want || recs[0].Outcome.End.Known {
			t.Errorf("kind %s: %q, want %q; end %v", kind, got, want, recs[0].Outcome.End)
		}
	}
}
