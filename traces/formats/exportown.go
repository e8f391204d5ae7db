package formats

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wavetank/traces"
)

// parquetExport writes the trace itself.
var parquetExport = Export{
	Name:  "parquet",
	About: "the trace itself, all of it, in Parquet; wavetank reads it as a trace",
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		w, err := traces.NewParquetWriter(x.out, x.meta)
		if err != nil {
			return nil, err
		}
		x.finish = w.Close
		return w.Write, nil
	},
}

// jsonlExport writes every column, lists too, though jsonl logs have no place for
// those.
var jsonlExport = Export{
	Name:  "jsonl",
	About: "every column of a trace by its name, lists as lists (JSONL); jsonl reads back what is no list",
	begin: func(x *Exporter) (func(*traces.Record) error, error) {
		names, arrive := x.plain()
		return func(rec *traces.Record) error {
			x.line = append(x.line[:0], '{')
			x.key(names[0])
			if names[0] == "arrival" {
				x.line = append(arrive(append(x.line, '"'), rec), '"')
			} else {
				x.line = arrive(x.line, rec)
			}
			for name, v := range traces.Values(rec) {
				if name != "arrival_ns" {
					x.key(name)
					x.line = appendJSON(x.line, name, v)
				}
			}
			if !utf8.Valid(rec.Body) {
				x.lose("body", "without the bytes that are no text")
			}
			x.line = append(x.line, '}')
			return x.emit()
		}, nil
	},
}

// appendJSON writes a value as trace-format.md shapes it.
func appendJSON(b []byte, name string, v any) []byte {
	switch v := v.(type) {
	case string:
		if name == "params" && json.Valid([]byte(v)) && !strings.ContainsAny(v, "\r\n") {
			return append(b, v...)
		}
		return appendText(b, v)
	case traces.Status:
		return appendText(b, string(v))
	case []byte:
		if json.Valid(v) && v[0] == '{' && v[len(v)-1] == '}' && !bytes.ContainsAny(v, "\r\n") {
			return append(b, v...)
		}
		return appendText(b, string(v))
	case []uint64:
		return appendList(b, v, func(b []byte, v uint64) []byte { return strconv.AppendUint(b, v, 10) })
	case []time.Duration:
		return appendList(b, v, func(b []byte, v time.Duration) []byte { return appendDecimal(b, v, 1) })
	case []traces.BlockRun:
		return appendList(b, v, func(b []byte, r traces.BlockRun) []byte {
			b = strconv.AppendUint(append(b, `{"start":`...), r.Start, 10)
			return append(strconv.AppendUint(append(b, `,"len":`...), uint64(r.Len), 10), '}')
		})
	case []traces.Media:
		return appendList(b, v, func(b []byte, m traces.Media) []byte {
			b = appendText(append(b, `{"kind":`...), m.Kind)
			b = appendOpt(append(b, `,"count":`...), m.Count)
			return append(appendOpt(append(b, `,"tokens":`...), m.Tokens), '}')
		})
	case []traces.Component:
		return appendList(b, v, func(b []byte, c traces.Component) []byte {
			b = appendText(append(b, `{"kind":`...), c.Kind)
			return append(strconv.AppendInt(append(b, `,"tokens":`...), int64(c.Tokens), 10), '}')
		})
	}
	return appendPlain(b, v)
}

func appendOpt(b []byte, v traces.Opt[int32]) []byte {
	if !v.Known {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(v.V), 10)
}

func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

// appendPlain writes a number or a truth value.
func appendPlain(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case int32:
		return strconv.AppendInt(b, int64(v), 10)
	case uint64:
		return strconv.AppendUint(b, v, 10)
	case time.Duration:
		return strconv.AppendInt(b, int64(v), 10)
	}
	return b
}
