package resp

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// TestSure: of which rules it is known without a look that they are for a request.
func TestSure(t *testing.T) {
	limits := []rule.Limit{{Limit: sluice.PerSecond(1)}}
	for _, c := range []struct {
		name string
		rule rule.Rule
		args string
		want bool
	}{
		{"nothing is asked for", rule.Rule{}, "", true},
		{"more is said", rule.Rule{}, "user=ann host=a.com a=b header:x=y", true},
		{"a path", rule.Rule{}, "path=/a", false},
		{"the key is there", rule.Rule{Key: []string{"ip/56", "user"}}, "user=ann ip=::1", true},
		{"a part of it is missing", rule.Rule{Key: []string{"ip", "user"}}, "user=ann", false},
		{"a part of it is empty", rule.Rule{Key: []string{"user"}}, "user=", false},
		{"all is filled in", rule.Rule{Match: rule.Match{Methods: []string{"POST"}, Hosts: []string{"a.com"}, Paths: []string{"/x/*", "/x"}}}, "", true},
		{"the match is said", rule.Rule{Match: rule.Match{Methods: []string{"POST"}}}, "method=POST", false},
		{"no path fits", rule.Rule{Match: rule.Match{Paths: []string{"/x/*"}}}, "", false},
		{"the key is filled in", rule.Rule{
			Match: rule.Match{Methods: []string{"GET"}, Headers: map[string]string{"X-A": "1"}, Attributes: map[string]string{"a": "1"}},
			Key:   []string{"method", "path", "const:a", "header:x-a", "attribute:a"},
		}, "b=2 header:x-b=2", true},
		{"the key is said", rule.Rule{Match: rule.Match{Headers: map[string]string{"X-A": "*"}}, Key: []string{"header:x-a", "attribute:a"}}, "header:X-a=1 a=2", true},
		{"an attribute is not", rule.Rule{Key: []string{"header:x-a", "attribute:a"}}, "header:X-a=1 b=2", false},
		{"a header is not", rule.Rule{Key: []string{"header:x-a", "attribute:a"}}, "header:X-b=1 a=2", false},
		{"a header of the match is said", rule.Rule{Match: rule.Match{Headers: map[string]string{"X-A": "1"}}}, "header:x-a=1", false},
		{"an attribute of the match is said", rule.Rule{Match: rule.Match{Attributes: map[string]string{"a": "1"}}}, "a=1", false},
		{"addresses", rule.Rule{Match: rule.Match{IPs: []string{"192.0.2.0/24"}}, Key: []string{"ip"}}, "ip=192.0.2.1", false},
		{"the example is exempt", rule.Rule{Key: []string{"ip", "host"}, Skip: rule.Skip{IPs: []string{"192.0.2.1"}}}, "ip=10.0.0.1", false},
		{"nobody has to give a key", rule.Rule{Key: []string{"host"}, Missing: rule.MissingDeny}, "", true},
		{"a host may be none", rule.Rule{Key: []string{"host"}}, "host=:80", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rule.Name, c.rule.Limits = "r", limits
			set, err := rule.Compile(rule.Config{Rules: []rule.Rule{c.rule}})
			if err != nil {
				t.Fatal(err)
			}
			n, a := newNamed(set, set.Rules()[0]), asked{}
			if problem := a.read(words(c.args)); problem != "" {
				t.Fatal(problem)
			}
			if got := a.complete(n) && n.sure.fits(&a); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func words(text string) (args [][]byte) {
	for word := range strings.FieldsSeq(text) {
		args = append(args, []byte(word))
	}
	return args
}

// TestSureIsRight: what is known without a look is what a look would tell, whatever the
// rules and the requests are.
func TestSureIsRight(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	known := 0
	for range 400 {
		set, err := rule.Compile(anyRules(r))
		if err != nil {
			continue
		}
		for _, c := range set.Rules() {
			n := newNamed(set, c)
			for range 10 {
				args, a := anyArgs(r), asked{}
				if a.read(words(args)) != "" || !a.complete(n) || !n.sure.fits(&a) {
					continue
				}
				known++
				if why := a.misses(set, n); why != "" {
					t.Fatalf("seed %d: it is taken for granted that a rule is for %q, but %s: %+v", seed, args, why, set.Config())
				}
			}
		}
	}
	if known == 0 {
		t.Errorf("seed %d: no request is known to be for its rule", seed)
	}
}

func oneOf[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// anyRules returns some that have much in common, not all of which hold.
func anyRules(r *rand.Rand) (c rule.Config) {
	c.Paths.Ambiguous = oneOf(r, "reject", "decode")
	for i := range 3 {
		x := rule.Rule{Name: string(rune('a' + i)), Limits: []rule.Limit{{Limit: sluice.PerSecond(1)}}, Missing: oneOf(r, rule.MissingSkip, rule.MissingDeny, rule.MissingShared)}
		x.Match.Methods = oneOf(r, nil, nil, []string{"POST"}, []string{"GET", "PUT"})
		x.Match.Hosts = oneOf(r, nil, nil, []string{"a.com"}, []string{"*.a.com"}, []string{"*.a.com", "B.com"})
		x.Match.Paths = oneOf(r, nil, nil, []string{"/x"}, []string{"/x/*"}, []string{"/u/{id}", "/x"})
		x.Match.Headers = oneOf(r, nil, nil, map[string]string{"x-a": "1"}, map[string]string{"X-A": "*"})
		x.Match.Attributes = oneOf(r, nil, nil, map[string]string{"a": "1"}, map[string]string{"a": "*", "b": "1"})
		x.Match.IPs = oneOf(r, nil, nil, nil, []string{"192.0.2.0/24"})
		x.Skip.IPs = oneOf(r, nil, nil, []string{"192.0.2.1"}, []string{"10.0.0.0/8"})
		x.Skip.Headers = oneOf(r, nil, nil, map[string]string{"X-A": "1"}, map[string]string{"X-B": "*"})
		x.Mode = oneOf(r, rule.Enforce, rule.Enforce, rule.Shadow, rule.Off)
		for range r.IntN(3) {
			x.Key = append(x.Key, oneOf(r, "ip", "user", "host", "method", "path", "header:X-A", "header:x-b", "attribute:a", "attribute:c", "query:q", "cookie:s", "const:k"))
		}
		if len(x.Key) == 0 {
			x.Missing = ""
		}
		c.Rules = append(c.Rules, x)
	}
	return c
}

// anyArgs returns fields of a request, some of which are odd.
func anyArgs(r *rand.Rand) string {
	var args []string
	for range r.IntN(6) {
		args = append(args, oneOf(r, "method=POST", "method=GET", "method=", "host=a.com", "host=:80", "host=b.com", "path=/x", "path=/x%2fy", "path=x?q=1",
			"query=q=1", "user=ann", "user=ann", "user=", "ip=192.0.2.1", "ip=10.0.0.1", "ip=::ffff:192.0.2.7", "ip=", "header:X-A=1", "header:x-a=2",
			"header:X-B=1", "header:X-B=", "header:cookie=s=1", "a=1", "a=2", "a=", "b=1", "c=1", "c=", "d=1"))
	}
	return strings.Join(args, " ")
}
