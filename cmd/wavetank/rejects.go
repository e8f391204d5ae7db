package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"wavetank/traces"
	"wavetank/traces/formats"
)

// A rejects file has one JSON object a rejected row. It comes into being with the first,
// or with the end of a conversion that had none: one that fails at once leaves nothing.
type rejects struct {
	path  string // "": there is nowhere to put a row
	flag  int
	f     *os.File
	enc   *json.Encoder
	first error // that ends the conversion
}

func newRejects(c *cli.Context) (*rejects, error) {
	r := &rejects{path: c.String("rejects"), flag: os.O_EXCL}
	if c.Bool("force") {
		r.flag = os.O_TRUNC
	} else if _, err := os.Lstat(r.path); r.path != "" && err == nil {
		return nil, hint(fmt.Errorf("create %s: %w", r.path, os.ErrExist), "--force overwrites it")
	}
	return r, nil
}

func (r *rejects) open() (err error) {
	if r.f == nil && r.path != "" {
		r.f, err = os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|r.flag, 0o644)
		r.enc = json.NewEncoder(r.f)
	}
	return err
}

func (r *rejects) add(file string, row formats.Reject) {
	switch {
	case r.first != nil:
	case r.path == "":
		r.first = hint(row.Err, "--rejects FILE sets rows like this one aside and goes on")
	default:
		r.first = r.write(file, row)
	}
}

func (r *rejects) write(file string, row formats.Reject) error {
	if err := r.open(); err != nil {
		return err
	}
	err := r.enc.Encode(struct {
		File   string `json:"file"`
		Line   int64  `json:"line"`
		Reason string `json:"reason"`
		Error  string `json:"error"`
		Text   string `json:"text"`
	}{file, row.Line, row.Reason, row.Err.Error(), row.Text})
	if err != nil {
		return fmt.Errorf("write %s: %w", r.path, err)
	}
	return nil
}

func (r *rejects) close() error {
	if err := r.open(); err != nil || r.f == nil {
		return err
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
