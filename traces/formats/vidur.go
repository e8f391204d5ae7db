package formats

import (
	"time"

	"wavetank/traces"
)

// vidur reads the traces of the simulators Vidur and Etalon, of which those made
// of corpora have no arrivals.
var vidur = Format{
	Name:  "vidur",
	About: "Vidur and Etalon traces, with or without arrived_at (CSV)",
	Sniff: sniffHeader("num_prefill_tokens", "num_decode_tokens"),
	open:  openVidur,
}

func openVidur(in *input, o *Options) (parser, error) {
	if err := o.onlyGeneric("vidur"); err != nil {
		return nil, err
	}
	t, err := readTable(in)
	if err != nil {
		return nil, err
	}
	at, err := t.columns(in, "num_prefill_tokens", "num_decode_tokens")
	if err != nil {
		return nil, err
	}
	arrived, total := t.find("arrived_at"), t.find("num_total_tokens")
	if arrived >= 0 {
		in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "s", decimalGrammar
	}
	return func(row []byte, rec *traces.Record) error {
		f, err := t.split(row)
		if err != nil {
			return err
		}
		if arrived >= 0 {
			ns, err := parseRounded(f[arrived], 1e9)
			if err != nil {
				return inField("arrived_at", err)
			}
			rec.Arrival = time.Duration(ns)
		}
		if err := setTokens(&rec.PromptTokens, f[at[0]]); err != nil {
			return inField("num_prefill_tokens", err)
		}
		if err := setTokens(&rec.OutputTokens, f[at[1]]); err != nil {
			return inField("num_decode_tokens", err)
		}
		if arrived < 0 {
			in.warn(warnNoArrival)
		}
		if total >= 0 && !isCount(f[total], rec.PromptTokens.V+rec.OutputTokens.V) {
			in.warn("num_total_tokens is not the sum of prefill and decode tokens")
		}
		return nil
	}, nil
}

func isCount(b []byte, want int32) bool {
	n, err := parseCount(b)
	return err == nil && n == want
}
