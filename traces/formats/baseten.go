package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"wavetank/traces"
)

// baseten reads the request logs of Baseten, the only public format that tells
// which clients hung up. Nothing says whether a hash covers what is before its block,
// so ids are chained: a bijection if they do, and the truth if they do not. What
// cached_tokens_reference refers to is not told either, so it is not read. Memory
// grows with sessions and distinct prefixes; the file is copied, since Parquet
// begins at its end.
var baseten = Format{
	Name:     "baseten",
	About:    "Baseten request logs: times, tokens, block hashes, cancellations (Parquet)",
	Sniff:    sniffParquet,
	document: openBaseten,
	whole:    true,
}

func sniffParquet(head []byte) error {
	if !bytes.HasPrefix(head, []byte("PAR1")) {
		return errors.New("it does not begin like a Parquet file")
	}
	return nil
}

// The columns that are read; those that a log must have come first.
var basetenColumns = []string{
	"timestamp_start_unix_ms", "input_tokens", "output_tokens",
	"provided_session_id", "poor_man_session_id", "org_id", "model_name", "block_size", "total_hashes",
	"request_canceled", "duration_e2e_ms", "duration_ttft_ms",
}

const basetenRequired = 3

// basetenLog is the parser's state.
type basetenLog struct {
	in      *input
	next    func() ([]any, error)
	row     map[string]any // of the columns above
	session string         // the column of sessions; empty: none
	turns   turns
	words   words
	chain   *chain
}

func openBaseten(in *input, o *Options) (document, error) {
	if err := o.onlyGeneric("baseten"); err != nil {
		return document{}, err
	}
	table, err := in.spoolParquet()
	if err != nil {
		return document{}, in.errorAt("", fmt.Errorf("a Parquet file that cannot be read: %w", err))
	}
	for _, name := range basetenColumns[:basetenRequired] {
		if !slices.Contains(table.Columns(), name) {
			err := fmt.Errorf("a Parquet file, but neither a trace nor a log of Baseten: it has the columns %s", quoteList(table.Columns()))
			return document{}, errors.Join(in.errorAt(name, err), in.close())
		}
	}
	in.absolute = true
	in.source.Stamps, in.source.TimeUnit, in.source.Grammar = "start", "ms", decimalGrammar
	b := &basetenLog{in: in, row: make(map[string]any), turns: make(turns), chain: newChain()}
	if b.session, err = sessionColumn(table); err != nil {
		return document{}, errors.Join(in.errorAt("", err), in.close())
	}
	b.next = table.Rows(basetenColumns...)
	in.lines.pull = b.pull
	return document{parse: b.parse}, nil
}

// spoolParquet copies the log to a file, since the columns are named at its end.
func (in *input) spoolParquet() (*traces.ParquetTable, error) {
	f, err := os.CreateTemp("", "wavetank-*.parquet")
	if err != nil {
		return nil, err
	}
	named := os.Remove(f.Name()) != nil // on most systems the name can go at once, so that nothing is left whatever happens
	in.close = func() error {
		err := f.Close()
		if named {
			err = errors.Join(err, os.Remove(f.Name()))
		}
		return err
	}
	size, err := io.Copy(f, in.lines.r)
	if err != nil {
		return nil, errors.Join(err, in.close())
	}
	table, err := traces.OpenParquetTable(f, size)
	if err != nil {
		return nil, errors.Join(err, in.close())
	}
	return table, nil
}

// sessionColumn chooses between the session that the client told and the one that
// was made out of the prompts: where a client gives every request an id of its
// own, only the latter tells sessions. It is the one by which more requests
// share their session with another.
func sessionColumn(table *traces.ParquetTable) (string, error) {
	names := basetenColumns[3:5]
	seen := [2]map[string]int{make(map[string]int), make(map[string]int)}
	next := table.Rows(names...)
	for {
		row, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
		for i, v := range row {
			if v != nil {
				seen[i][string(cellText(v))]++
			}
		}
	}
	var shared [2]int
	for i := range seen {
		for _, n := range seen[i] {
			if n > 1 {
				shared[i] += n
			}
		}
	}
	switch {
	case shared[0] == 0 && shared[1] == 0:
		return "", nil
	case shared[1] > shared[0]:
		return names[1], nil
	}
	return names[0], nil
}

// pull reads the next row. What is shown of one that is rejected is its number.
func (b *basetenLog) pull() ([]byte, error) {
	row, err := b.next()
	if err != nil {
		return nil, err
	}
	b.in.lines.n++
	b.in.lines.start = b.in.lines.n
	for i, name := range basetenColumns {
		b.row[name] = row[i]
	}
	return fmt.Appendf(nil, "row %d", b.in.lines.n), nil
}

