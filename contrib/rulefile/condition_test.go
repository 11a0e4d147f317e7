package rulefile

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-limiter/sluice/rule"
)

func sample() *rule.Request {
	return &rule.Request{
		Method: "POST", Host: "API.example.com:8080", Path: "/v1/login", Query: "a=1&b=x%20y&broken=%zz&broken=2",
		IP: netip.MustParseAddr("::ffff:10.1.2.3"), User: "ann", Length: 2048,
		Header:     http.Header{"X-Level": {"7"}, "X-Word": {"seven"}, "Cookie": {`bad=a\b; sid=abc`, `theme="dark mode"; bad=c`}},
		Attributes: map[string]string{"plan": "free"},
	}
}

func TestConditions(t *testing.T) {
	tests := []struct {
		when  string
		want  bool
		fails int64
	}{
		{when: `true`, want: true},
		{when: `method == "POST" && user == "ann"`, want: true},
		{when: `method in ["GET", "HEAD"]`},
		{when: `host == "api.example.com"`, want: true},
		{when: `path == "/v1/login"`, want: true},
		{when: `path startsWith "/v1/" and not (path endsWith "/x")`, want: true},
		{when: `path matches "^/v[0-9]+/"`, want: true},
		{when: `query("a") == "1" && query("b") == "x y"`, want: true},
		{when: `query("broken") == "2" && query("none") == ""`, want: true}, // as handlers read it
		{when: `header("x-level") == "7"`, want: true},
		{when: `cookie("sid") == "abc" && cookie("theme") == "dark mode" && cookie("x") == ""`, want: true},
		{when: `cookie("bad") == "c"`, want: true}, // as handlers read it
		{when: `ip == "10.1.2.3"`, want: true},
		{when: `in_cidr(ip, "10.0.0.0/8")`, want: true},
		{when: `in_cidr(ip, "10.2.0.0/16") || in_cidr("", "0.0.0.0/0") || in_cidr(user, "::/0")`},
		{when: `attribute("plan") == "free" && attribute("x") == ""`, want: true},
		{when: `length > 1000 && length % 2 == 0`, want: true},
		{when: `int(header("X-Level")) > 6`, want: true},
		{when: `int(header("X-Level")) > 7`},
		{when: `len(user) == 3 && upper(user) == "ANN"`, want: true},
		// What cannot be evaluated counts as a match: there is no way out by garbage.
		{when: `int(header("X-Word")) > 100`, want: true, fails: 1},
		{when: `length % len(attribute("none")) == 1`, want: true, fails: 1},
	}
	for _, test := range tests {
		t.Run(test.when, func(t *testing.T) {
			c := NewConditions()
			fits, err := c.Compile(test.when)
			if err != nil {
				t.Fatal(err)
			}
			if got := fits(sample()); got != test.want {
				t.Errorf("got %v", got)
			}
			if c.Failed() != test.fails {
				t.Errorf("%d failed", c.Failed())
			}
			fits(&rule.Request{}) // nothing in it: must not panic
		})
	}
}

func TestConditionsRefused(t *testing.T) {
	tests := []string{
		``, `1`, `"x"`, `path`, `nosuch`, `$env["path"] == ""`, `$env == nil`,
		`any(1..10, # > 1)`, `len(1..1000000) > 1`, `repeat("x", 1000000) == ""`, `split(path, "/") == []`, `map([1], #) == []`,
		`now().Year() > 2000`, `path matches query("p")`, `path matches (user + ".*")`, `in_cidr(ip, user)`, `in_cidr(ip, "10.0.0.0")`,
		`2 ** 1000 > 1`, `fromJSON(header("x")).a == 1`, `get(path, 1) == ""`, `method.x == 1`, `header() == ""`, `header(1) == ""`,
		`path = "x"`, `sum([1]) > 0`, strings.Repeat("(", 3000), `true` + strings.Repeat(` && true`, 600), strings.Repeat("!", 3000) + "true",
	}
	for _, text := range tests {
		_, err := NewConditions().Compile(text)
		var wrong *ConditionError
		if !errors.As(err, &wrong) {
			t.Errorf("%.40q: %v", text, err)
		} else if wrong.Line < 1 || wrong.Column < 1 || wrong.Reason == "" {
			t.Errorf("%.40q: %+v", text, wrong)
		}
	}
}

func TestConditionsConcurrentSafe(t *testing.T) {
	fits, err := NewConditions().Compile(`user == "ann" && header("X-Level") == "7" && path == "/v1/login"`)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := sample()
			if g%2 == 1 {
				r.User = "bob"
			}
			for range 500 {
				if fits(r) != (g%2 == 0) {
					t.Errorf("goroutine %d got another's answer", g)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestConditionAllocs(t *testing.T) {
	tests := []struct {
		when string
		most float64
	}{
		{`method == "POST"`, 0},
		{`length > 1000`, 1},
		{`user == "ann"`, 1},
		{`header("X-Level") == "7"`, 1},
		{`path == "/v1/login"`, 1},
		{`in_cidr(ip, "10.0.0.0/8")`, 2},
	}
	for _, test := range tests {
		fits, err := NewConditions().Compile(test.when)
		if err != nil {
			t.Fatal(err)
		}
		r := sample()
		if got := testing.AllocsPerRun(200, func() { fits(r) }); got > test.most && !raceEnabled {
			t.Errorf("%s: %v allocations, want at most %v", test.when, got, test.most)
		}
	}
}

func BenchmarkCondition(b *testing.B) {
	for _, when := range []string{`method == "POST"`, `path startsWith "/v1/" && header("X-Level") == "7"`} {
		b.Run(when, func(b *testing.B) {
			fits, err := NewConditions().Compile(when)
			if err != nil {
				b.Fatal(err)
			}
			r := sample()
			b.ReportAllocs()
			for b.Loop() {
				fits(r)
			}
		})
	}
}
