package traces

import (
	"bytes"
	"io"
)

// readTable reads every column of any Parquet file.
func readTable(b []byte) (rows [][]any, err error) {
	t, err := OpenParquetTable(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	next := t.Rows(t.Columns()...)
	for {
		row, err := next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, append([]any{}, row...))
	}
}
