package envoy_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/envoy"
)

const patterns = `
domain: d
descriptors:
  - {key: path, value: "/a*", rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: path, value: "/a/b*", rate_limit: {unit: hour, requests_per_unit: 2}}
  - {key: path, value: "/a/b/c", rate_limit: {unit: hour, requests_per_unit: 3}}
  - {key: path, value: "*.png", rate_limit: {unit: hour, requests_per_unit: 4}}
  - {key: path, value: "x*y*z", rate_limit: {unit: hour, requests_per_unit: 5}}
  - {key: path, rate_limit: {unit: hour, requests_per_unit: 6}}
  - key: user
    rate_limit: {unit: hour, requests_per_unit: 7}
    descriptors:
      - {key: method, value: GET, rate_limit: {unit: hour, requests_per_unit: 8}}
      - {key: action, value: look}
  - key: user
    value: ann
    descriptors:
      - {key: method, rate_limit: {unit: hour, requests_per_unit: 9}}
  - {key: free, value: gold}
  - {key: free, rate_limit: {unit: hour, requests_per_unit: 10}}
`

type lookup struct {
	descriptor string // "key=value key=value"
	count      uint32 // of the limit; 0: none
	differs    bool   // for converted rules: see TestConvertedRulesFitTheSame
}

var lookups = []lookup{
	{"path=/a/b/c", 3, false},  // the very value comes first
	{"path=/a/b/cd", 1, false}, // then patterns in the order of the file: not the closest
	{"path=/b/c.png", 4, false},
	{"path=.png", 4, false}, // a star is any text, none included
	{"path=xyz", 5, false},
	{"path=x1y2y3z", 5, false},
	{"path=xz", 6, false}, // then the key alone
	{"path=*.png", 4, false},
	{"path=", 6, true},
	{"user=bob", 7, false},
	{"user=/a/z", 7, false}, // a pattern is for its own key
	{"user=bob method=GET", 8, false},
	{"user=bob method=PUT", 0, false}, // deeper does not inherit
	{"user=bob action=look", 0, false},
	{"user=ann", 0, false}, // no way back to the key alone
	{"user=ann method=PUT", 9, false},
	{"user=ann method=PUT more=1", 0, true},
	{"free=gold", 0, false}, // an exception
	{"free=silver", 10, false},
	{"other=1", 0, false},
	{"method=GET", 0, false},
}

func (l lookup) entries() (all []envoy.Entry) {
	for _, entry := range strings.Fields(l.descriptor) {
		key, value, _ := strings.Cut(entry, "=")
		all = append(all, envoy.Entry{Key: key, Value: value})
	}
	return all
}

