package formats

import (
	"encoding/json"

	"wavetank/traces"
)

// invocationAttr is OpenInference's: all parameters as one JSON object, whose
// keys are read as attributes of their own, with the prefix invocation.
const (
	invocationAttr = "llm.invocation_parameters"
	invocation     = invocationAttr + "."
)

// params are the sampling parameters by the names that OpenAI's API has for them,
// or vLLM's, and the attributes that hold them.
var params = []struct {
	name  string
	attrs []string
}{
	{"temperature", []string{"gen_ai.request.temperature", "llm.temperature", invocation + "temperature", "ai.settings.temperature"}},
	{"top_p", []string{"gen_ai.request.top_p", "llm.top_p", invocation + "top_p", "ai.settings.topP"}},
	{"top_k", []string{"gen_ai.request.top_k", "llm.top_k", invocation + "top_k", "ai.settings.topK"}},
	{"n", []string{"gen_ai.request.choice.count", "gen_ai.request.n", invocation + "n"}},
	{"seed", []string{"gen_ai.request.seed", "gen_ai.openai.request.seed", invocation + "seed", "ai.settings.seed"}},
	{"stop", []string{"gen_ai.request.stop_sequences", "llm.chat.stop_sequences", invocation + "stop", "ai.settings.stopSequences"}},
	{"frequency_penalty", []string{"gen_ai.request.frequency_penalty", "llm.frequency_penalty", invocation + "frequency_penalty", "ai.settings.frequencyPenalty"}},
	{"presence_penalty", []string{"gen_ai.request.presence_penalty", "llm.presence_penalty", invocation + "presence_penalty", "ai.settings.presencePenalty"}},
	{"repetition_penalty", []string{"llm.request.repetition_penalty", invocation + "repetition_penalty"}},
	{"reasoning_effort", []string{invocation + "reasoning_effort"}},
	{"service_tier", []string{"openai.request.service_tier", "gen_ai.openai.request.service_tier", invocation + "service_tier"}},
}

// paramsOf returns the parameters as one JSON object, or unknown if there are none.
func paramsOf(attrs attributes) traces.Opt[string] {
	fields := make(map[string]json.RawMessage)
	for _, p := range params {
		if _, attr := attrs.text(p.attrs...); attr != "" {
			if text := attrJSON(attrs[attr]); text != nil {
				fields[p.name] = text
			}
		}
	}
	if len(fields) == 0 {
		return traces.Opt[string]{}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return traces.Opt[string]{}
	}
	return traces.Some(string(text))
}

// expandInvocation makes attributes of the parameters that came as one object.
func expandInvocation(attrs attributes) {
	text, _ := attrs[invocationAttr].(string)
	if text == "" {
		return
	}
	var fields map[string]any
	if decodeJSON([]byte(text), &fields) != nil {
		return
	}
	for name, v := range fields {
		if isWanted(invocation + name) {
			attrs[invocation+name] = v
		}
	}
}
