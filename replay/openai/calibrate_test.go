package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"wavetank/synth/prompt"
)

// template is a server that puts some tokens around every prompt.
func template(around int, models string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if models == "" {
				http.NotFound(w, r)
				return
			}
			io.WriteString(w, models)
			return
		}
		var req struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			panic(err)
		}
		n := around + prompt.Count(req.Messages[0].Content)
		stream(step{0, hello + ending + fmt.Sprintf("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\n", n) + done})(w, r)
	}
}

func TestCalibratedPromptsAreAsLongAsRecorded(t *testing.T) {
	for _, models := range []string{"", `{"object":"list","data":[{"id":"other"},{"id":"m"}]}`} {
		synctest.Test(t, func(t *testing.T) {
			target := serve(t, template(28, models), Options{Overhead: 3})
			if n, err := target.Calibrate(t.Context()); n != 28 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
			for _, n := range []int32{29, 100, 5000} {
				req := row()
				req.PromptTokens = n32(n)
				if out := ask(t, target, req); out.PromptTokensSeen != n32(n) {
					t.Errorf("%d tokens asked for, %d seen", n, out.PromptTokensSeen.V)
				}
			}
			req := row()
			req.PromptTokens = n32(5)
			if out := ask(t, target, req); out.PromptTokensSeen != n32(29) {
				t.Errorf("a prompt of one word: %d seen", out.PromptTokensSeen.V)
			}
		})
	}
}

func TestCalibrateSaysWhatIsWrong(t *testing.T) {
	refuse := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Error(w, text, code) }
	}
	for want, h := range map[string]http.HandlerFunc{
		"name one of a, b":  template(0, `{"data":[{"id":"a"},{"id":"b"}]}`),
		"401":               refuse(401, "Incorrect API key: canary"),
		"no list of models": template(0, "<html>"),
		"cuts prompts":      template(-40, ""),
		"does not say":      func(w http.ResponseWriter, r *http.Request) { notFoundOr(w, r, stream(step{0, hello + ending + done})) },
		"error: http_4xx no such thing ": func(w http.ResponseWriter, r *http.Request) {
			notFoundOr(w, r, refuse(422, "no such thing as ***"+repeat("x", 1000)))
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := serve(t, h, Options{Key: NewSecret("canary")})
			_, err := target.Calibrate(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") || len(err.Error()) > 400 {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

func notFoundOr(w http.ResponseWriter, r *http.Request, h http.HandlerFunc) {
	if r.Method == http.MethodGet {
		http.NotFound(w, r)
		return
	}
	h(w, r)
}
