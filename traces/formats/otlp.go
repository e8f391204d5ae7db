package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"wavetank/traces"
)

// otlp reads spans as OpenTelemetry's protocol carries them, whose attributes
// tell of requests: JSON, one message a line or a file of them, and protobuf, one
// message or, as the Collector's file exporter writes, many. Spans are held back
// (spanTree) within a bound of memory.
var otlp = Format{
	Name:     "otlp",
	About:    "OpenTelemetry spans (OTLP) in JSON or protobuf, of GenAI, OpenLLMetry, OpenInference, Vercel AI SDK, vLLM, SGLang",
	Sniff:    sniffOTLP,
	document: openOTLP,
	whole:    true,
}

// maxMessage is the limit of a line or a message where the user has set none: an
// exporter puts thousands of spans into one.
const maxMessage = 64 << 20

func sniffOTLP(head []byte) error {
	if isFramed(head) || isMessage(head) {
		return nil
	}
	keys, err := keysOf(firstObject(head))
	if err != nil {
		return errors.New("neither a JSON object nor a message of OTLP")
	}
	if _, ok := keys["resourceSpans"]; !ok {
		return errors.New("the first object lacks the key \"resourceSpans\"")
	}
	return nil
}

// firstObject returns what begins with the first object of JSON text, which may
// stand in a list.
func firstObject(head []byte) []byte {
	head = bytes.TrimLeft(head, " \t\r\n")
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("[")), " \t\r\n")
}

// spansManyLines tells whether JSON text is laid out over many lines, so that a
// line of it is no document.
func spansManyLines(head []byte) bool {
	line := bytes.TrimSpace(firstLine(head))
	return bytes.HasPrefix(line, []byte("[")) || bytes.HasSuffix(line, []byte("{")) || bytes.HasSuffix(line, []byte("[")) || bytes.HasSuffix(line, []byte(","))
}

// otlpReader takes messages apart.
type otlpReader struct {
	*spanReader
	binary bool
}

func openOTLP(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("otlp"); err != nil {
		return document{}, err
	}
	if in.lines.max == defaultMaxLine {
		in.lines.max = maxMessage
	}
	in.source.TimeUnit, in.source.Grammar = "ns", decimalGrammar
	head, err := in.lines.r.Peek(headBytes)
	if err != nil && err != io.EOF {
		return document{}, err
	}
	framed := isFramed(head)
	r := &otlpReader{spanReader: newSpanReader(in), binary: framed || isMessage(head)}
	in.lines.whole = r.binary || spansManyLines(head)
	if framed {
		in.lines.pull = in.lines.frame
	}
	return document{parse: r.parse, finish: r.finish}, nil
}

func (r *otlpReader) parse(doc []byte, out *outlet) error {
	if bytes.HasPrefix(doc, []byte(zstdMagic)) {
		plain, err := unpack(doc)
		if err != nil {
			return rejectf(BadValue, "%w", err)
		}
		doc = plain
	}
	if r.binary && !bytes.HasPrefix(doc, []byte("{")) {
		return r.message(doc, out)
	}
	return eachJSON(doc, func(raw json.RawMessage) error { return r.request(raw, out) })
}

// zstdMagic begins a message that the Collector compressed, each on its own.
const zstdMagic = "\x28\xb5\x2f\xfd"

func unpack(stored []byte) ([]byte, error) {
	plain, _, err := traces.Decompress(bytes.NewReader(stored))
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(io.LimitReader(plain, maxDocument+1))
	if err = errors.Join(err, plain.Close()); err == nil && len(all) > maxDocument {
		err = fmt.Errorf("more than the limit of %d bytes for one message", maxDocument)
	}
	return all, err
}

