package formats

import (
	"time"

	"wavetank/traces"
)

// splitwise reads the request traces of SplitwiseSim, all of whose times are
// seconds of the simulation.
var splitwise = Format{
	Name:  "splitwise",
	About: "SplitwiseSim request traces (CSV)",
	Sniff: sniffHeader(splitwiseColumns...),
	open:  openSplitwise,
}

var splitwiseColumns = []string{"request_id", "request_type", "application_id", "arrival_timestamp", "prompt_size", "token_size"}

// generativeInference is the one request type that SplitwiseSim knows.
const generativeInference = "2"

func openSplitwise(in *input, o *Options) (parser, error) {
	if err := o.onlyGeneric("splitwise"); err != nil {
		return nil, err
	}
	t, err := readTable(in)
	if err != nil {
		return nil, err
	}
	at, err := t.columns(in, splitwiseColumns...)
	if err != nil {
		return nil, err
	}
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "s", decimalGrammar
	var apps words
	return func(row []byte, rec *traces.Record) error {
		f, err := t.split(row)
		if err != nil {
			return err
		}
		if kind := f[at[1]]; string(kind) != generativeInference {
			return inField("request_type", rejectf(BadValue, "%q is not 2, generative inference", clip(kind)))
		}
		ns, err := parseRounded(f[at[3]], 1e9)
		if err != nil {
			return inField("arrival_timestamp", err)
		}
		rec.Arrival = time.Duration(ns)
		if err := setText(&rec.ID, f[at[0]]); err != nil {
			return inField("request_id", err)
		}
		if err := apps.set(&rec.App, f[at[2]]); err != nil {
			return inField("application_id", err)
		}
		if err := setTokens(&rec.PromptTokens, f[at[4]]); err != nil {
			return inField("prompt_size", err)
		}
		return inField("token_size", setTokens(&rec.OutputTokens, f[at[5]]))
	}, nil
}
