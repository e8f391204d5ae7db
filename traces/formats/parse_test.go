package formats

import (
	"errors"
	"testing"
	"time"
)

func reasonOf(err error) string {
	var row *rowError
	if errors.As(err, &row) {
		return row.reason
	}
	return ""
}

func TestParseTokens(t *testing.T) {
	for s, want := range map[string]int32{
		"0": 0, "7": 7, "007": 7, "7.0": 7, "19.": 19, "1,234": 1234, "12,345,678": 12345678, "1,234.0": 1234, " 5 ": 5, "100000000": 100_000_000,
	} {
		if got, err := parseTokens([]byte(s)); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
	for s, want := range map[string]string{
		"": MissingField, "-": MissingField, "null": MissingField, "None": MissingField, "NaN": MissingField,
		"x": BadNumber, "1.5": BadNumber, "1,23": BadNumber, ",123": BadNumber, "1234,567": BadNumber, "1e3": BadNumber, "--1": BadNumber, "+1": BadNumber, ".": BadNumber,
		"-1": Negative, "-1.0": Negative, "-99999999999999999999": Negative,
		"100000001": TooLarge, "4294967296": TooLarge, "99999999999999999999": TooLarge,
	} {
		if got, err := parseTokens([]byte(s)); reasonOf(err) != want {
			t.Errorf("%q: %d, %v; want %s", s, got, err, want)
		}
	}
}

func TestParseDecimal(t *testing.T) {
	for _, tt := range []struct {
		s    string
		unit int64
		want int64
	}{
		{"5", 1e9, 5e9}, {"19440110.0", 1e9, 19440110e9}, {"1740819600.123456789", 1e9, 1740819600123456789},
		{"5.8926549999999995", 1e9, 5892654999}, {"0.5", 1e6, 5e5}, {"1.9", 1, 1}, {"7.", 1e3, 7e3},
	} {
		if got, err := parseDecimal([]byte(tt.s), tt.unit); err != nil || got != tt.want {
			t.Errorf("%q of %d ns: %d, %v; want %d", tt.s, tt.unit, got, err, tt.want)
		}
	}
	for s, want := range map[string]string{
		"": MissingField, "-": MissingField, "-3": Negative, "1e9": BadTime, ".5": BadTime, "1.2.3": BadTime, "x": BadTime,
		"9223372036.9": TooLarge, "99999999999999999999": TooLarge,
	} {
		if got, err := parseDecimal([]byte(s), 1e9); reasonOf(err) != want {
			t.Errorf("%q: %d, %v; want %s", s, got, err, want)
		}
	}
}

// All grammars of a stamp are the same instant, exactly.
func TestClock(t *testing.T) {
	want := time.Date(2023, 11, 16, 18, 15, 46, 680_590_000, time.UTC).UnixNano()
	c := clock{zone: time.UTC}
	for _, s := range []string{
		"2023-11-16 18:15:46.6805900", "2023-11-16T18:15:46.68059", "2023-11-16T18:15:46.680590Z", "2023-11-16 18:15:46.680590+00:00",
		"2023-11-16 18:15:46,68059 UTC", "2023-11-16T20:15:46.680590000+02:00", "2023-11-16T13:45:46.6805900009-0430", "2023-11-17T03:15:46.68059+09",
	} {
		if got, err := c.parse([]byte(s)); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "2023-11-16", "2023-11-16 18:15", "2023-02-30 18:15:46", "2023-11-16 24:15:46", "2023-11-16 18:60:46", "2023-11-16 18:15:61",
		"2023-11-16 18:15:46.", "2023-11-16 18:15:46x", "2023-11-16 18:15:46+1", "2023-11-16 18:15:46+24:00", "2023-11-16_18:15:46",
		"1969-12-31 23:59:59", "2261-01-01 00:00:00", "0000-00-00 00:00:00", "20-3-11-16 18:15:46", "2023-11-16 1 :15:46",
	} {
		if got, err := c.parse([]byte(s)); reasonOf(err) != BadTime {
			t.Errorf("%q: %d, %v", s, got, err)
		}
	}
}

// The parser of stamps agrees with package time: on what it prints, and wherever
// both read. (Package time also takes hours of one digit, which no log of ours has.)
func FuzzClock(f *testing.F) {
	f.Add("2023-11-16T18:15:46.680590Z", int64(1700158546680590000), int16(0))
	f.Add("2024-02-29T23:59:59.999999999+05:45", int64(1), int16(345))
	f.Fuzz(func(t *testing.T, s string, ns int64, east int16) {
		c := clock{zone: time.UTC}
		if want, err := time.Parse(time.RFC3339Nano, s); err == nil && want.Year() < 2261 {
			if got, err := c.parse([]byte(s)); err == nil && got != want.UnixNano() {
				t.Errorf("%s: %d, want %d", s, got, want.UnixNano())
			}
		}
		at := time.Unix(0, ns).In(time.FixedZone("", int(east%1440)*60))
		if year := at.Year(); year < 1970 || year > 2260 {
			return
		}
		if got, err := c.parse([]byte(at.Format(time.RFC3339Nano))); err != nil || got != ns {
			t.Errorf("%s: %d, %v; want %d", at.Format(time.RFC3339Nano), got, err, ns)
		}
	})
}

// A stray quote does not swallow what follows; one that opens a field does.
func TestOpenQuote(t *testing.T) {
	for line, want := range map[string]bool{
		``: false, `a,b`: false, `a,"b"`: false, `a,"b`: true, `5" disk,b`: false, `"a""`: true, `"a""b",c`: false, `"a","`: true, `"`: true, `""`: false, `"",""`: false,
	} {
		if got := openQuote([]byte(line), false); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
