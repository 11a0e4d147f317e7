package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// check is what Validate should say of a rule in JSON.
type check struct {
	rule    string // without name and limits, which are added
	field   string
	words   string
	warning bool
}

func TestValidateRule(t *testing.T) {
	for _, c := range []check{
		{`"missing": "share", "key": ["ip"]`, "missing", `did you mean "shared"?`, false},
		{`"scope": "fleet"`, "scope", "cluster, instance or split", false},
		{`"mode": "enforced"`, "mode", `did you mean "enforce"?`, false},
		{`"on_store_error": "open"`, "on_store_error", "local, allow or deny", false},
		{`"headers": "draft-9"`, "headers", "draft", false},
		{`"limits": []`, "limits", "no limits", false},
		{`"limits": [{"limit": "1/s", "scope": "local"}]`, "limits[0].scope", "unknown", false},
		{`"limits": [{"limit": "1/s", "name": "a"}, {"limit": "5/m", "name": "a"}]`, "limits[1].name", "limits[0] has the same name", false},
		{`"limits": [{"limit": "1/s", "name": "a b"}]`, "limits[0].name", "cannot be a name", false},
		{`"match": {"methods": ["get"]}`, "match.methods[0]", "did you mean GET?", false},
		{`"match": {"methods": ["GET POST"]}`, "match.methods[0]", "is no method", false},
		{`"match": {"methods": ["GET", "PUT", "GET"]}`, "match.methods[2]", "says the same as match.methods[0]", true},
		{`"match": {"hosts": ["*"]}`, "match.hosts[0]", "leave hosts out", false},
		{`"match": {"hosts": ["a.*.com"]}`, "match.hosts[0]", "is no host", false},
		{`"match": {"hosts": ["a.com:80"]}`, "match.hosts[0]", "write a.com", false},
		{`"match": {"hosts": ["bücher.de"]}`, "match.hosts[0]", "xn--", false},
		{`"match": {"paths": ["login"]}`, "match.paths[0]", "write /login", false},
		{`"match": {"paths": ["/ok", "/api//login/"]}`, "match.paths[1]", "write /api/login", false},
		{`"match": {"paths": ["/a%2Fb"]}`, "match.paths[0]", "more than one way", false},
		{`"match": {"paths": ["/100%"]}`, "match.paths[0]", "%25", false},
		{`"match": {"paths": ["/a/*/b"]}`, "match.paths[0]", "a whole segment", false},
		{`"match": {"paths": ["/a/{id}x"]}`, "match.paths[0]", "a whole segment", false},
		{`"match": {"paths": ["/{a}/{a}"]}`, "match.paths[0]", "two variables", false},
		{`"match": {"paths": ["/{a}", "/{b}"]}`, "match.paths[1]", "says the same", true},
		{`"match": {"ips": ["10.0.0.1/8"]}`, "match.ips[0]", "did you mean 10.0.0.0/8?", false},
		{`"match": {"ips": ["fe80::1%eth0"]}`, "match.ips[0]", "zone", false},
		{`"match": {"ips": ["somewhere"]}`, "match.ips[0]", "192.0.2.0/24", false},
		{`"match": {"headers": {"X A": "1"}}`, "match.headers.X A", "cannot be the name", false},
		{`"match": {"headers": {"Host": "a.com"}}`, "match.headers.Host", "match.hosts", false},
		{`"match": {"headers": {"x-a": "1", "X-A": "2"}}`, "match.headers.x-a", "there twice", false},
		{`"match": {"headers": {"X-A": ""}}`, "match.headers.X-A", "use * for any", false},
		{`"match": {"attributes": {"a": ""}}`, "match.attributes.a", "use * for any", false},
		{`"match": {"when": "x"}`, "match.when", "not available", false},
		{`"match": {"paths": ["/a?x=1"]}`, "match.paths[0]", "write /a;", false},
		{`"match": {"paths": ["/login#x"]}`, "match.paths[0]", "write /login;", false},
		{`"match": {"paths": ["/a/*", "/a/b"]}`, "match.paths[1]", `match.paths[0] has "/a/*"`, true},
		{`"match": {"paths": ["/a/b", "/a/{x}"]}`, "match.paths[0]", `match.paths[1] has "/a/{x}"`, true},
		{`"match": {"paths": ["/a/{x}", "/{x}/{y}"]}, "key": ["path:x"]`, "", "", false},
		{`"match": {"paths": ["/{x}/{y}", "/a/{x}"]}, "key": ["path:x"]`, "match.paths[1]", `has "/{x}/{y}"`, true},
		{`"match": {"paths": ["a/{id}"]}, "key": ["path:id"]`, "match.paths[0]", "write /a/{id}", false},
		{`"match": {"hosts": [".a.com"]}`, "match.hosts[0]", "write *.a.com for all below it", false},
		{`"match": {"hosts": ["."]}`, "match.hosts[0]", "is no host", false},
		{`"match": {"hosts": ["http://a.com"]}`, "match.hosts[0]", "(write a.com)", false},
		{`"match": {"hosts": ["A.com:80/login"]}`, "match.hosts[0]", "(write a.com)", false},
		{`"match": {"hosts": ["x.a.com", "*.a.com"]}`, "match.hosts[0]", `match.hosts[1] has "*.a.com"`, true},
		{`"match": {"hosts": ["*.a.com", "*.x.a.com"]}`, "match.hosts[1]", "does nothing", true},
		{`"match": {"hosts": ["*.a.com", "a.com"]}`, "", "", false},
		{`"match": {"ips": ["10.1.0.0/16", "10.0.0.0/8"]}`, "match.ips[0]", `match.ips[1] has "10.0.0.0/8"`, true},
		{`"match": {"ips": ["10.0.0.1", "::ffff:10.0.0.1"]}`, "match.ips[1]", "says the same", true},
		{`"skip": {"ips": ["10.0.0.0/8", "10.0.0.0/9"]}`, "skip.ips[1]", "does nothing", true},
		{`"match": {"headers": {"Accept": "text/*"}}`, "match.headers.Accept", "taken as it stands", true},
		{`"match": {"headers": {"Accept": "*/*"}}`, "", "", false},
		{`"match": {"attributes": {"plan": "free-*"}}`, "match.attributes.plan", "taken as it stands", true},
		{`"key": ["ip+user"]`, "key[0]", "write [ip, user]", false},
		{`"key": ["ip,user"]`, "key[0]", "write [ip, user]", false},
		{`"key": ["ip/56, header:X-A"]`, "key[0]", "write [ip/56, header:X-A]", false},
		{`"key": ["header:X-A,ip"]`, "key[0]", "write [header:X-A, ip]", false},
		{`"key": ["X-Api-Key"]`, "key[0]", `did you mean "header:X-Api-Key"?`, false},
		{`"key": ["x-api-key"]`, "key[0]", `did you mean "header:x-api-key"?`, false},
		{`"key": ["authorization"]`, "key[0]", `did you mean "header:authorization"?`, false},
		{`"key": ["uid"]`, "key[0]", "use ip, user, host", false},
		{`"key": ["header:authorization"]`, "key[0]", "set hash: true", true},
		{`"key": ["adress"]`, "key[0]", "unknown part", false},
		{`"key": ["usr"]`, "key[0]", `did you mean "user"?`, false},
		{`"key": ["ip/129"]`, "key[0]", "ip/1 to ip/128", false},
		{`"key": ["ip/056"]`, "key[0]", "ip/1 to ip/128", false},
		{`"key": ["user/8"]`, "key[0]", "only ip has a prefix", false},
		{`"key": ["header"]`, "key[0]", "write header:NAME", false},
		{`"key": ["user:ann"]`, "key[0]", "write user", false},
		{`"key": ["ip", "ip"]`, "key[1]", "there twice", false},
		{`"key": ["path:id"]`, "key[0]", "no paths with variables", false},
		{`"match": {"paths": ["/u/{id}", "/g/{group}"]}, "key": ["path:id"]`, "key[0]", `has no variable "id"`, false},
		{`"match": {"paths": ["/u/{user}"]}, "key": ["path:usr"]`, "key[0]", `did you mean "user"?`, false},
		{`"key": ["cookie:a b"]`, "key[0]", "cannot be the name of a cookie", false},
		{`"hash": true, "key": ["ip"]`, "hash", "rule.HashKey", false},
		{`"key": ["ip"], "tag": "user"`, "tag", "add it to key", false},
		{`"missing": "deny"`, "missing", "without a key", false},
		{`"rollout": "10%"`, "rollout", "without a key", false},
		{`"key": ["ip"], "rollout": "10"`, "rollout", "percent sign", false},
		{`"key": ["ip"], "rollout": "110%"`, "rollout", "0% to 100%", false},
		{`"key": ["ip"], "rollout": "0.00001%"`, "rollout", "0.0001% or more", false},
		{`"key": ["ip"], "rollout": "0%"`, "", "", false},
		{`"key": ["ip"], "rollout": "10%", "mode": "off"`, "rollout", "while the mode is off", true},
		{`"candidate": ["9/s"], "mode": "off"`, "candidate", "while the mode is off", true},
		{`"wait": "2s", "mode": "shadow"`, "wait", "while the mode is shadow", true},
		{`"wait": "2s", "limits": ["0/s"]`, "wait", "no limit to wait for", true},
		{`"wait": "-2s"`, "wait", "out of range", false},
		{`"wait": "5s", "limits": ["10/s max_wait=1s"]`, "wait", "longer than what limits[0] allows", true},
		{`"scope": "instance", "on_store_error": "deny"`, "on_store_error", "no limit has the scope cluster", false},
		{`"cost": {"max": 5}`, "cost.max", "without header or bytes", false},
		{`"cost": {"bytes": 5}`, "cost.max", "bytes needs it", false},
		{`"cost": -1`, "cost.fixed", "out of range", false},
		{`"cost": {"methods": {"PUT": 0}}`, "cost.methods.PUT", "out of range", false},
		{`"cost": {"methods": {"put": 1}}`, "cost.methods.put", "did you mean PUT?", false},
		{`"cost": {"header": "a b"}`, "cost.header", "cannot be the name", false},
		{`"cost": 11`, "cost.fixed", "can ever admit at once", true},
		{`"cost": {"methods": {"PUT": 11, "GET": 9}}`, "cost.methods.PUT", "can ever admit at once", true},
		{`"cost": {"header": "X-Cost", "max": 11}`, "cost.max", "can ever admit at once", true},
		{`"overrides": [{"keys": ["ann"], "limits": ["1/s"]}]`, "overrides[0].keys[0]", "the rule has no key", false},
		{`"key": ["user"], "overrides": [{"keys": [], "limits": ["1/s"]}]`, "overrides[0].keys", "no keys", false},
		{`"key": ["user"], "overrides": [{"keys": ["ann"], "limits": []}]`, "overrides[0].limits", "no limits", false},
		{`"key": ["user", "ip"], "overrides": [{"keys": ["ann"], "limits": ["1/s"]}]`, "overrides[0].keys[0]", "1 value for a key of 2 parts", false},
		{`"key": ["ip"], "overrides": [{"keys": ["ann"], "limits": ["1/s"]}]`, "overrides[0].keys[0]", "can never be a value of ip", false},
		{`"key": ["ip"], "overrides": [{"keys": ["10.0.0.0/8"], "limits": ["1/s"]}]`, "overrides[0].keys[0]", "one address", false},
		{`"key": ["ip"], "overrides": [{"keys": ["2001:db8::/32"], "limits": ["1/s"]}]`, "overrides[0].keys[0]", "by /64", false},
		{`"key": ["host"], "overrides": [{"keys": ["A.com"], "limits": ["1/s"]}]`, "overrides[0].keys[0]", "write a.com", false},
		{`"key": ["path"], "overrides": [{"keys": ["/a/"], "limits": ["1/s"]}]`, "overrides[0].keys[0]", "write /a", false},
		{`"key": ["user"], "overrides": [{"keys": [""], "limits": ["1/s"]}]`, "overrides[0].keys[0]", "counts as missing", false},
		{`"key": ["user"], "overrides": [{"keys": ["a"], "limits": ["1/s"]}, {"keys": ["b", "a"], "limits": ["2/s"]}]`, "overrides[1].keys[1]", "overrides[0] comes first and", true},
		{`"key": ["user", "ip"], "overrides": [{"keys": [["a", "*"]], "limits": ["1/s"]}, {"keys": [["a", "10.0.0.1"]], "limits": ["2/s"]}]`, "overrides[1].keys[0]", "overrides[0] comes first and", true},
		{`"key": ["user"], "overrides": [{"keys": ["a", "a"], "limits": ["1/s"]}]`, "overrides[0].keys[1]", "an entry before it", true},
		{`"key": ["user"], "overrides": [{"keys": ["a", "*"], "limits": ["1/s"]}]`, "overrides[0].keys", "the rule's own limits do nothing", true},
		{`"key": ["method"], "overrides": [{"keys": ["get"], "limits": ["1/s"]}]`, "overrides[0].keys[0]", "write GET", false},
		{`"key": ["method"], "skip": {"keys": ["G T"]}`, "skip.keys[0]", "a method such as GET", false},
		{`"key": ["path:id"], "match": {"paths": ["/u/{id}"]}, "skip": {"keys": ["a/b"]}`, "skip.keys[0]", "leave out the slash", false},
		{`"key": ["path:id"], "match": {"paths": ["/u/{id}"]}, "skip": {"keys": ["a%20b"]}`, "skip.keys[0]", "write a b", false},
		{`"key": ["path:id"], "match": {"paths": ["/u/{id}"]}, "skip": {"keys": ["a;b"]}`, "skip.keys[0]", "more than one way", false},
		{`"key": ["path:id"], "match": {"paths": ["/u/{id}"]}, "skip": {"keys": [".."]}`, "skip.keys[0]", "more than one way", false},
		{`"key": ["path:id"], "match": {"paths": ["/u/{id}"]}, "skip": {"keys": ["Bob"]}`, "", "", false},
		{`"key": ["cookie:sid"], "skip": {"keys": ["a\\b"]}`, "skip.keys[0]", "servers do not take", false},
		{`"key": ["header:X-A"], "skip": {"keys": [" a"]}`, "skip.keys[0]", "write a", false},
		{`"key": ["user"], "skip": {"keys": ["a", "a"]}`, "skip.keys[1]", "skip.keys[0] has it already", true},
		{`"key": ["user"], "skip": {"keys": ["a", "b", "*"]}`, "skip.keys[2]", "unreachable", false},
		{`"key": ["user"], "skip": {"keys": ["a"]}, "overrides": [{"keys": ["a"], "limits": ["2/s"]}]`, "overrides[0].keys[0]", "exempt", true},
		{`"skip": {"keys": ["a"]}`, "skip.keys[0]", "the rule has no key", false},
		{`"skip": {"ips": ["10.0.0.0/8"]}, "match": {"ips": ["10.1.0.0/16", "10.2.0.1"]}`, "skip.ips", "unreachable", false},
		{`"skip": {"ips": ["0.0.0.0/0", "::/0"]}`, "skip.ips", "unreachable", false},
		{`"skip": {"headers": {"x-a": "*"}}, "match": {"headers": {"X-A": "1"}}`, "skip.headers.X-A", "unreachable", false},
		{`"key": ["ip", "user"], "skip": {"keys": [["*", "*"]]}`, "skip.keys[0]", "unreachable", false},
	} {
		checkFinding(t, c, ruleText("r", c.rule))
	}
}

