package rule_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// everything is a configuration with every field.
const everything = `{
  "default": "deny",
  "paths": {"ambiguous": "decode", "fold_case": true},
  "rules": [
    {
      "name": "login",
      "match": {
        "methods": ["POST"], "hosts": ["*.example.com"], "paths": ["/users/{id}/*"], "headers": {"X-Plan": "free"},
        "ips": ["192.0.2.0/24"], "attributes": {"region": "*"}, "when": "true"
      },
      "skip": {"ips": ["192.0.2.1"], "headers": {"X-Probe": "*"}, "keys": ["root", ["admin"]]},
      "key": ["path:id"],
      "missing": "shared",
      "hash": true,
      "tag": "path:id",
      "limits": ["5/m", {"name": "hour", "limit": "50/h burst=50", "scope": "split"}],
      "scope": "instance",
      "cost": {"fixed": 2, "methods": {"PUT": 3}, "bytes": 1024, "header": "X-Cost", "max": 5, "response": "X-Took"},
      "wait": "1m30s",
      "on_store_error": "deny",
      "headers": "draft-07",
      "mode": "enforce",
      "rollout": "12.5%",
      "candidate": ["4/m"],
      "overrides": [{"keys": ["7"], "limits": ["500/m"]}]
    },
    {"name": "plain", "limits": ["10/s"], "cost": 4}
  ]
}`

