package openai

import (
	"encoding/json"
	"errors"
	"iter"
	"strconv"

	"wavetank/synth/prompt"
	"wavetank/traces"
)

// The classes of what cannot be rendered.
var (
	errEndpoint = errors.New("endpoint")
	errBody     = errors.New("body")
	errParams   = errors.New("params")
	errModel    = errors.New("model")
)

// lengths are the fields by which each dialect fixes the length of an answer.
var lengths = map[Dialect]func(tokens string) map[string]string{
	VLLM: func(tokens string) map[string]string {
		return map[string]string{"max_tokens": tokens, "min_tokens": tokens, "ignore_eos": "true"}
	},
	OpenAI: func(tokens string) map[string]string { return map[string]string{"max_tokens": tokens} },
}

// render returns the body of req and where it goes: the kept body as it is, but
// for the model's name; or else one made of its token counts and blocks.
func (t *Target) render(req *traces.Request) (API, []byte, error) {
	if req.Body == nil {
		body, err := t.compose(req)
		return t.o.API, body, err
	}
	api := API(req.Endpoint.Or(string(t.o.API)))
	if paths[api] == "" {
		return "", nil, errEndpoint
	}
	if !speaks[api](req.Body) {
		return "", nil, errBody
	}
	body, err := renameModel(req.Body, t.o.Model)
	return api, body, err
}

// compose makes a body. Recorded parameters are sent too, where they do not
// contradict what the row says beside them.
func (t *Target) compose(req *traces.Request) ([]byte, error) {
	model := t.o.Model
	if model == "" {
		model = req.Model.V
	}
	if model == "" {
		return nil, errModel
	}
	name, err := json.Marshal(model)
	if err != nil {
		return nil, errModel
	}
	fields := map[string]json.RawMessage{}
	if req.Params.Known && json.Unmarshal([]byte(req.Params.V), &fields) != nil {
		return nil, errParams
	}
	for _, ours := range []string{"messages", "prompt", "max_completion_tokens", "max_tokens", "min_tokens", "ignore_eos", "stream_options"} {
		delete(fields, ours)
	}
	for k, v := range lengths[t.o.Dialect](strconv.Itoa(int(req.OutputTokens.V))) {
		fields[k] = json.RawMessage(v)
	}
	fields["model"] = name
	fields["stream"] = json.RawMessage(strconv.FormatBool(req.Stream.Or(true)))
	if req.Stream.Or(true) {
		fields["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	}
	return t.join(fields, req)
}

// join writes the fields in the order of their names, and the prompt after them.
func (t *Target) join(fields map[string]json.RawMessage, req *traces.Request) ([]byte, error) {
	head, err := json.Marshal(fields)
	if err != nil {
		return nil, errParams
	}
	const wordBytes = 7 // of a word and its space, rounded up
	body := make([]byte, 0, len(head)+64+wordBytes*int(max(0, req.PromptTokens.V)))
	body = append(append(body, head[:len(head)-1]...), ',')
	if t.o.API == Completions {
		body = t.appendPrompt(append(body, `"prompt":"`...), req)
		return append(body, `"}`...), nil
	}
	body = t.appendPrompt(append(body, `"messages":[{"role":"user","content":"`...), req)
	return append(body, `"}]}`...), nil
}

// appendPrompt appends a prompt that is as long as the recorded one once the server
// has added what it adds. A request shorter than that addition gets one word.
func (t *Target) appendPrompt(body []byte, req *traces.Request) []byte {
	return prompt.AppendText(body, prompt.Spec{
		Salt:        t.o.Salt,
		Tokens:      max(1, int(req.PromptTokens.V)-int(t.overhead.Load())),
		Blocks:      ids(req.Blocks),
		BlockTokens: t.o.BlockTokens,
		Unique:      req.Seq,
	})
}

func ids(runs []traces.BlockRun) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, r := range runs {
			for i := range uint64(r.Len) {
				if !yield(r.Start + i) {
					return
				}
			}
		}
	}
}
