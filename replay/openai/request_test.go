package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"wavetank/synth/prompt"
	"wavetank/traces"
)

// A sent is what came of a request at the server.
type sent struct {
	path   string
	header http.Header
	raw    string
	body   struct {
		Model     string
		Prompt    string
		Messages  []struct{ Role, Content string }
		MaxTokens int  `json:"max_tokens"`
		MinTokens int  `json:"min_tokens"`
		IgnoreEOS bool `json:"ignore_eos"`
		Stream    bool
		Options   struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Temperature float64
	}
}

// send sends req and returns what the server saw.
func send(t *testing.T, o Options, req *traces.Request) (s sent, out traces.Outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		target := serve(t, func(w http.ResponseWriter, r *http.Request) {
			s.path, s.header, s.raw = r.URL.Path, r.Header.Clone(), body(r)
			if err := json.Unmarshal([]byte(s.raw), &s.body); err != nil {
				t.Errorf("%v in %s", err, s.raw)
			}
			if r.ContentLength != int64(len(s.raw)) {
				t.Errorf("length %d of %d", r.ContentLength, len(s.raw))
			}
			stream(step{0, hello + ending + done})(w, r)
		}, o)
		out = ask(t, target, req)
	})
	return s, out
}

func TestARequestInBothAPIs(t *testing.T) {
	chat, _ := send(t, Options{Model: "m/1", Salt: "s"}, row())
	if chat.path != "/v1/chat/completions" || len(chat.body.Messages) != 1 || chat.body.Messages[0].Role != "user" || chat.body.Model != "m/1" {
		t.Errorf("%s %s", chat.path, chat.raw)
	}
	text, _ := send(t, Options{API: Completions, Salt: "s"}, row())
	if text.path != "/v1/completions" || text.body.Prompt != chat.body.Messages[0].Content || prompt.Count(text.body.Prompt) != 30 {
		t.Errorf("%s %s", text.path, text.raw)
	}
	for _, s := range []sent{chat, text} {
		if !s.body.Stream || !s.body.Options.Usage || s.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s", s.raw)
		}
		for _, h := range []string{"Idempotency-Key", "Authorization", "Accept-Encoding"} {
			if v, there := s.header[h]; there {
				t.Errorf("%s: %q", h, v)
			}
		}
	}
}

// vllm-project/aibrix#2505, #2507: the client asked every answer to be of one
// length.
func TestEveryRowAsksForItsOwnLength(t *testing.T) {
	for _, n := range []int32{1, 10, 500} {
		req := row()
		req.OutputTokens = n32(n)
		if s, _ := send(t, Options{}, req); s.body.MaxTokens != int(n) || s.body.MinTokens != int(n) || !s.body.IgnoreEOS {
			t.Errorf("%d: %s", n, s.raw)
		}
		if s, _ := send(t, Options{Dialect: OpenAI}, req); s.body.MaxTokens != int(n) || strings.Contains(s.raw, "min_tokens") || s.body.IgnoreEOS {
			t.Errorf("%d: %s", n, s.raw)
		}
	}
}

// vllm-project/vllm#17408, #24937, #10847, #24591, #42532: asked for 1 token or
// for 8,192, others sent something else, or nothing.
func TestPromptHasTheRecordedTokensLessWhatTheServerAdds(t *testing.T) {
	for _, c := range []struct{ tokens, overhead, want int }{{1, 0, 1}, {8192, 0, 8192}, {8192, 28, 8164}, {28, 28, 1}, {1, 28, 1}} {
		req := row()
		req.PromptTokens = n32(int32(c.tokens))
		if s, _ := send(t, Options{Overhead: c.overhead}, req); prompt.Count(s.body.Messages[0].Content) != c.want {
			t.Errorf("%+v: %d words", c, prompt.Count(s.body.Messages[0].Content))
		}
	}
}

