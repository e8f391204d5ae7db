package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"wavetank/replay/openai"
	"wavetank/traces"
)

func Example() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"length"}]}

data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":1}}

data: [DONE]

`)
	}))
	defer srv.Close()
	target, err := openai.New(openai.Options{BaseURL: srv.URL + "/v1", Model: "m", Key: openai.NewSecret("from a file")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer target.Close()
	call := target.Prepare(context.Background(), &traces.Request{
		PromptTokens: traces.Some[int32](100), OutputTokens: traces.Some[int32](1),
	})
	call.Send()
	out := call.Wait()
	fmt.Println(out.Status, out.FinishReason.V, out.PromptTokensSeen.V, out.OutputTokensSeen.V, out.TokenBasis.V)
	// Output: ok length 100 1 usage
}
