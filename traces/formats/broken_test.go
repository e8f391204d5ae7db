package formats

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavetank/traces"
)

// Each kind of bad input has its own answer: an error that says what to do, or
// rejected rows by reason, or a warning.
var broken = map[string]struct {
	options Options
	err     string // part of the error
	reject  string // reasons with counts
	warning string // part of the warning
}{
	"empty.csv":              {err: "the file is empty"},
	"blank.csv":              {err: "the file is empty"},
	"header_only.csv":        {warning: "the log has no rows"},
	"lfs_pointer.csv":        {err: "Git LFS pointer"},
	"utf16.csv":              {err: "UTF-16"},
	"utf16_without_mark.csv": {err: "UTF-16"},
	"binary.dump":            {err: "not text"},
	"trace.arrow":            {err: "open it as a trace"},
	"trace.parquet":          {err: "a Parquet file"},
	"array.json":             {err: "a JSON array"},
	"many_lines.json":        {err: "a JSON object over many lines"},
	"webpage.csv":            {err: "a web page"},
	"cut.csv.gz":             {err: "unexpected EOF"},
	"twice.csv.gz":           {err: "compressed twice"},
	"unknown.csv":            {err: `burstgpt: the first line lacks the column "Timestamp"`},
	"headless.csv":           {err: `azure: the first line lacks the column "TIMESTAMP"`},
	"no_column.csv":          {options: Options{Format: "azure"}, err: `no_column.csv:1: field "GeneratedTokens": the header lacks this column; it has "TIMESTAMP", "ContextTokens"`},
	"column_twice.csv":       {err: `column_twice.csv:1: field "ContextTokens": the header has this column twice`},
	"all_rejected.csv":       {err: `all_rejected.csv:2: field "TIMESTAMP": "yesterday" is not a time`},
	"ambiguous_unit.csv":     {err: `ambiguous_unit.csv:2: field "arrival": 0 may be of any unit, and is no wall clock in any: tell it with --time-unit`},
	"ambiguous_duration.csv": {err: `field "ttft" does not tell the unit of column first_token: map it as first_token=ttft:ms`},
	"two_fields.csv":         {err: `column arrival has two fields, "arrival_ms" and "arrival_s"`},

	"not_a_number.csv":     {reject: "bad_number:1"},
	"fraction.csv":         {reject: "bad_number:1"},
	"negative.csv":         {reject: "negative:1"},
	"absurd.csv":           {reject: "too_large:1"},
	"over_64_bits.csv":     {reject: "too_large:1"},
	"missing_field.csv":    {reject: "missing_field:1"},
	"empty_field.csv":      {reject: "missing_field:1"},
	"loose_comma.csv":      {reject: "bad_csv:1"},
	"bad_date.csv":         {reject: "bad_time:1"},
	"bad_zone.csv":         {reject: "bad_time:1"},
	"open_quote.csv":       {reject: "half_line:1"},
	"text_after_quote.csv": {reject: "bad_csv:1"},
	"half_line.csv":        {reject: "half_line:1"},
	"half_line.jsonl":      {reject: "half_line:1"},
	"bad_json.jsonl":       {reject: "bad_json:1"},
	"bad_ids.jsonl":        {reject: "bad_value:1"},
	"negative_id.jsonl":    {reject: "bad_value:1"},
	"no_timestamp.jsonl":   {reject: "missing_field:1"},
	"mixed_times.csv":      {reject: "bad_time:2"},
	"wrong_types.jsonl":    {reject: "bad_json:2 bad_number:0 bad_value:4 missing_field:1"},

	"odd_ids.jsonl": {warning: "1 rows: no hash_ids; 1 rows: the number of hash_ids is not input_length/512"},
}

func TestBroken(t *testing.T) {
	files, err := os.ReadDir(filepath.Join(logs, "broken"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(broken) {
		t.Errorf("%d files in broken, %d rules", len(files), len(broken))
	}
	for name, want := range broken {
		t.Run(name, func(t *testing.T) {
			var rejects []Reject
			want.options.OnReject = func(r Reject) { rejects = append(rejects, r) }
			s, err := OpenFile(filepath.Join(logs, "broken", name), want.options)
			if err == nil {
				defer s.Close()
				_, err = traces.Collect(s)
			}
			if want.err != "" {
				if err == nil || !strings.Contains(err.Error(), want.err) || !strings.Contains(err.Error(), name) {
					t.Errorf("error %v, want %q", err, want.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			src := s.Meta().Sources[0]
			checkRejects(t, src, rejects, want.reject)
			if got := strings.Join(src.Warnings, "; "); !strings.Contains(got, want.warning) || want.warning == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, want.warning)
			}
		})
	}
}

// checkRejects holds the counts, and what OnReject was told, against want.
func checkRejects(t *testing.T, src traces.Source, rejects []Reject, want string) {
	t.Helper()
	told := map[string]int64{}
	for _, r := range rejects {
		var syntax *SyntaxError
		if r.Line < 2 && !strings.Contains(want, " ") || r.Text == "" || !errors.As(r.Err, &syntax) || syntax.Line != r.Line {
			t.Errorf("reject %+v", r)
		}
		told[r.Reason]++
	}
	var total int64
	for _, part := range strings.Fields(want) {
		reason, count, _ := strings.Cut(part, ":")
		var n int64
		if _, err := fmt.Sscan(count, &n); err != nil {
			t.Fatal(err)
		}
		total += n
		if src.Rejected[reason] != n || told[reason] != n {
			t.Errorf("%s: counted %d, told %d, want %d", reason, src.Rejected[reason], told[reason], n)
		}
	}
	if src.RejectedRows() != total || src.Read != src.Emitted+total {
		t.Errorf("rejected %v of %d rows, want %q", src.Rejected, src.Read, want)
	}
}

// The caller can tell a trace from what is broken.
func TestErrTrace(t *testing.T) {
	if _, err := OpenFile(filepath.Join(logs, "broken", "trace.arrow"), Options{}); !errors.Is(err, ErrTrace) {
		t.Errorf("an Arrow file: %v", err)
	}
}

// A row over the limit is rejected by name of the limit, and the next one is read.
func TestMaxLine(t *testing.T) {
	for _, long := range []string{strings.Repeat("9", 100), strings.Repeat("9", headBytes), strings.Repeat("9", 3*headBytes)} {
		log := "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,1," + long + "\n2023-11-16 18:17:04,3180,8\n"
		var rejects []Reject
		s, err := Open(strings.NewReader(log), "x", Options{MaxLine: 64, OnReject: func(r Reject) { rejects = append(rejects, r) }})
		if err != nil {
			t.Fatal(err)
		}
		recs, err := traces.Collect(s)
		if err != nil || len(recs) != 1 || recs[0].PromptTokens.V != 3180 || recs[0].SourceRow.V != 3 {
			t.Errorf("%d bytes: %v, %v", len(long), recs, err)
		}
		if len(rejects) != 1 || rejects[0].Reason != LongLine || rejects[0].Line != 2 || !strings.Contains(rejects[0].Err.Error(), "limit of 64 bytes") {
			t.Errorf("%d bytes: rejected %+v", len(long), rejects)
		}
	}
	row := `{"timestamp": 1, "input_length": 9, "output_length": 3, "hash_ids": [7], "text": "` + strings.Repeat("x", 5<<20) + `"}`
	if r := one(t, row, Options{Format: "mooncake"}); r.PromptTokens.V != 9 {
		t.Errorf("a row of 5 MiB under the default limit: %+v", r)
	}
}
