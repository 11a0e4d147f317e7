package rule_test

import (
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/rule"
)

// served returns the value of a cookie that a handler sees.
func served(lines []string, name string) string {
	r := http.Request{Header: http.Header{"Cookie": lines}}
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

func TestCookie(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{nil, ""},
		{[]string{"s=1"}, "1"},
		{[]string{"a=2; s=1; s=3"}, "1"},
		{[]string{"a=2", "s=1"}, "1"},
		{[]string{`s=\1; s=REAL`}, "REAL"},
		{[]string{`s="a`, `s="real"`}, "real"},
		{[]string{"s=é; s=real"}, "real"},
		{[]string{"s; s=real"}, ""},
		{[]string{"s=; s=real"}, ""},
		{[]string{"\t s =1"}, "1"},
		{[]string{"s= 1 "}, " 1"},
		{[]string{"S=2; s=1"}, "1"},
		{[]string{"s=a=b"}, "a=b"},
		{[]string{`s=""`}, ""},
		{[]string{`s=" a,b "`}, " a,b "},
	} {
		r := rule.Request{Header: http.Header{"Cookie": c.lines}}
		if got := r.Cookie("s"); got != c.want || served(c.lines, "s") != c.want {
			t.Errorf("%q: got %q, want %q, and handlers see %q", c.lines, got, c.want, served(c.lines, "s"))
		}
	}
}

// TestCookieKey: no spelling gives a client a second key.
func TestCookieKey(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"cookie:s"}, Missing: rule.MissingShared}}})
	for _, lines := range [][]string{{"s=REAL"}, {`s=\1; s=REAL`}, {"a=1", "s=REAL"}, {`s="`, "s=REAL; s=2"}} {
		if got := key(t, set, rule.Request{Header: http.Header{"Cookie": lines}}); got != "r|REAL" {
			t.Errorf("%q has the key %q", lines, got)
		}
	}
}

// joined is a Getter with nothing but Get, which joins several lines.
type joined struct{ lines []string }

func (j joined) Get(string) string { return strings.Join(j.lines, "; ") }

func TestCookieOfOtherGetters(t *testing.T) {
	lines := []string{`s=\1`, "s=REAL"}
	for name, header := range map[string]rule.Getter{
		"values": textproto.MIMEHeader{"Cookie": lines},
		"joined": joined{lines},
	} {
		if r := (rule.Request{Header: header}); r.Cookie("s") != "REAL" {
			t.Errorf("%s: got %q", name, r.Cookie("s"))
		}
	}
	if r := (rule.Request{}); r.Cookie("s") != "" {
		t.Error("a cookie out of nothing")
	}
}

func TestQueryValue(t *testing.T) {
	for query, want := range map[string]string{
		"":                 "",
		"k=1":              "1",
		"a=2&k=1&k=3":      "1",
		"k=%zz&k=REAL":     "REAL",
		"k=1;&k=REAL":      "REAL",
		"k;=1&k=REAL":      "REAL",
		"%6b=a+b%21":       "a b!",
		"%zz=1&k=REAL":     "REAL",
		"k&k=REAL":         "",
		"&&k=REAL":         "REAL",
		"k%3D=1&k=%":       "",
		"k=%C3%A9":         "é",
		"k=1#x":            "1#x",
		"kk=1&=2&k=real=1": "real=1",
	} {
		values, _ := url.ParseQuery(query) // what a handler gets, whatever the error
		r := rule.Request{Query: query}
		if got := r.QueryValue("k"); got != want || values.Get("k") != want {
			t.Errorf("%q: got %q, want %q, and handlers see %q", query, got, want, values.Get("k"))
		}
	}
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"query:k"}, Missing: rule.MissingShared}}})
	if got := key(t, set, rule.Request{Query: "k=%zz&k=REAL"}); got != "r|REAL" {
		t.Errorf("got the key %q", got)
	}
}

// TestAsHandlersSee: random cookies and queries of odd pieces are read as net/http and
// net/url read them.
func TestAsHandlersSee(t *testing.T) {
	d := draw{algotest.Rand(algotest.Seed(t, 0), 0)}
	for range algotest.Rounds(5000, 1_000_000) {
		text := func() (s string) {
			for range d.IntN(9) {
				s += pick(d, "k", "k=", "=", "&", ";", "; ", "%", "6B", "%zz", "+", `"`, `\`, " ", "\t", "\r", "1", "a", "é", "\xff", "%00")
			}
			return s
		}
		checkServed(t, text(), text(), text())
	}
}

func checkServed(t *testing.T, line1, line2, query string) {
	t.Helper()
	lines := []string{line1, line2}
	r := rule.Request{Header: http.Header{"Cookie": lines}, Query: query}
	if got, want := r.Cookie("k"), served(lines, "k"); got != want {
		t.Fatalf("cookies %q: got %q, handlers see %q", lines, got, want)
	}
	values, _ := url.ParseQuery(query)
	if got, want := r.QueryValue("k"), values.Get("k"); got != want {
		t.Fatalf("query %q: got %q, handlers see %q", query, got, want)
	}
}

func FuzzAsHandlersSee(f *testing.F) {
	f.Add(`k=\1; k=2`, "k=3", "k=%zz&k=2")
	f.Add(`k="a"; k`, "", "k=1;&%6b=2")
	f.Fuzz(func(t *testing.T, line1, line2, query string) {
		if strings.Count(line1+line2, ";") > 1000 || strings.Count(query, "&") > 1000 {
			return // handlers get nothing of so many
		}
		checkServed(t, line1, line2, query)
	})
}

func TestCanonicalForms(t *testing.T) {
	if got := rule.CanonicalHost("API.Example.com.:443"); got != "api.example.com" {
		t.Errorf("got %q", got)
	}
	for path, want := range map[string]struct {
		path      string
		ambiguous bool
	}{"/a//%62/../C": {"/a/c", false}, "/a%2Fb": {"/a/b", true}} {
		if got, ambiguous := rule.CanonicalPath(path, true); got != want.path || ambiguous != want.ambiguous {
			t.Errorf("%q: got %q, %v", path, got, ambiguous)
		}
	}
}