// ruleText returns a rule in JSON. It says what missing parts of its key mean.
func ruleText(name, fields string) string {
	if strings.Contains(fields, `"key":`) && !strings.Contains(fields, `"missing"`) {
		fields += `, "missing": "skip"`
	}
	if !strings.Contains(fields, `"limits": [`) || strings.HasPrefix(fields, `"key"`) || strings.HasPrefix(fields, `"overrides"`) || strings.HasPrefix(fields, `"skip"`) {
		fields = strings.TrimPrefix(fields+`, "limits": ["10/s"]`, ", ")
	}
	return fmt.Sprintf(`{"name": %q, %s}`, name, fields)
}

// checkFinding: the last of the rules has this finding and no other.
func checkFinding(t *testing.T, c check, rules ...string) {
	t.Helper()
	config, err := rule.ParseJSON([]byte(`{"rules": [` + strings.Join(rules, ", ") + `]}`))
	if err != nil {
		t.Errorf("%s: %v", c.rule, err)
		return
	}
	findings := rule.Validate(config)
	if c.field == "" {
		if len(findings) > 0 {
			t.Errorf("%s\ngot  %v\nwant nothing", c.rule, findings)
		}
		return
	}
	if len(findings) != 1 {
		t.Errorf("%s\ngot  %d: %v\nwant %s: %s", c.rule, len(findings), findings, c.field, c.words)
		return
	}
	f := findings[0]
	if f.Field != c.field || !strings.Contains(f.String(), c.words) || f.Warning != c.warning || f.Hint == "" || f.Index != len(rules)-1 {
		t.Errorf("%s\ngot  %q: %s (rule %d)\nwant %q: %s, warning %v", c.rule, f.Field, f, f.Index, c.field, c.words, c.warning)
	}
	if _, err := rule.Compile(config); (err == nil) != c.warning {
		t.Errorf("%s: Compile says %v", c.rule, err)
	}
}