// The messages of OTLP in JSON, as far as they are read. Numbers of 64 bits are
// text there, by the rules of protobuf; some exporters write numbers.
type (
	otlpRequest struct {
		ResourceSpans *[]struct {
			Resource   struct{ Attributes []otlpAttr }
			ScopeSpans []struct{ Spans []json.RawMessage }
		}
	}
	otlpSpan struct {
		TraceID, SpanID, ParentSpanID string
		Name                          string
		Kind                          json.RawMessage
		StartTimeUnixNano             json.RawMessage
		EndTimeUnixNano               json.RawMessage
		Attributes                    []otlpAttr
		Events                        []struct {
			TimeUnixNano json.RawMessage
			Name         string
			Attributes   []otlpAttr
		}
		Status struct{ Code json.RawMessage }
	}
	otlpAttr struct {
		Key   string
		Value otlpValue
	}
	otlpValue struct {
		StringValue *string
		BoolValue   *bool
		IntValue    json.RawMessage
		DoubleValue json.RawMessage
		ArrayValue  *struct{ Values []otlpValue }
	}
)

func (r *otlpReader) request(raw json.RawMessage, out *outlet) error {
	var req otlpRequest
	if err := unmarshal(raw, &req); err != nil {
		return err
	}
	if req.ResourceSpans == nil {
		return inField("resourceSpans", rejectf(MissingField, "not there: is this a message of spans?"))
	}
	for _, rs := range *req.ResourceSpans {
		resource := attributesOf(rs.Resource.Attributes)
		for _, ss := range rs.ScopeSpans {
			for _, raw := range ss.Spans {
				sp, err := decodeSpan(raw)
				sp.resource = resource
				if err := r.take(raw, &sp, err, out); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func decodeSpan(raw json.RawMessage) (sp otelSpan, err error) {
	var v otlpSpan
	if err := unmarshal(raw, &v); err != nil {
		return sp, err
	}
	sp = otelSpan{
		trace: v.TraceID, id: v.SpanID, parent: v.ParentSpanID, name: v.Name,
		server: isEnum(v.Kind, "2", "SPAN_KIND_SERVER"), failed: isEnum(v.Status.Code, "2", "STATUS_CODE_ERROR"),
	}
	if sp.start, err = nanos("startTimeUnixNano", v.StartTimeUnixNano); err != nil {
		return sp, err
	}
	if end := unquote(v.EndTimeUnixNano); !isUnknown(end) {
		if sp.end, err = nanos("endTimeUnixNano", end); err != nil {
			return sp, err
		}
	}
	for _, e := range v.Events {
		at, err := nanos("timeUnixNano", e.TimeUnixNano)
		if err != nil {
			return sp, err
		}
		sp.events = append(sp.events, spanEvent{name: e.Name, at: at, attrs: attributesOf(e.Attributes)})
	}
	sp.attrs = attributesOf(v.Attributes)
	return sp, nil
}

func nanos(field string, raw json.RawMessage) (int64, error) {
	ns, err := parseDecimal(unquote(raw), 1)
	return ns, inField(field, err)
}

// isEnum tells whether a value of an enumeration is the one of a number or a name:
// the protocol wants numbers, and exporters write both.
func isEnum(raw json.RawMessage, number, name string) bool {
	word := string(unquote(raw))
	return word == number || word == name
}

func attributesOf(list []otlpAttr) attributes {
	attrs := make(attributes)
	for i := range list {
		if a := &list[i]; isWanted(a.Key) {
			attrs[a.Key] = a.Value.plain()
		}
	}
	return attrs
}

// plain returns a value as attributes have it, and nil for what is read nowhere:
// bytes and maps.
func (v *otlpValue) plain() any {
	switch {
	case v.StringValue != nil:
		return *v.StringValue
	case v.BoolValue != nil:
		return *v.BoolValue
	case v.IntValue != nil:
		return json.Number(unquote(v.IntValue))
	case v.DoubleValue != nil:
		return json.Number(unquote(v.DoubleValue))
	case v.ArrayValue != nil:
		list := make([]any, 0, len(v.ArrayValue.Values))
		for i := range v.ArrayValue.Values {
			list = append(list, v.ArrayValue.Values[i].plain())
		}
		return list
	}
	return nil
}
