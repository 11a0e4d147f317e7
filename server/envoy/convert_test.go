package envoy_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/envoy"
)

func TestConvertedFilesAreGood(t *testing.T) {
	for _, f := range inputs(t, "good") {
		tree, err := envoy.Parse([]envoy.File{f}, envoy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := tree.Convert()
		if _, err := rulefile.Parse("converted.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		name := strings.TrimSuffix(f.Name, ".yaml") + ".rules"
		if *rewrite {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(name); err != nil || string(want) != text {
			t.Errorf("%s: got\n%s\nwant\n%s (%v)", f.Name, text, want, err)
		}
	}
}

// TestConvertsManyValues: beside a thousand values their key goes on to be limited, alone
// and as one of several, and the values are not limited by it too.
func TestConvertsManyValues(t *testing.T) {
	var b strings.Builder
	b.WriteString("domain: d\ndescriptors:\n  - key: a\n    descriptors:\n      - {key: b, rate_limit: {unit: second, requests_per_unit: 1}}\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "      - {key: b, value: %d, rate_limit: {unit: second, requests_per_unit: 2}}\n", i)
	}
	b.WriteString("      - {key: b, value: \"x*\", share_threshold: true, rate_limit: {unit: second, requests_per_unit: 1}}\n")
	tree, err := envoy.Parse([]envoy.File{{Name: "x.yaml", Data: []byte(b.String())}}, envoy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, lost := tree.Convert()
	if lost != 1 || !strings.Contains(text, "NOT CONVERTED: d > a > b=x*") {
		t.Errorf("%d limits are lost, want that of the shared pattern", lost)
	}
	rules, err := rulefile.Parse("converted.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"7": "d.a.b/7", "999": "d.a.b/999", "1000": "d.a.b", "x1": ""} {
		var m rule.Matches
		rules.Set.Match(&rule.Request{Attributes: map[string]string{"domain": "d", "a": "1", "b": value}}, &m)
		got := ""
		for _, h := range m.Hits {
			got += h.Rule.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

// TestConvertedRulesFitTheSame asks tree and rules about the same descriptors.
func TestConvertedRulesFitTheSame(t *testing.T) {
	tree, err := envoy.Parse([]envoy.File{{Name: "x.yaml", Data: []byte(patterns)}}, envoy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, lost := tree.Convert()
	if lost != 0 {
		t.Fatalf("%d lost:\n%s", lost, text)
	}
	rules, err := rulefile.Parse("converted.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range lookups {
		want := ""
		if leaf, _ := tree.Find("d", c.entries()); leaf != nil {
			want = strings.TrimPrefix(leaf.Rule, "envoy/")
		}
		r := rule.Request{Attributes: map[string]string{"domain": "d"}}
		for _, e := range c.entries() {
			r.Attributes[e.Key] = e.Value
		}
		var m rule.Matches
		rules.Set.Match(&r, &m)
		got := ""
		for _, h := range m.Hits {
			got += h.Rule.Name
		}
		// A rule does not know how deep a descriptor was, nor an attribute without a value.
		if (got != want) != c.differs {
			t.Errorf("%s: rules %q, tree %q", c.descriptor, got, want)
		}
	}
}
