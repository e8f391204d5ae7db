package formats

import (
	"time"

	"wavetank/traces"
)

// azure reads the public traces of Azure's LLM services: 2023 and 2024, and 2025
// with images. Their three time grammars may be mixed. The application is known
// from the file's name only, so it is left to Options.App; nobody recorded how a
// request ended.
var azure = Format{
	Name:  "azure",
	About: "Azure LLM inference traces of 2023 and 2024, and multimodal of 2025 (CSV)",
	Sniff: sniffHeader(azureColumns...),
	open:  openAzure,
}

var azureColumns = []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}

// noMedia says that there are none, which nil would not.
var noMedia = []traces.Media{}

func openAzure(in *input, o *Options) (parser, error) {
	if err := o.onlyGeneric("azure"); err != nil {
		return nil, err
	}
	t, err := readTable(in)
	if err != nil {
		return nil, err
	}
	at, err := t.columns(in, azureColumns...)
	if err != nil {
		return nil, err
	}
	images := t.find("NumImages")
	in.absolute = true
	in.source.Stamps = "start"
	in.fork = func(in *input) parser {
		row := &azureRow{in: in, table: t.fork(), stamp: at[0], prompt: at[1], output: at[2], images: images}
		return row.parse
	}
	return in.fork(in), nil
}

// An azureRow is where the columns stand; images may be -1.
type azureRow struct {
	in                            *input
	table                         *table
	stamp, prompt, output, images int
}

func (a *azureRow) parse(row []byte, rec *traces.Record) error {
	f, err := a.table.split(row)
	if err != nil {
		return err
	}
	ns, err := a.in.clock.parse(f[a.stamp])
	if err != nil {
		return inField(azureColumns[0], err)
	}
	rec.Arrival = time.Duration(ns)
	if err := setTokens(&rec.PromptTokens, f[a.prompt]); err != nil {
		return inField(azureColumns[1], err)
	}
	if err := setTokens(&rec.OutputTokens, f[a.output]); err != nil {
		return inField(azureColumns[2], err)
	}
	if a.images < 0 {
		return nil
	}
	return inField("NumImages", setImages(rec, f[a.images]))
}

// setImages notes how many images a prompt held. Their tokens are part of the
// prompt's, and nobody knows how many.
func setImages(rec *traces.Record, b []byte) error {
	n, err := parseCount(b)
	if err != nil {
		return err
	}
	rec.Media = noMedia
	if n > 0 {
		rec.Media = []traces.Media{{Kind: "image", Count: traces.Some(n)}}
	}
	return nil
}

func setTokens(o *traces.Opt[int32], b []byte) error {
	n, err := parseTokens(b)
	if err != nil {
		return err
	}
	*o = traces.Some(n)
	return nil
}