func TestValidatePointlessLimits(t *testing.T) {
	for _, c := range []struct {
		limits string
		field  string // empty: nothing to tell
		words  string
	}{
		{`"10/s", "1000/h"`, "", ""},
		{`"10/s", "fixed_window 1000/m"`, "limits[1].limit", "limits[0] (10/s) lets at most 609 through"},
		{`"10/s", "fixed_window 609/m"`, "limits[1].limit", "at most 609"},
		{`"10/s", "fixed_window 608/m"`, "", ""},
		{`"10/s burst=50", "fixed_window 609/m"`, "", ""},
		{`"10/s", "20/s"`, "limits[1].limit", "lets no more through"},
		{`"20/s", "10/s"`, "limits[0].limit", "lets no more through"},
		{`"10/s", "10/s"`, "limits[1].limit", "lets no more through"},
		{`"10/s burst=50", "20/s burst=20"`, "", ""},
		{`"10/s burst=20", "sliding_log 19/s"`, "", ""},
		{`"10/s", "sliding_log 19/s"`, "limits[1].limit", "at most 19"},
		{`"fixed_window 10/s", "fixed_window 600/m"`, "limits[1].limit", "at most 600"},
		{`"fixed_window 10/s", "fixed_window 599/m"`, "", ""},
		{`"fixed_window 10/m", "fixed_window 10/s"`, "limits[1].limit", "at most 10"},
		{`"fixed_window 10/s", "sliding_log 20/s"`, "limits[1].limit", "at most 20"},
		{`"fixed_window 10/s", "sliding_log 19/s"`, "", ""},
		{`"fixed_window 10/s", "10/s burst=20"`, "limits[1].limit", "lets no more"},
		{`"fixed_window 10/s", "10/s burst=19"`, "", ""},
		{`"sliding_log 10/s", "10/s"`, "limits[1].limit", "lets no more"},
		{`"sliding_window 10/s", "sliding_log 20/s"`, "limits[1].limit", "at most 20"},
		{`"sliding_window 10/s weighted", "sliding_log 20/s"`, "", ""},
		{`"100/d zone=Europe/Berlin", "3100/mo zone=Europe/Berlin"`, "limits[1].limit", "at most 3100"},
		{`"100/d zone=Europe/Berlin", "3099/mo zone=Europe/Berlin"`, "", ""},
		{`"0/s", "10/s"`, "limits[1].limit", "decides alone"},
		{`"10/s", "unlimited"`, "limits[1].limit", "decides alone"},
		{`"10/s", "leaky_bucket 20/s"`, "", ""},
		{`{"limit": "10/s", "name": "sec"}, "20/s"`, "limits[1].limit", `limits[0] "sec" (10/s) lets no more`},
		{`"10/s", {"limit": "20/s", "scope": "instance"}`, "", ""},
		{`{"limit": "10/s", "scope": "instance"}, "20/s"`, "", ""},
		{`{"limit": "10/s", "scope": "split"}, {"limit": "20/s", "scope": "instance"}`, "", ""},
	} {
		text := `"limits": [` + c.limits + `]`
		checkFinding(t, check{text, c.field, c.words, true}, `{"name": "r", `+text+`}`)
	}
	checkFinding(t, check{"nothing gets to the instance's limit while the store is down", "limits[1].limit", "lets no more", true},
		`{"name": "r", "on_store_error": "deny", "limits": ["10/s", {"limit": "20/s", "scope": "instance"}]}`)
	checkFinding(t, check{"waiting takes from the future", "", "", false}, `{"name": "r", "wait": "2s", "limits": ["10/s", "fixed_window 609/m"]}`)
}

