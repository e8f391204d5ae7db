package formats

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Expand returns the files that paths name: a file itself, "-" for standard
// input, every file under a directory whose name and folders do not begin with a
// dot, and what a pattern of package filepath matches, directories included. Files
// of one directory or pattern come in the order of their names, in which numbers
// count as numbers, so that the shards of a rotated log follow each other. It is an
// error if nothing is found, or a file twice: its requests would be counted double.
func Expand(paths []string) ([]string, error) {
	var files []string
	seen := make(map[string]bool)
	for _, path := range paths {
		found, err := expandOne(path)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if seen[file] {
				return nil, fmt.Errorf("%s: named twice", file)
			}
			seen[file] = true
		}
		files = append(files, found...)
	}
	return files, nil
}

func expandOne(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return filesUnder(path)
	case err == nil || !strings.ContainsAny(path, "*?["):
		return []string{path}, nil // to open a missing file says what is wrong with it
	}
	matches, err := filepath.Glob(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("%s: no file matches", path)
	}
	slices.SortFunc(matches, byName)
	var files []string
	for _, match := range matches {
		found, err := expandOne(match)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

func filesUnder(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		hidden := path != dir && strings.HasPrefix(e.Name(), ".")
		switch {
		case err != nil:
			return err
		case hidden && e.IsDir():
			return fs.SkipDir
		case hidden || e.IsDir():
			return nil
		}
		files = append(files, path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no file is in this directory", dir)
	}
	slices.SortFunc(files, byName)
	return files, nil
}

// byName orders log.2 before log.10. Names that differ in leading zeros only are
// ordered by their bytes.
func byName(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := countDigits([]byte(x)), countDigits([]byte(y))
		if n == 0 || m == 0 {
			if c := cmp.Compare(x[0], y[0]); c != 0 {
				return c
			}
			x, y = x[1:], y[1:]
			continue
		}
		if c := compareNumbers(x[:n], y[:m]); c != 0 {
			return c
		}
		x, y = x[n:], y[m:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// compareNumbers compares digits of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func countDigits(b []byte) (n int) {
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return n
}