// cellText is a value as a log in text would have it; empty for null.
func cellText(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case uint64:
		return strconv.AppendUint(nil, v, 10)
	case float64: // as which some tools store whole numbers with nulls among them
		return strconv.AppendFloat(nil, v, 'f', -1, 64)
	}
	return nil
}

func (b *basetenLog) cell(name string) []byte { return cellText(b.row[name]) }

func (b *basetenLog) parse(_ []byte, out *outlet) error {
	var rec traces.Record
	rec.Endpoint = traces.Some("completions")
	ns, err := parseDecimal(b.cell("timestamp_start_unix_ms"), 1e6)
	if err == nil && !sinceEpoch(ns) {
		err = rejectf(BadTime, "%s ms is no wall clock of this century", b.cell("timestamp_start_unix_ms"))
	}
	if err != nil {
		return inField("timestamp_start_unix_ms", err)
	}
	rec.Arrival = time.Duration(ns)
	if err := setTokens(&rec.PromptTokens, b.cell("input_tokens")); err != nil {
		return inField("input_tokens", err)
	}
	if err := setTokens(&rec.OutputTokens, b.cell("output_tokens")); err != nil {
		return inField("output_tokens", err)
	}
	for _, set := range []func(*traces.Record) error{b.times, b.ending, b.blocks, b.names} {
		if err := set(&rec); err != nil {
			return err
		}
	}
	out.emit(rec)
	return nil
}

// names sets the model, the tenant, and last of all the session, whose turns are
// counted: a row that is rejected is none.
func (b *basetenLog) names(rec *traces.Record) error {
	if err := b.words.set(&rec.Model, b.cell("model_name")); err != nil {
		return inField("model_name", err)
	}
	if err := b.words.set(&rec.Tenant, b.cell("org_id")); err != nil {
		return inField("org_id", err)
	}
	if session := b.cell(b.session); !isUnknown(session) {
		return inField(b.session, b.turns.set(rec, session))
	}
	return nil
}

func (b *basetenLog) times(rec *traces.Record) error {
	for name, d := range map[string]*traces.Opt[time.Duration]{"duration_e2e_ms": &rec.Outcome.End, "duration_ttft_ms": &rec.Outcome.FirstToken} {
		v := b.cell(name)
		if isUnknown(v) {
			continue
		}
		ns, err := parseDecimal(v, 1e6)
		if err != nil {
			return inField(name, err)
		}
		*d = traces.Some(time.Duration(ns))
	}
	return nil
}

// ending reads whether the client hung up. That it did not does not say that all
// went well, unless there was an answer.
func (b *basetenLog) ending(rec *traces.Record) error {
	switch v := b.cell("request_canceled"); {
	case string(v) == "1":
		rec.Outcome.Status = traces.Cancelled
		rec.Cancel = rec.Outcome.End
	case string(v) == "0" && rec.OutputTokens.V > 0:
		rec.Outcome.Status = traces.OK
	case string(v) != "0" && !isUnknown(v):
		return inField("request_canceled", rejectf(BadValue, "%q is neither 0 nor 1", clip(v)))
	}
	return nil
}

// blocks chains the hashes. The first row that has some decides on the size of
// blocks: ids of another size say nothing about equal prefixes.
func (b *basetenLog) blocks(rec *traces.Record) error {
	hashes, ok := b.row["total_hashes"].([]any)
	if !ok {
		return nil
	}
	size, err := parseCount(b.cell("block_size"))
	if err != nil || size == 0 {
		b.in.warn("hashes of blocks of unknown size, which were left out")
		return nil
	}
	m := &b.in.meta
	if m.BlockTokens == 0 {
		m.BlockTokens, m.BlockScope = size, traces.ScopeGlobal
	}
	if m.BlockTokens != size {
		b.in.warn(fmt.Sprintf("hashes of blocks of other than %d tokens, which were left out", m.BlockTokens))
		return nil
	}
	rec.Blocks = []traces.BlockRun{}
	before := uint64(chainStart)
	for _, h := range hashes {
		id, ok := h.(int64)
		if big, isBig := h.(uint64); isBig {
			id, ok = int64(big), true
		}
		if !ok {
			return inField("total_hashes", rejectf(BadValue, "%v is no hash", h))
		}
		before = b.chain.block(chainLink{before: before, id: uint64(id)})
		rec.Blocks = appendID(rec.Blocks, before)
	}
	return nil
}
