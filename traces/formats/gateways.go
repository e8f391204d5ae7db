package formats

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// gateways are the logs of gateways and observability tools, one request a row:
// each is a map and no code.
var gateways = builtinMaps()

//go:embed maps/*.map
var mapFiles embed.FS

// builtinMaps makes a format of every map. Of each the head alone is read here, at the
// start of every program: by it a log is told apart. The columns are read with the first
// such log.
func builtinMaps() (list []Format) {
	files, err := mapFiles.ReadDir("maps")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		path := "maps/" + f.Name()
		head := readMap(path, func(line string) bool { _, _, ok := headOf(line); return ok })
		whole := sync.OnceValue(func() *logMap { return readMap(path, func(string) bool { return true }) })
		list = append(list, Format{
			Name:     strings.TrimSuffix(f.Name(), ".map"),
			About:    head.about,
			Sniff:    head.sniff,
			open:     func(in *input, o *Options) (parser, error) { return whole().open(in, o) },
			document: func(in *input, o *Options) (document, error) { return whole().document(in, o) },
		})
	}
	return list
}

// readMap reads those lines of a map that are wanted. A map that is broken is a slip of
// ours, which any test finds.
func readMap(path string, wanted func(line string) bool) *logMap {
	text, err := mapFiles.ReadFile(path)
	if err != nil {
		panic(err)
	}
	m := new(logMap)
	err = eachStatement(bytes.NewReader(text), path, func(line string) error {
		if !wanted(line) {
			return nil
		}
		return m.add(line, new(Options))
	})
	if err != nil {
		panic(err)
	}
	return m
}

// sniff takes logs whose first row has the map's own fields.
func (m *logMap) sniff(head []byte) error {
	fields, err := sniffFields(head)
	if err != nil {
		return err
	}
	for _, group := range m.has {
		found := false
		for _, name := range group {
			found = found || fields[name]
		}
		if !found {
			return fmt.Errorf("the first row lacks \"%s\"", strings.Join(group, `" or "`))
		}
	}
	return nil
}

// sniffFields returns the names of the fields of the first row: the keys of a JSON
// object, which may be the first of a list, or a CSV header.
func sniffFields(head []byte) (map[string]bool, error) {
	fields := make(map[string]bool)
	if looksLikeJSON(head) || firstByte(head) == '[' {
		keys, err := keysOf(bytes.TrimLeft(head, "[ \t\r\n"))
		for key := range keys {
			fields[key] = true
		}
		return fields, err
	}
	header, err := sniffColumns(head)
	for _, name := range header {
		fields[name] = true
	}
	return fields, err
}

// byMap returns the format that Options.Map makes of a csv or jsonl log, or nil if
// there is no map, or only one of plain fields: these are found in place, which takes
// a third of the time.
func (o *Options) byMap(head []byte) (*Format, error) {
	if len(o.Map) == 0 || o.Format != "" && o.Format != genericCSV.Name && o.Format != genericJSONL.Name {
		return nil, nil
	}
	m, err := new(logMap).amended(o)
	if err != nil {
		return nil, err
	}
	isJSON := o.Format == genericJSONL.Name || o.Format == "" && (firstByte(head) == '[' || looksLikeJSON(head))
	if m.plain(head, isJSON) {
		return nil, nil
	}
	shape := genericCSV
	if isJSON {
		shape = genericJSONL
	}
	shape.open = func(in *input, o *Options) (parser, error) {
		in.finish = func() error { return m.allSeen(in) }
		return m.lines(in)
	}
	shape.document = func(in *input, o *Options) (document, error) {
		in.finish = func() error { return m.allSeen(in) }
		return m.list(in)
	}
	return &shape, nil
}

// shaped is the format as the log's shape wants it read: by document if it is a JSON
// list, or objects over many lines. Only maps can be read in both ways.
func (f *Format) shaped(head []byte) *Format {
	if f == nil || f.open == nil || f.document == nil {
		return f
	}
	g := *f
	if g.whole = overLines(head); g.whole {
		g.open = nil
	} else {
		g.document = nil
	}
	return &g
}

// plain tells whether the readers of csv and jsonl can find all that is mapped:
// one field a column, none of them in an object that is in a string.
func (m *logMap) plain(head []byte, isJSON bool) bool {
	if len(m.notes) > 0 || m.stamps != "" || m.vantage != "" || overLines(head) {
		return false
	}
	var keys map[string]json.Token
	if isJSON {
		keys, _ = keysOf(firstLine(head)) // of what cannot be read, whoever reads it says so
	}
	for _, b := range m.mappings {
		if !b.plain() {
			return false
		}
		outer, _, dotted := strings.Cut(b.choices[0].addends[0].name, ".")
		text, isText := keys[outer].(string)
		if dotted && (!isJSON || isText && strings.HasPrefix(text, "{")) {
			return false
		}
	}
	return true
}

// allSeen checks that no mapped field was a slip of the pen: some row must have
// one of the fields of each column.
func (m *logMap) allSeen(in *input) error {
	for _, b := range m.mappings {
		seen := false
		for _, c := range b.choices {
			for _, t := range c.terms() {
				seen = seen || t.seen.Load() || t.constant
			}
		}
		if !seen {
			return &SyntaxError{File: in.name, Field: b.text, Err: fmt.Errorf("column %s: no row has this field", b.name())}
		}
	}
	return nil
}
