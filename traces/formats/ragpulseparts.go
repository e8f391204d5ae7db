package formats

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A ragPart is one of the files that say how long the contents of ids are.
type ragPart struct {
	file, id string // its name, and the key of an id in it
	key      string // the key of a request's ids
	kind     string // of traces.Component
	tokens   map[uint32]int32
}

// ragParts are in the order in which RAGPulse's own player puts them into a prompt.
var ragParts = []ragPart{
	{file: "1_sys_prompt.jsonl", id: "sys_prompt_id", key: "sys_prompt", kind: "system"},
	{file: "2_passages.jsonl", id: "passage_id", key: "passages_ids", kind: "passages"},
	{file: "3_history.jsonl", id: "history_id", key: "history", kind: "history"},
	{file: "5_web_search.jsonl", id: "web_search_id", key: "web_search", kind: "web"},
	{file: "4_user_input.jsonl", id: "user_input_id", key: "user_input", kind: "user"},
}

// readRAGParts reads the files beside a trace; nil if one of them is not there.
func readRAGParts(in *input) ([]ragPart, error) {
	var parts []ragPart
	var found []string
	for _, p := range ragParts {
		err := p.read(filepath.Join(filepath.Dir(in.name), p.file))
		if errors.Is(err, fs.ErrNotExist) {
			in.meta.Notes = append(in.meta.Notes, fmt.Sprintf("how long the parts of a prompt are is not known: %s is not beside the trace", p.file))
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
		found = append(found, p.file)
	}
	in.meta.Notes = append(in.meta.Notes, "how long the parts of a prompt are was read from "+strings.Join(found, ", "))
	return parts, nil
}

func (p *ragPart) read(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p.tokens = make(map[uint32]int32)
	s := bufio.NewScanner(f)
	for line := int64(1); s.Scan(); line++ {
		if len(s.Bytes()) == 0 {
			continue
		}
		if err := p.add(s.Bytes()); err != nil {
			return &SyntaxError{File: path, Line: line, Err: err}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (p *ragPart) add(row []byte) error {
	var v map[string]json.RawMessage
	if err := decodeRow(row, &v); err != nil {
		return err
	}
	id, err := parseCount(v[p.id])
	if err != nil {
		return fmt.Errorf("%s: %w", p.id, err)
	}
	n, err := parseTokens(v["token_length"])
	if err != nil {
		return fmt.Errorf("token_length: %w", err)
	}
	p.tokens[uint32(id)] = n
	return nil
}