func TestValidateRulesBesideEachOther(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		field string
		words string
	}{
		{`"key": ["ip"]`, `"key": ["user"], "missing": "skip"`, "", ""},
		{`"key": ["ip"]`, `"key": ["ip"]`, "limits", `can never bind: rule "a"`},
		{`"limits": ["10/s"]`, `"limits": ["100/h burst=100"]`, "match", `rule "a" has the same match and key`},
		{`"limits": ["10/s"], "match": {"paths": ["/api/*"]}`, `"limits": ["100/s"], "match": {"paths": ["/api/{x}/login", "/api"]}`, "limits", "can never bind"},
		{`"limits": ["10/s"], "match": {"paths": ["/api/*"]}`, `"limits": ["5/s"], "match": {"paths": ["/api/login"]}`, "", ""},
		{`"limits": ["10/s"], "match": {"paths": ["/api/login"]}`, `"limits": ["50/s"], "match": {"paths": ["/api/*"]}`, "", ""},
		{`"limits": ["10/s"], "match": {"hosts": ["*.a.com"]}`, `"limits": ["50/s"], "match": {"hosts": ["x.a.com", "*.y.a.com"]}`, "limits", "can never bind"},
		{`"limits": ["10/s"], "match": {"hosts": ["*.a.com"]}`, `"limits": ["50/s"], "match": {"hosts": ["a.com"]}`, "", ""},
		{`"limits": ["10/s"], "match": {"ips": ["10.0.0.0/8"]}`, `"limits": ["50/s"], "match": {"ips": ["10.1.0.0/16"], "methods": ["GET"]}`, "limits", "can never bind"},
		{`"limits": ["10/s"], "match": {"headers": {"x-a": "*"}}`, `"limits": ["50/s"], "match": {"headers": {"X-A": "1"}}`, "limits", "can never bind"},
		{`"limits": ["10/s"], "match": {"attributes": {"a": "1"}}`, `"limits": ["50/s"], "match": {"attributes": {"a": "*"}}`, "", ""},
		{`"limits": ["10/s"], "match": {"ips": ["10.0.0.0/16"]}`, `"limits": ["50/s"], "match": {"ips": ["10.0.0.0/8"]}`, "", ""},
		{`"key": ["ip"], "rollout": "10%", "limits": ["10/s"]`, `"key": ["ip"], "limits": ["50/s"], "match": {"methods": ["GET"]}`, "", ""},
		{`"limits": ["10/s"], "mode": "shadow"`, `"limits": ["50/s"], "match": {"methods": ["GET"]}`, "", ""},
		{`"limits": ["10/s"], "mode": "off"`, `"limits": ["50/s"]`, "", ""},
		{`"limits": ["10/s"], "skip": {"ips": ["10.0.0.0/8"]}`, `"limits": ["50/s"], "match": {"methods": ["GET"]}`, "", ""},
		{`"limits": ["10/s"]`, `"scope": "instance", "limits": ["50/s"], "match": {"methods": ["GET"]}`, "", ""},
		{`"limits": ["10/s"], "on_store_error": "deny"`, `"scope": "instance", "limits": ["50/s"], "match": {"methods": ["GET"]}`, "limits", "can never bind"},
		{`"limits": ["10/s"], "on_store_error": "allow"`, `"limits": ["50/s"], "match": {"methods": ["GET"]}`, "", ""},
		{`"limits": ["10/s"]`, `"limits": ["50/s"], "match": {"methods": ["GET"]}, "on_store_error": "deny"`, "", ""},
		{`"limits": ["10/s"], "on_store_error": "deny"`, `"limits": ["50/s"], "match": {"methods": ["GET"]}, "on_store_error": "allow"`, "limits", "lets no more through"},
		{`"match": {"methods": ["GET", "PUT"]}`, `"match": {"methods": ["PUT", "POST"]}`, "match.methods[0]", `rule "a" has it too`},
		{`"match": {"methods": ["GET", "PUT"]}`, `"match": {"methods": ["POST", "HEAD"]}`, "", ""},
		{`"match": {"methods": ["GET", "PUT"]}, "mode": "shadow"`, `"match": {"methods": ["PUT", "POST"]}`, "", ""},
		{`"match": {"methods": ["GET", "PUT"]}, "key": ["ip"]`, `"match": {"methods": ["PUT", "POST"]}`, "", ""},
		{`"match": {"methods": ["GET", "PUT"], "hosts": ["a.com"]}`, `"match": {"methods": ["PUT", "POST"]}`, "", ""},
		{`"match": {"paths": ["/a", "/b/{x}"]}`, `"match": {"paths": ["/c", "/b/{y}"]}`, "match.paths[1]", "pays in both"},
		{`"match": {"ips": ["10.0.0.1", "10.0.0.2"]}`, `"match": {"ips": ["10.0.0.3", "10.0.0.2"]}`, "match.ips[1]", "pays in both"},
		{`"match": {"hosts": ["a.com", "b.com"]}`, `"match": {"hosts": ["b.com", "c.com"]}`, "match.hosts[0]", "pays in both"},
		{`"limits": ["10/s"], "cost": 2`, `"limits": ["50/s"], "match": {"methods": ["GET"]}`, "", ""},
	} {
		withLimits := func(s string) string {
			if !strings.Contains(s, "limits") {
				s += `, "limits": ["10/s"]`
			}
			return s
		}
		checkFinding(t, check{c.a + " and " + c.b, c.field, c.words, true},
			`{"name": "a", `+withLimits(c.a)+`}`, `{"name": "b", `+withLimits(c.b)+`}`)
	}
}

