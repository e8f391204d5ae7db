package formats

import (
	"encoding/json"
	"errors"
	"io"
)

// inferencePerf reads the traces of inference-perf's replay, which look like OTLP
// and are not: an object with a list of spans, whose attributes are plain JSON and
// whose times are dates. A file is one such object, or a line is.
var inferencePerf = Format{
	Name:     "inference-perf",
	About:    "traces for inference-perf's replay: JSON objects with a list of spans",
	Sniff:    sniffInferencePerf,
	document: openInferencePerf,
	whole:    true,
}

func sniffInferencePerf(head []byte) error {
	keys, err := keysOf(firstObject(head))
	if err != nil {
		return errNotJSON
	}
	if keys["spans"] != json.Delim('[') {
		return errors.New("the first object lacks the key \"spans\" with a list")
	}
	return nil
}

func openInferencePerf(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("inference-perf"); err != nil {
		return document{}, err
	}
	if in.lines.max == defaultMaxLine {
		in.lines.max = maxMessage
	}
	head, err := in.lines.r.Peek(headBytes)
	if err != nil && err != io.EOF {
		return document{}, err
	}
	in.lines.whole = spansManyLines(head)
	r := &perfReader{newSpanReader(in)}
	return document{parse: r.parse, finish: r.finish}, nil
}

type perfReader struct{ *spanReader }

type perfSpan struct {
	TraceID      string  `json:"trace_id"`
	SpanID       string  `json:"span_id"`
	ParentSpanID *string `json:"parent_span_id"`
	Name         string
	Kind         string
	StartTime    string `json:"start_time"`
	EndTime      string `json:"end_time"`
	Attributes   map[string]json.RawMessage
	Resource     map[string]json.RawMessage `json:"resource_attributes"`
	Status       struct{ Code json.RawMessage }
}

func (r *perfReader) parse(doc []byte, out *outlet) error {
	return eachJSON(doc, func(raw json.RawMessage) error {
		var v struct {
			TraceID string `json:"trace_id"`
			Spans   *[]json.RawMessage
		}
		if err := unmarshal(raw, &v); err != nil {
			return err
		}
		if v.Spans == nil {
			return inField("spans", rejectf(MissingField, "not there"))
		}
		for _, raw := range *v.Spans {
			sp, err := r.decode(raw)
			if sp.trace == "" {
				sp.trace = v.TraceID
			}
			if err := r.take(raw, &sp, err, out); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *perfReader) decode(raw json.RawMessage) (sp otelSpan, err error) {
	var v perfSpan
	if err := unmarshal(raw, &v); err != nil {
		return sp, err
	}
	sp = otelSpan{
		trace: v.TraceID, id: v.SpanID, name: v.Name,
		server: v.Kind == "SPAN_KIND_SERVER", failed: isEnum(v.Status.Code, "2", "ERROR"),
	}
	if v.ParentSpanID != nil {
		sp.parent = *v.ParentSpanID
	}
	if sp.start, err = r.in.clock.parse([]byte(v.StartTime)); err != nil {
		return sp, inField("start_time", err)
	}
	if v.EndTime != "" {
		if sp.end, err = r.in.clock.parse([]byte(v.EndTime)); err != nil {
			return sp, inField("end_time", err)
		}
	}
	if sp.resource, err = plainAttributes(v.Resource); err != nil {
		return sp, err
	}
	sp.attrs, err = plainAttributes(v.Attributes)
	return sp, err
}

func plainAttributes(fields map[string]json.RawMessage) (attributes, error) {
	attrs := make(attributes)
	for name, raw := range fields {
		if !isWanted(name) {
			continue
		}
		v, err := plainValue(raw)
		if err != nil {
			return nil, inField(name, err)
		}
		attrs[name] = v
	}
	return attrs, nil
}
