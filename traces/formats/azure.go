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
		row := &azureRow{in: in, table: t.fork(in), at: at, images: images, cells: make([]traces.Cell, len(azureLayout))}
		if images < 0 {
			in.layout, in.cells = azureLayout, row.read
		}
		return row.parse
	}
	return in.fork(in), nil
}

// azureLayout is what azureColumns are.
var azureLayout = []string{"arrival_ns", "prompt_tokens", "output_tokens"}

// An azureRow is where the columns stand, and their values in a row; images may be -1.
type azureRow struct {
	in     *input
	table  *table
	at     []int
	images int
	cells  []traces.Cell
}

func (a *azureRow) parse(row []byte, rec *traces.Record) error {
	c := a.cells
	if err := a.read(row, c); err != nil {
		return err
	}
	rec.Arrival = time.Duration(c[0].N)
	rec.PromptTokens, rec.OutputTokens = traces.Some(int32(c[1].N)), traces.Some(int32(c[2].N))
	if a.images < 0 {
		return nil
	}
	return inField("NumImages", setImages(rec, a.table.fields[a.images]))
}

func (a *azureRow) read(row []byte, to []traces.Cell) error {
	f, err := a.table.split(row)
	if err != nil {
		return err
	}
	ns, err := a.in.clock.parse(f[a.at[0]])
	if err != nil {
		return inField(azureColumns[0], err)
	}
	to[0].Known, to[0].N = true, ns
	for i := 1; i < len(a.at); i++ {
		n, err := parseTokens(f[a.at[i]])
		if err != nil {
			return inField(azureColumns[i], err)
		}
		to[i].Known, to[i].N = true, int64(n)
	}
	return nil
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