func TestValidateWhole(t *testing.T) {
	limits := []rule.Limit{{Limit: sluice.PerSecond(1)}}
	findings := rule.Validate(rule.Config{
		Default: "denied", Paths: rule.Paths{Ambiguous: "rejects"},
		Rules: []rule.Rule{
			{Name: "a", Limits: limits},
			{Limits: limits},
			{Name: "a", Limits: limits},
			{Name: "a b", Limits: limits},
			{Name: strings.Repeat("x", 129), Limits: limits},
			{Name: "c", Limits: []rule.Limit{{Limit: sluice.Limit{Algorithm: "adaptive", Count: 5}}}},
		},
	})
	want := []string{
		`-1 default: "denied" is unknown (did you mean "deny"?)`,
		`-1 paths.ambiguous: "rejects" is unknown (did you mean "reject"?)`,
		`1 rules[1]: name: missing`,
		`2 rule "a": name: rules[0] has the same name`,
		`3 rule "a b": name: "a b" cannot be a name`,
		`4 rule "xxx`,
		`5 rule "c": limits[0].limit: `,
	}
	if len(findings) != len(want) {
		t.Fatalf("got %d findings:\n%v", len(findings), findings)
	}
	for i, f := range findings {
		if got := fmt.Sprintf("%d %s", f.Index, f); !strings.HasPrefix(got, want[i]) {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
	if len(strings.Split(findings.Error(), "\n")) != len(want) {
		t.Errorf("as an error: %v", findings)
	}
	if err := (rule.Findings{{Warning: true, Reason: "x"}}).Err(); err != nil {
		t.Errorf("a warning is an error: %v", err)
	}
}

func TestValidateMissing(t *testing.T) {
	const hint = "(say what happens to them: missing: deny, shared or skip)"
	for _, c := range []struct{ rule, words string }{
		{`"key": ["ip", "header:X-User"]`, "requests without header:X-User are not limited by this rule " + hint},
		{`"key": ["user", "cookie:a"]`, "requests without user or cookie:a are not limited"},
		{`"key": ["query:q", "attribute:a", "method"]`, "requests without query:q or attribute:a are"},
		{`"key": ["ip", "host", "path", "method", "const:x"]`, ""},
		{`"key": ["user"], "missing": "skip"`, ""},
		{`"key": ["header:X-A"], "match": {"headers": {"x-a": "*"}}`, ""},
		{`"key": ["header:X-A"], "match": {"headers": {"X-B": "*"}}`, "header:X-A"},
		{`"key": ["attribute:a"], "match": {"attributes": {"a": "1"}}`, ""},
	} {
		field := "missing"
		if c.words == "" {
			field = ""
		}
		checkFinding(t, check{c.rule, field, c.words, true}, `{"name": "r", "limits": ["1/s"], `+c.rule+`}`)
	}
}

// TestValidateBrokenEntries: what could not be read is told once.
func TestValidateBrokenEntries(t *testing.T) {
	limits := []rule.Limit{{Limit: sluice.PerSecond(1)}}
	for _, match := range []rule.Match{
		{Paths: []string{"login", "logout"}},
		{Hosts: []string{"*", "*"}},
		{IPs: []string{"x", "x"}},
	} {
		findings := rule.Validate(rule.Config{Rules: []rule.Rule{{Name: "r", Match: match, Limits: limits}}})
		if len(findings) != 2 || findings[0].Warning || findings[1].Warning {
			t.Errorf("%+v: got\n%v", match, findings)
		}
	}
}

func TestValidateFoldedKeys(t *testing.T) {
	config := rule.Config{Paths: rule.Paths{FoldCase: true}, Rules: []rule.Rule{{
		Name: "r", Match: rule.Match{Paths: []string{"/u/{id}"}}, Key: []string{"path:id"}, Limits: []rule.Limit{{Limit: sluice.PerSecond(1)}},
		Skip: rule.Skip{Keys: []rule.KeyValues{{"Bob"}}},
	}}}
	if findings := rule.Validate(config); len(findings) != 1 || findings[0].Field != "skip.keys[0]" || findings[0].Hint != "write bob" {
		t.Errorf("got %v", findings)
	}
}

func TestValidateNoRules(t *testing.T) {
	for def, words := range map[rule.Default]string{"": "let through", rule.Deny: "denied"} {
		set, findings := rule.Examine(rule.Config{Default: def})
		if set == nil || len(findings) != 1 || !findings[0].Warning || findings[0].Field != "rules" || !strings.Contains(findings[0].Reason, words) {
			t.Errorf("default %q: got %v", def, findings)
		}
	}
}

// TestCheck: one call gives the set and what there is to say about it.
func TestCheck(t *testing.T) {
	r := rule.Rule{Name: "r", Key: []string{"user"}, Limits: []rule.Limit{{Limit: sluice.PerSecond(1)}}}
	set, findings := rule.Examine(rule.Config{Rules: []rule.Rule{r}})
	if set == nil || len(set.Rules()) != 1 || len(findings) != 1 || !findings[0].Warning {
		t.Errorf("got %v, %v", set, findings)
	}
	r.Key = []string{"usr"}
	if set, findings = rule.Examine(rule.Config{Rules: []rule.Rule{r}}); set != nil || findings.Err() == nil {
		t.Errorf("got %v, %v", set, findings)
	}
}
