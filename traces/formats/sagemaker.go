package formats

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"wavetank/traces"
)

// sagemaker reads what the data capture of SageMaker endpoints writes, where they
// speak the API of OpenAI. It knows no durations, and does not say of what its one
// time is. The output is as long as its usage says: max_tokens is only a limit.
var sagemaker = Format{
	Name:     "sagemaker",
	About:    "SageMaker data capture of endpoints with OpenAI's API (JSONL)",
	Sniff:    sniffSageMaker,
	document: openSageMaker,
}

const sageMakerNote = "sagemaker: inferenceTime, which the vendor does not define further, is taken for the arrival; it has whole seconds"

func sniffSageMaker(head []byte) error {
	keys, err := sniffKeys(head)
	if err != nil {
		return err
	}
	return needKeys(keys, "captureData", "eventMetadata")
}

type sageMakerRow struct {
	Data struct {
		Input  *sageMakerPart `json:"endpointInput"`
		Output *sageMakerPart `json:"endpointOutput"`
	} `json:"captureData"`
	Meta struct {
		ID   string `json:"eventId"`
		Time string `json:"inferenceTime"`
	} `json:"eventMetadata"`
}

type sageMakerPart struct {
	Data     string `json:"data"`
	Encoding string `json:"encoding"`
}

// text returns what was captured, and nil where nothing was, or a table.
func (p *sageMakerPart) text(field string) ([]byte, error) {
	if p == nil || p.Encoding == "CSV" {
		return nil, nil
	}
	if p.Encoding != "BASE64" {
		return []byte(p.Data), nil
	}
	text, err := base64.StdEncoding.DecodeString(p.Data)
	if err != nil {
		return nil, inField(field, rejectf(BadValue, "%w", err))
	}
	return text, nil
}

func openSageMaker(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("sagemaker"); err != nil {
		return document{}, err
	}
	in.absolute, in.bodies = true, true
	in.meta.Notes = append(in.meta.Notes, sageMakerNote)
	return document{parse: func(line []byte, out *outlet) error {
		var row sageMakerRow
		if err := decodeRow(line, &row); err != nil {
			return err
		}
		rec, ok, err := row.record(in)
		switch {
		case err != nil:
			return err
		case ok:
			if !o.KeepBodies {
				rec.Body = nil
			}
			out.emit(rec)
		default:
			out.skip(1)
		}
		return nil
	}}, nil
}

// record makes a request of a capture, if it is one of a language model.
func (r *sageMakerRow) record(in *input) (rec traces.Record, ok bool, err error) {
	stamp, err := in.stamp("eventMetadata.inferenceTime", r.Meta.Time)
	if err != nil {
		return rec, false, err
	}
	rec.Arrival = time.Duration(stamp)
	rec.ID = textOf(r.Meta.ID)
	input, err := r.Data.Input.text("captureData.endpointInput.data")
	if err != nil {
		return rec, false, err
	}
	output, err := r.Data.Output.text("captureData.endpointOutput.data")
	if err != nil {
		return rec, false, err
	}
	if len(input) > 0 {
		rec.Body = input
	}
	asked, err := askedChat(&rec, input)
	if err != nil {
		return rec, false, err
	}
	answered, err := answeredChat(&rec, output)
	if err != nil {
		return rec, false, err
	}
	if asked && !answered {
		in.warn("nothing tells how long the prompt and the answer were")
	}
	return rec, asked || answered, nil
}

// askedChat takes the body of a request to a chat or completions endpoint, or
// reports that it is none.
func askedChat(rec *traces.Record, body []byte) (ok bool, err error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return false, nil
	}
	switch {
	case fields["messages"] != nil:
		rec.Endpoint = traces.Some("chat")
	case fields["prompt"] != nil:
		rec.Endpoint = traces.Some("completions")
	default:
		return false, nil
	}
	if model := unquote(fields["model"]); !isUnknown(model) {
		rec.Model = textOf(string(model))
	}
	if stream := string(fields["stream"]); stream == "true" || stream == "false" {
		rec.Stream = traces.Some(stream == "true")
	}
	rec.Params = sampling(fields)
	return true, errors.Join(
		setCount(&rec.MaxTokens, "max_tokens", fields["max_tokens"]),
		setCount(&rec.MaxTokens, "max_completion_tokens", fields["max_completion_tokens"]))
}

// A chatUsage is the usage of chat completions.
type chatUsage struct {
	Prompt json.RawMessage `json:"prompt_tokens"`
	Output json.RawMessage `json:"completion_tokens"`
	In     struct {
		Cached json.RawMessage `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning json.RawMessage `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// A chatAnswer is an answer, or an event of one that was streamed.
type chatAnswer struct {
	Model   string     `json:"model"`
	Usage   *chatUsage `json:"usage"`
	Choices []struct {
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

// answeredChat takes an answer, whole or as the events of a stream, and reports
// whether it tells its usage.
func answeredChat(rec *traces.Record, body []byte) (bool, error) {
	var finish string
	answered := false
	for _, event := range events(body) {
		var a chatAnswer
		if json.Unmarshal(event, &a) != nil {
			continue // the [DONE] of a stream, or no answer of a model
		}
		if !rec.Model.Known {
			rec.Model = textOf(a.Model)
		}
		if len(a.Error) > 0 && string(a.Error) != "null" {
			setHTTPFailure(&rec.Outcome, 0)
		}
		for _, c := range a.Choices {
			if c.Finish != "" {
				finish = c.Finish
			}
		}
		if a.Usage == nil {
			continue
		}
		answered = true
		if err := a.fill(rec); err != nil {
			return false, err
		}
	}
	setFinish(rec, finish)
	return answered, nil
}

func (a *chatAnswer) fill(rec *traces.Record) error {
	u := a.Usage
	err := errors.Join(
		setCount(&rec.PromptTokens, "usage.prompt_tokens", u.Prompt),
		setCount(&rec.OutputTokens, "usage.completion_tokens", u.Output),
		setCount(&rec.Outcome.CachedTokens, "usage.prompt_tokens_details.cached_tokens", u.In.Cached),
		setCount(&rec.ReasoningTokens, "usage.completion_tokens_details.reasoning_tokens", u.Out.Reasoning))
	usageSeen(rec)
	return err
}

// events returns the data of server-sent events, or else the body as it is.
func events(body []byte) (data [][]byte) {
	for line := range bytes.Lines(body) {
		if event, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimSpace(event))
		}
	}
	if data == nil {
		return [][]byte{body}
	}
	return data
}