func TestParseJSONRoundTrip(t *testing.T) {
	config, err := rule.ParseJSON([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	r := config.Rules[0]
	if config.Default != rule.Deny || !config.Paths.FoldCase || r.Match.Attributes["region"] != "*" || len(r.Skip.Keys) != 2 || r.Skip.Keys[1][0] != "admin" ||
		r.Limits[0].Limit != sluice.MustParse("5/m") || r.Limits[1].Scope != rule.Split || r.Cost.Methods["PUT"] != 3 ||
		r.Wait != rule.Duration(90*time.Second) || config.Rules[1].Cost.Fixed != 4 || r.Overrides[0].Keys[0][0] != "7" {
		t.Errorf("got %+v", config)
	}
	written, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	again, err := rule.ParseJSON(written)
	if err != nil || !reflect.DeepEqual(again, config) {
		t.Errorf("%v: written and read again\n%+v\nwas\n%+v", err, again, config)
	}
	var plain rule.Config
	if err := json.Unmarshal(written, &plain); err != nil || !reflect.DeepEqual(plain, config) {
		t.Errorf("%v: json.Unmarshal reads\n%+v\nwas\n%+v", err, plain, config)
	}
	if !strings.Contains(string(written), `"cost":4`) || !strings.Contains(string(written), `"limits":["5/m",{`) || !strings.Contains(string(written), `"keys":["root","admin"]`) {
		t.Errorf("not written in the short form: %s", written)
	}
	// Nothing in it is left out by accident.
	if value := reflect.ValueOf(r); value.NumField() > 0 {
		for i := range value.NumField() {
			if value.Field(i).IsZero() {
				t.Errorf("the example has no %s", value.Type().Field(i).Name)
			}
		}
	}
}

func TestParseJSONFaults(t *testing.T) {
	in := func(field string) string {
		return `{"rules": [{"name": "a", "limits": ["1/s"]}, {"name": "b", ` + field + `}]}`
	}
	for _, c := range []struct{ json, field, words string }{
		{``, "", "unexpected end"},
		{"{\n\"rules\": [}", "", "line 2, column 11: invalid character"},
		{`{"rules": []} x`, "", "after top-level"},
		{`[]`, "", "write an object"},
		{`{"rule": []}`, "rule", `did you mean "rules"?`},
		{`{"rules": {}}`, "rules", "write a list"},
		{`{"rules": [], "rules": []}`, "rules", "there twice"},
		{in(`"limits": ["1/s"], "limit": "1/s"`), "limit", `did you mean "limits"?`},
		{in(`"limits": ["1/s"], "Name": "x"`), "Name", `did you mean "name"?`},
		{in(`"limits": ["1"]`), "limits[0]", `say per what: 1/s`},
		{in(`"limits": ["1/s", {"limit": "10/parsec"}]`), "limits[1].limit", "10/parsec"},
		{in(`"limits": [{"limit": "1/s", "scop": "split"}]`), "limits[0].scop", `did you mean "scope"?`},
		{in(`"limits": [7]`), "limits[0]", `7 has no unit (say per what: "7/s")`},
		{in(`"limits": [true]`), "limits[0]", "a limit is a text or an object (write"},
		{in(`"limits": ["concurrency"]`), "limits[0]", "count: missing (say how many at the same time: concurrency 4)"},
		{in(`"limits": ["concurrency 0"]`), "limits[0]", "0 is out of range (use 1 to 1e15)"},
		{in(`"limits": ["concurrency -1"]`), "limits[0]", "-1 is out of range"},
		{in(`"limits": ["concurrency many"]`), "limits[0]", `"many" is no whole number`},
		{in(`"limits": ["concurrency 9/s"]`), "limits[0]", "not how often (write concurrency 9)"},
		{in(`"limits": ["concurrency 9 burst=3"]`), "limits[0]", "burst: does not apply to concurrency, which has no options (write concurrency 9)"},
		{in(`"limits": [{"limit": "concurrency 4/s"}]`), "limits[0].limit", "write concurrency 4"},
		{in(`"limits": ["adaptive"]`), "limits[0]", "not built yet"},
		{in(`"wait": 5`), "wait", "5s"},
		{in(`"wait": "5"`), "wait", "has no unit"},
		{in(`"wait": "soon"`), "wait", "500ms"},
		{in(`"cost": 0`), "cost", "1 or more"},
		{in(`"cost": {"fixed": 0}`), "cost.fixed", "1 or more"},
		{in(`"cost": {"bytes": 0}`), "cost.bytes", "0 does nothing"},
		{in(`"cost": 1.5`), "cost", "whole number"},
		{in(`"cost": {"fixd": 1}`), "cost.fixd", `did you mean "fixed"?`},
		{in(`"cost": {"methods": {"PUT": "x"}}`), "cost.methods.PUT", "a whole number"},
		{in(`"match": {"headers": {"X-A": 1}}`), "match.headers.X-A", "a text"},
		{in(`"match": {"path": "/x"}`), "match.path", `did you mean "paths"?`},
		{in(`"match": {"paths": "/x"}`), "match.paths", "write a list"},
		{in(`"skip": {"keys": [7]}`), "skip.keys[0]", "a key is a text"},
		{in(`"hash": "yes"`), "hash", "true or false"},
		{in(`"mode": null`), "mode", "leave the field out"},
	} {
		_, err := rule.ParseJSON([]byte(c.json))
		findings, ok := err.(rule.Findings)
		if !ok || len(findings) != 1 {
			t.Errorf("%s: got %v", c.json, err)
			continue
		}
		f := findings[0]
		if f.Field != c.field || !strings.Contains(f.String(), c.words) {
			t.Errorf("%s\ngot  %q: %s\nwant %q: %s", c.json, f.Field, f, c.field, c.words)
		}
		if f.Hint == "" {
			t.Errorf("%s: no hint: %s", c.json, f)
		}
		if strings.Contains(c.json, `"b"`) && (f.Index != 1 || f.Rule != "b") {
			t.Errorf("%s: at rule %d, %q", c.json, f.Index, f.Rule)
		}
	}
}

// TestCostOfNothing: a cost of 0 is refused also where only a part is read.
func TestCostOfNothing(t *testing.T) {
	for _, text := range []string{`0`, `{"fixed": 0}`} {
		var c rule.Cost
		if err := json.Unmarshal([]byte(text), &c); err == nil || !strings.Contains(err.Error(), "spends nothing") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParseJSONReportsAllAtOnce(t *testing.T) {
	_, err := rule.ParseJSON([]byte(`{"defalt": "deny", "rules": [{"name": "a", "limits": ["1"], "wait": 3}, {"kee": []}]}`))
	if findings, ok := err.(rule.Findings); !ok || len(findings) != 4 {
		t.Errorf("got %v", err)
	}
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"rules":[{"name":"a","limits":["1/s"]}]}`))
	f.Add([]byte(`{"rules":[{"name":"a","limits":[{}],"key":[null]}]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := rule.ParseJSON(data)
		if err != nil {
			if findings, ok := err.(rule.Findings); !ok || len(findings) == 0 || findings[0].Reason == "" {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		set, err := rule.Compile(config)
		if err != nil {
			return
		}
		r := full
		set.Match(&r, new(rule.Matches))
		set.Explain(&r)
		rule.Validate(config)
		written, err := json.Marshal(config)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if _, err := rule.ParseJSON(written); err != nil {
			t.Fatalf("%q is written as %q: %v", data, written, err)
		}
	})
}