// ai-dynamo/dynamo#12046: block ids that differ above 32 bits were one block.
func TestPromptsShareWhatTheirBlocksShare(t *testing.T) {
	text := func(o Options, seq uint64, blocks ...traces.BlockRun) string {
		req := row()
		req.Seq, req.Blocks = seq, blocks
		s, _ := send(t, o, req)
		return s.body.Messages[0].Content
	}
	shared := func(a, b string) int {
		x, y := strings.Fields(a), strings.Fields(b)
		n := 0
		for n < len(x) && n < len(y) && x[n] == y[n] {
			n++
		}
		return n
	}
	o := Options{Salt: "s", BlockTokens: 10}
	a := text(o, 1, traces.BlockRun{Start: 1, Len: 2})
	if n := shared(a, text(o, 2, traces.BlockRun{Start: 1, Len: 1}, traces.BlockRun{Start: 2, Len: 1})); n != 20 {
		t.Errorf("two blocks of 10 in common: %d words", n)
	}
	if n := shared(a, text(o, 1, traces.BlockRun{Start: 1 + 1<<32, Len: 2})); n > 2 {
		t.Errorf("no block in common: %d words", n)
	}
	if n := shared(a, text(Options{Salt: "r", BlockTokens: 10}, 1, traces.BlockRun{Start: 1, Len: 2})); n > 2 {
		t.Errorf("another salt: %d words", n)
	}
	if n := shared(text(Options{}, 1, traces.BlockRun{Start: 1, Len: 2}), text(Options{}, 2, traces.BlockRun{Start: 1, Len: 2})); n > 2 {
		t.Errorf("blocks of unknown length: %d words", n)
	}
}

func TestRecordedParametersAreSentUnlessTheyContradict(t *testing.T) {
	req := row()
	req.Params = traces.Some(`{"temperature":0.5,"max_tokens":9000,"stream":false,"model":"x","messages":[],"stop":["\u00e9\"]"],"n":2}`)
	s, _ := send(t, Options{}, req)
	if s.body.Temperature != 0.5 || s.body.MaxTokens != 3 || !s.body.Stream || s.body.Model != "m" || len(s.body.Messages) != 1 || strings.Count(s.raw, `"max_tokens"`) != 1 {
		t.Errorf("%s", s.raw)
	}
}

func TestAKeptBodyIsSentAsItIs(t *testing.T) {
	kept := `{ "messages": [{"role":"user","content":"x","model":"inner"}], "n" :1, "model" : "old\"name" ,"x":"model"}`
	req := &traces.Request{Body: []byte(kept), Endpoint: traces.Some("chat")}
	target, err := New(Options{BaseURL: "http://pipe", API: Completions})
	if err != nil {
		t.Fatal(err)
	}
	if api, got, err := target.render(req); err != nil || string(got) != kept || api != Chat {
		t.Errorf("%s %s %v", api, got, err)
	}
	target.o.Model = `new "name"`
	if _, got, err := target.render(req); err != nil || string(got) != strings.Replace(kept, `"old\"name"`, `"new \"name\""`, 1) {
		t.Errorf("%s %v", got, err)
	}
	req.Body = []byte(`{"messages":[]}`)
	if _, got, err := target.render(req); err != nil || string(got) != string(req.Body) {
		t.Errorf("%s %v", got, err)
	}
}

func TestWhatCannotBeRenderedIsDropped(t *testing.T) {
	for class, req := range map[string]*traces.Request{
		"endpoint": {Body: []byte("{}"), Endpoint: traces.Some("embeddings")},
		"body":     {Body: []byte(`{"model":`)},
		"params":   {Model: traces.Some("m"), PromptTokens: n32(1), OutputTokens: n32(1), Params: traces.Some("temperature=1")},
		"model":    {PromptTokens: n32(1), OutputTokens: n32(1)},
	} {
		target, err := New(Options{BaseURL: "http://pipe/v1"})
		if err != nil {
			t.Fatal(err)
		}
		if out := ask(t, target, req); !reflect.DeepEqual(out, traces.Outcome{Status: traces.Dropped, Error: traces.Some(class)}) {
			t.Errorf("%s: %+v", class, out)
		}
	}
}

