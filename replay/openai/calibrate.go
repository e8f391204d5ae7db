package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"wavetank/traces"
)

// Models returns the names of the models that the server lists, and none where it
// has no such list.
func (t *Target) Models(ctx context.Context) ([]string, error) {
	resp, err := t.client.RoundTrip(t.request(ctx, http.MethodGet, "/models", nil))
	if err != nil {
		return nil, fmt.Errorf("list the models of %s: %w", t.base.Host, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	switch {
	case err != nil:
		return nil, fmt.Errorf("list the models of %s: %w", t.base.Host, err)
	case slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, resp.StatusCode):
		return nil, nil
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("list the models of %s: %s: %s", t.base.Host, resp.Status, t.said(body))
	}
	var list struct {
		Data []struct{ ID string }
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("list the models of %s: no list of models came: %s", t.base.Host, t.said(body))
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

// calibrationTokens is long enough to be told from the least that a template adds
// and short enough for any model.
const calibrationTokens = 64

// Calibrate asks for one token after a prompt of a known length, and returns how
// many tokens the server counted beyond it: its chat template and whatever else
// it puts around every prompt. From then on prompts are shorter by as much, so
// that prompt_tokens come out as recorded. It fails where the model of the options
// is not among those that the server lists, where the request fails, and where the
// server does not say what it counted; it must not be called while a run goes on.
//
// What the server puts before a prompt also moves the blocks of the trace by as
// much against its own, so that of a shared prefix at most one block less is found.
//
// That the addition is one constant was seen on four llama-server tokenizers and
// ollama (0 to 35 tokens); what each answer's usage says stays the judge.
func (t *Target) Calibrate(ctx context.Context) (overhead int, err error) {
	names, err := t.Models(ctx)
	if err != nil {
		return 0, err
	}
	if len(names) > 0 && !slices.Contains(names, t.o.Model) {
		return 0, fmt.Errorf("model %q is not served by %s: name one of %s", t.o.Model, t.base.Host, strings.Join(names, ", "))
	}
	t.overhead.Store(0)
	c := t.prepare(ctx, &traces.Request{
		Seq:          math.MaxUint64,
		PromptTokens: traces.Some[int32](calibrationTokens),
		OutputTokens: traces.Some[int32](1),
	})
	c.Send()
	overhead, err = c.overhead(c.Wait())
	if err != nil {
		return 0, fmt.Errorf("calibrate the prompts for %s: %w", t.base.Host, err)
	}
	t.overhead.Store(int64(overhead))
	return overhead, nil
}

// overhead returns what was added to the prompt of a calibration.
func (c *call) overhead(out traces.Outcome) (int, error) {
	if out.Status != traces.OK && out.Status != traces.Empty {
		return 0, fmt.Errorf("the request ended as %s: %s %s", out.Status, out.Error.V, c.detail)
	}
	if !out.PromptTokensSeen.Known {
		return 0, errors.New("the server does not say how long the prompt was (usage.prompt_tokens)")
	}
	seen := int(out.PromptTokensSeen.V)
	if seen < calibrationTokens {
		return 0, fmt.Errorf("the server counted %d tokens in a prompt of %d: it cuts prompts, or its vocabulary is not one in which the words are tokens", seen, calibrationTokens)
	}
	return seen - calibrationTokens, nil
}

// said returns as much of what the server said as helps a reader, without the key,
// which some servers repeat.
func (t *Target) said(text []byte) string {
	hidden := t.o.Key.hide(string(text))
	return hidden[:min(len(hidden), 200)]
}
