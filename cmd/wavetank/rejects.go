package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// A rejects file has one JSON object a rejected row.
type rejects struct {
	f     *os.File
	enc   *json.Encoder
	first error // of a conversion that has no such file
}

func (e *env) openRejects(c *cli.Context) (*rejects, error) {
	r := &rejects{}
	path := c.String("rejects")
	if path == "" {
		return r, nil
	}
	flag := os.O_EXCL
	if c.Bool("force") {
		flag = os.O_TRUNC
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil, hint(err, "--force overwrites it")
	}
	if err != nil {
		return nil, err
	}
	r.f, r.enc = f, json.NewEncoder(f)
	return r, nil
}

func (r *rejects) add(file string, row formats.Reject) {
	if r.f == nil {
		if r.first == nil {
			r.first = hint(row.Err, "--rejects FILE sets rows like this one aside and goes on")
		}
		return
	}
	line := struct {
		File   string `json:"file"`
		Line   int64  `json:"line"`
		Reason string `json:"reason"`
		Error  string `json:"error"`
		Text   string `json:"text"`
	}{file, row.Line, row.Reason, row.Err.Error(), row.Text}
	if err := r.enc.Encode(line); err != nil && r.first == nil {
		r.first = fmt.Errorf("write %s: %w", r.f.Name(), err)
	}
}

func (r *rejects) close() error {
	if r.f == nil {
		return nil
	}
	return r.f.Close()
}

// strict ends the reading when a row could not be read and there is nowhere to
// put it.
func strict(r traces.Reader, rows *rejects) traces.Reader {
	return checked{r, func(_ int, err error) error {
		if rows.first != nil {
			return rows.first
		}
		return err
	}}
}
