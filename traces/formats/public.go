package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"wavetank/traces"
)

// public lists what is published of other people's traffic, and the workload
// files of other people's simulators and load generators.
var public = []Format{
	bailian, weka, tracelab, tracelabReplay, ragpulse, aiperf, mooncakeDelta, agenticMooncake,
	splitwise, vidur, llmServingSim, conversations,
}

// noPredecessor says that a request waits for no other, which nil would not.
var noPredecessor = []uint64{}

// decodeRow reads a JSON object into v and says which field is of the wrong kind.
func decodeRow(row []byte, v any) error {
	err := json.Unmarshal(row, v)
	if err == nil {
		return nil
	}
	var bad *rowError
	if errors.As(err, &bad) {
		return bad
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		return inField(kind.Field, rejectf(BadValue, "a %s is not of this field's kind", kind.Value))
	}
	return rejectf(BadJSON, "%w", err)
}

// needKeys tells which of the names an object lacks.
func needKeys(keys map[string]json.Token, names ...string) error {
	for _, name := range names {
		if _, ok := keys[name]; !ok {
			return errors.New("the first row lacks the key " + strconv.Quote(name))
		}
	}
	return nil
}

// setUnlessNull is setTokens for a field that may be missing.
func setUnlessNull(o *traces.Opt[int32], raw json.RawMessage) error {
	if b := unquote(raw); !isUnknown(b) {
		return setTokens(o, b)
	}
	return nil
}

// setText is words.set for what hardly comes twice.
func setText(o *traces.Opt[string], b []byte) error {
	if isUnknown(b) {
		return nil
	}
	if !utf8.Valid(b) {
		return rejectf(BadValue, "%q is not UTF-8", clip(b))
	}
	*o = traces.Some(string(b))
	return nil
}

// parseRounded is parseDecimal for what was a float once: 5.8926549999999995 s
// was 5.892655 s, and 2.6e-05 s is 26 µs. It rounds to the nanosecond.
func parseRounded(b []byte, unit int64) (int64, error) {
	b = bytes.TrimSpace(b)
	if bytes.ContainsAny(b, "eE") {
		return parseExponent(b, unit)
	}
	ns, err := parseDecimal(b, unit)
	if err != nil {
		return 0, err
	}
	_, fraction, _ := bytes.Cut(b, []byte("."))
	decimals := len(strconv.FormatInt(unit, 10)) - 1
	if len(fraction) > decimals && fraction[decimals] >= '5' {
		ns++
	}
	return ns, nil
}

func parseExponent(b []byte, unit int64) (int64, error) {
	f, err := strconv.ParseFloat(string(b), 64)
	f *= float64(unit)
	switch {
	case err != nil || math.IsNaN(f):
		return 0, rejectf(BadTime, "%q is not a number", clip(b))
	case f < 0:
		return 0, rejectf(Negative, "%s is negative", clip(b))
	case f >= math.MaxInt64:
		return 0, rejectf(TooLarge, "%s is out of range", clip(b))
	}
	return int64(math.Round(f)), nil
}

// warnNoArrival marks a row of which nobody knows when it came.
const warnNoArrival = "no arrival is known, and 0 was written: replay them in a closed loop, or fit their lengths only"

// setSizes sets what rows in the keys of Mooncake have, where timestamp is seconds
// with a fraction: the arrival and the two lengths.
func setSizes(rec *traces.Record, timestamp, input, output json.RawMessage) error {
	ns, err := parseRounded(unquote(timestamp), 1e9)
	if err != nil {
		return inField("timestamp", err)
	}
	rec.Arrival = time.Duration(ns)
	if err := setTokens(&rec.PromptTokens, unquote(input)); err != nil {
		return inField("input_length", err)
	}
	return inField("output_length", setTokens(&rec.OutputTokens, unquote(output)))
}