func TestFind(t *testing.T) {
	tree, err := envoy.Parse([]envoy.File{{Name: "x.yaml", Data: []byte(patterns)}}, envoy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range lookups {
		leaf, known := tree.Find("d", c.entries())
		got := uint32(0)
		if leaf != nil {
			got = leaf.Count
		}
		if got != c.count || !known {
			t.Errorf("%s: limit %d, want %d", c.descriptor, got, c.count)
		}
	}
	if _, known := tree.Find("e", nil); known {
		t.Error("a domain that does not exist is known")
	}
	if leaf, known := (*envoy.Tree)(nil).Find("d", nil); leaf != nil || known {
		t.Error("no tree knows something")
	}
}

func TestDomains(t *testing.T) {
	files := []envoy.File{
		{Name: "a.yaml", Data: []byte("domain: d\ndescriptors:\n  - {key: a, rate_limit: {unit: hour, requests_per_unit: 1}}\n")},
		{Name: "b.yaml", Data: []byte("domain: d\ndescriptors:\n  - {key: b, rate_limit: {unit: hour, requests_per_unit: 2}}\n")},
	}
	if _, err := envoy.Parse(files, envoy.Options{}); err == nil || !strings.Contains(err.Error(), "b.yaml:1:9") {
		t.Errorf("the same domain twice: %v", err)
	}
	tree, err := envoy.Parse(files, envoy.Options{Merge: true})
	if err != nil {
		t.Fatal(err)
	}
	if leaf, _ := tree.Find("d", []envoy.Entry{{Key: "b", Value: "1"}}); leaf == nil || leaf.Count != 2 || tree.Domains() != 1 {
		t.Error("the second file is not merged")
	}
	if _, err := envoy.Parse(append(files, files[0]), envoy.Options{Merge: true}); err == nil {
		t.Error("the same descriptor in two files is merged")
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		count      uint32
		unit       envoy.Unit
		multiplier uint32
		algorithm  string
		zone       string
		want       string
	}{
		{5, envoy.Second, 1, "", "", "fixed_window 5/s"},
		{5, envoy.Day, 0, "", "", "fixed_window 5/d"},
		{5, envoy.Day, 1, "", "Europe/Berlin", "5/d zone=Europe/Berlin"},
		{5, envoy.Month, 1, "", "Europe/Berlin", "5/mo zone=Europe/Berlin"},
		{5, envoy.Hour, 1, "", "Europe/Berlin", "fixed_window 5/h"},
		{5, envoy.Minute, 10, "", "", "fixed_window 5/10m"},
		{5, envoy.Week, 1, "", "", "5/w zone=UTC"},
		{5, envoy.Week, 1, "", "Asia/Tokyo", "5/w zone=Asia/Tokyo"},
		{5, envoy.Week, 2, "", "Asia/Tokyo", "fixed_window 5/14d"},
		{5, envoy.Week, 1, "fixed_window start=first_hit", "Asia/Tokyo", "fixed_window 5/7d start=first_hit"},
		{5, envoy.Day, 1, "fixed_window zone=UTC", "Asia/Tokyo", "5/d zone=UTC"},
		{5, envoy.Year, 1, "", "", "5/y"},
		{5, envoy.Year, 1, "", "Asia/Tokyo", "5/y zone=Asia/Tokyo"},
		{5, envoy.Month, 1, "sliding_window weighted", "Asia/Tokyo", "sliding_window 5/30d weighted"},
		{5, envoy.Minute, 1, "token_bucket burst=20", "", "5/m burst=20"},
	} {
		got, err := envoy.Limit(c.count, c.unit, c.multiplier, c.algorithm, c.zone)
		if err != nil || got.String() != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
	if _, err := envoy.Limit(1, envoy.Year, 1<<31, "", ""); err == nil {
		t.Error("a period of two thousand million years")
	}
}

func TestUnitOf(t *testing.T) {
	for text, want := range map[string]struct {
		unit  envoy.Unit
		times uint32
	}{
		"5/s": {envoy.Second, 1}, "5/90s": {envoy.Second, 90}, "5/2h": {envoy.Hour, 2}, "5/w": {envoy.Week, 1}, "5/mo": {envoy.Month, 1},
		"fixed_window 5/d zone=Europe/Berlin": {envoy.Day, 1}, "5/500ms": {0, 0}, "5/30d": {envoy.Day, 30},
	} {
		if unit, times := envoy.UnitOf(sluice.MustParse(text)); unit != want.unit || times != want.times {
			t.Errorf("%s: %d of %v", text, times, unit)
		}
	}
}

func TestManyDescriptors(t *testing.T) {
	var b strings.Builder
	b.WriteString("domain: d\ndescriptors:\n")
	for i := range 3000 {
		b.WriteString("  - {key: k, value: v" + time.Duration(i).String() + ", rate_limit: {unit: hour, requests_per_unit: 1}}\n")
	}
	tree, err := envoy.Parse([]envoy.File{{Name: "x.yaml", Data: []byte(b.String())}}, envoy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rule.Compile(rule.Config{Rules: tree.Rules()}); err != nil {
		t.Fatal(err)
	}
}

// FuzzParse reads any file. One that is good can be converted, and its rules compile.
func FuzzParse(f *testing.F) {
	f.Add([]byte(patterns))
	f.Add([]byte("domain: d\ndescriptors:\n  - {key: a, value: 007, metadata: {a: [1]}, rate_limit: {unit: year, requests_per_unit: 0}}\n"))
	f.Add([]byte(`{"domain": "json", "descriptors": [{"key": "a"}]}`))
	f.Add([]byte("domain: &a [*a]\n"))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := envoy.Parse([]envoy.File{{Name: "x.yaml", Data: data}}, envoy.Options{})
		if err != nil {
			return
		}
		if _, err := rule.Compile(rule.Config{Rules: tree.Rules()}); err != nil {
			t.Errorf("%v\n%s", err, data)
		}
		tree.Convert()
		for _, leaf := range tree.Leaves() {
			var entries []envoy.Entry
			for _, s := range leaf.Path {
				entries = append(entries, s.Entry)
			}
			if found, _ := tree.Find(leaf.Domain, entries); found == nil {
				t.Errorf("%s is not found by its own entries\n%s", leaf.Rule, data)
			}
		}
	})
}

// FuzzPattern compares stars with regular expressions.
func FuzzPattern(f *testing.F) {
	f.Add("a*b", "ab")
	f.Add("*a*a", "aa")
	f.Add("**", "")
	f.Fuzz(func(t *testing.T, pattern, value string) {
		if strings.ContainsAny(pattern, "\r\n") || !strings.Contains(pattern, "*") {
			return
		}
		tree, err := envoy.Parse([]envoy.File{{Name: "x.yaml", Data: []byte("domain: d\ndescriptors:\n  - {key: k, value: '" + strings.ReplaceAll(pattern, "'", "''") + "', rate_limit: {unit: hour, requests_per_unit: 1}}\n")}}, envoy.Options{})
		if err != nil || len(tree.Leaves()) != 1 || tree.Leaves()[0].Path[0].Value != pattern {
			return // not what YAML can hold
		}
		var parts []string
		for part := range strings.SplitSeq(pattern, "*") {
			parts = append(parts, regexp.QuoteMeta(part))
		}
		want := regexp.MustCompile("^(?s:" + strings.Join(parts, ".*") + ")$").MatchString(value)
		leaf, _ := tree.Find("d", []envoy.Entry{{Key: "k", Value: value}})
		if strings.ToValidUTF8(value, "") == value && strings.ToValidUTF8(pattern, "") == pattern && (leaf != nil) != want {
			t.Errorf("%q and %q: %v, want %v", pattern, value, leaf != nil, want)
		}
	})
}
