package formats

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// ErrUnknown is wrapped by the error for a log that no Format takes.
var ErrUnknown = errors.New("not a log of a known format")

// ErrNoBodies is wrapped by the error for a log that holds no request bodies, if
// they are to be kept.
var ErrNoBodies = errors.New("has no whole request bodies to keep")

// ErrTrace is wrapped by the error for an input that is a trace already.
var ErrTrace = errors.New("a trace file and not a log: open it as a trace")

var errNoHeader = errors.New("the header is missing")

// impostors are files that are often taken for logs, by their first bytes.
var impostors = []struct {
	prefix string
	err    error
}{
	{"ARROW1", ErrTrace},
	{"\xff\xff\xff\xff", ErrTrace},
	{"PAR1", errors.New("a Parquet file: write its rows as CSV or JSON lines first")},
	{"version https://git-lfs.github.com/spec/", errors.New("a Git LFS pointer, which stands for the log: run git lfs pull, or download the file from the project's release page")},
	{"\xff\xfe", errors.New("UTF-16 text: save it as UTF-8, for instance with iconv -f UTF-16 -t UTF-8")},
	{"\xfe\xff", errors.New("UTF-16 text: save it as UTF-8, for instance with iconv -f UTF-16 -t UTF-8")},
	{"BZh", errors.New("compressed with bzip2, which is not read: decompress it first")},
	{"\xfd7zXZ\x00", errors.New("compressed with xz, which is not read: decompress it first")},
	{"PK\x03\x04", errors.New("a zip archive: unpack it first")},
	{"\x1f\x8b", errors.New("compressed twice: decompress it once")},
	{"<!DOCTYPE", errors.New("a web page: the download went wrong")},
	{"<html", errors.New("a web page: the download went wrong")},
	{"[", errors.New("a JSON array: write one object a line, for instance with jq -c '.[]'")},
}

// refuse says what a log that is none is, and what to do about it.
func refuse(head []byte) error {
	text := bytes.TrimLeft(head, " \t\r\n")
	if len(text) == 0 {
		return errors.New("the file is empty")
	}
	for _, p := range impostors {
		if bytes.HasPrefix(text, []byte(p.prefix)) {
			return p.err
		}
	}
	if string(bytes.TrimSpace(firstLine(head))) == "{" {
		return errors.New("a JSON object over many lines: write one object a line, for instance with jq -c . FILE")
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return errors.New("not text: it holds NUL bytes (a binary file, or UTF-16)")
	}
	if invalid := invalidRunes(head); invalid > len(head)/10 {
		return errors.New("not text: much of it is not UTF-8")
	}
	return nil
}

func invalidRunes(b []byte) (n int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			n++
		}
		b = b[size:]
	}
	return n
}