// Bodies of other APIs, as gateways' logs have them, are not sent to a server that
// does not speak them: one would measure its refusals.
func TestBodiesOfOtherAPIsAreDropped(t *testing.T) {
	target, err := New(Options{BaseURL: "http://pipe/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	const chat, completions = "chat", "completions"
	for _, test := range []struct {
		endpoint, body string
		sent           bool
	}{
		{chat, `{"messages":[{"role":"system","content":"x"},{"role":"user","content":[{"type":"text","text":"x"}]}],"model":"a"}`, true},
		{chat, `{"messages":[{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"1","content":"x"}]}`, true},
		{chat, `{"messages":[{"role":"user","content":[{"text":"x"}]}],"inferenceConfig":{"maxTokens":9}}`, false}, // Converse
		{chat, `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`, false},                                     // Gemini
		{chat, `{"input":"x"}`, false},
		{chat, `{"messages":"x"}`, false},
		{chat, `{"messages":null}`, false},
		{chat, `{"messages":[{"content":"x"}]}`, false},
		{chat, `{"prompt":"x"}`, false},
		{chat, `["x"]`, false},
		{chat, `"text"`, false},
		{completions, `{"prompt":"x"}`, true},
		{completions, `{"prompt":[[1,2]],"model":"a"}`, true},
		{completions, `{"messages":[]}`, false},
		{completions, `null`, false},
	} {
		_, _, err := target.render(&traces.Request{Body: []byte(test.body), Endpoint: traces.Some(test.endpoint)})
		if (err == nil) != test.sent || err != nil && err != errBody {
			t.Errorf("%s %s: %v", test.endpoint, test.body, err)
		}
	}
}

func TestWrongOptionsAreRefusedWithoutShowingSecrets(t *testing.T) {
	for _, o := range []Options{
		{}, {BaseURL: "127.0.0.1:8000"}, {BaseURL: "ftp://h/v1"}, {BaseURL: "http://u:canary@h/v1"}, {BaseURL: "http://h/v1?key=canary"},
		{BaseURL: "http://u:canary@%zz/v1"}, {BaseURL: "ftp://u:canary@h/v1"}, {BaseURL: "http://h", API: "x"}, {BaseURL: "http://h", Dialect: "x"},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", o.BaseURL, err)
		}
	}
}

// vllm-project/guidellm#764, #912: keys were written into reports, or hidden so
// well that they were not sent.
func TestTheKeyIsSentAndNeverShown(t *testing.T) {
	const canary = "canary-0123"
	o := Options{Key: NewSecret(" " + canary + "\n"), Header: http.Header{"X-Tenant": {"t"}}}
	s, _ := send(t, o, row())
	if got := s.header.Get("Authorization"); got != "Bearer "+canary {
		t.Errorf("sent %q", got)
	}
	if s.header.Get("X-Tenant") != "t" {
		t.Errorf("%v", s.header)
	}
	target, err := New(Options{BaseURL: "http://pipe/v1", Key: o.Key})
	if err != nil {
		t.Fatal(err)
	}
	marshalled, err := json.Marshal(o.Key)
	if err != nil {
		t.Fatal(err)
	}
	hidden := struct{ key Secret }{o.Key}
	shown := []string{string(marshalled), o.Key.String(), o.Key.GoString()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{o.Key, &o.Key, o, hidden, target, *target.base} {
			shown = append(shown, fmt.Sprintf(verb, v))
		}
	}
	hex := fmt.Sprintf("%x", canary)
	if slices.ContainsFunc(shown, func(s string) bool { return strings.Contains(s, canary) || strings.Contains(s, hex) }) {
		t.Errorf("the key is in one of %q", shown)
	}
	if shown[0] != `"***"` || fmt.Sprint(o.Key) != "***" {
		t.Errorf("%q", shown[:3])
	}
}
